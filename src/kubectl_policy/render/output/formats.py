"""The formats of answers: a row for each, for all commands; a command says once which parts its answers have."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, Never, TypeAlias, TypeVar

from msgspec import Struct

from kubectl_policy.errors import PolicyError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.model import Json, ObjectRef
    from kubectl_policy.render.output.columns import Table
    from kubectl_policy.render.output.escape import Commands
    from kubectl_policy.render.output.text import Document, View

# A text or a picture that is ready, lines to be laid out to a width, or text that is made while it is written.
Shown: TypeAlias = "str | bytes | Document | Iterator[str]"

_INSTALL: Final = "apt install graphviz, dnf install graphviz, brew install graphviz or winget install graphviz"

Answer = TypeVar("Answer")


def _not_offered(*_: object) -> Never:
    raise KeyError("the answer has no such part")


class Renderers(Struct, Generic[Answer], frozen=True, kw_only=True):
    """The renderers of one sort of answer: a function for each part of which formats are made.

    Their modules are imported when they are called: no answer needs them all, and `--help` needs none.
    """

    kind: str
    """The kind of its document."""
    rows_suffice: bool = False
    """Whether rows that are all there is need no headline next to them."""
    redirected: str = ""
    """The format where standard output is no terminal, if that is another than the first."""
    headline: Callable[[Answer], str]
    """The sentence that an answer opens with."""
    text: Callable[[Answer, View], Document] = _not_offered
    """The lines of `-o text`."""
    tree: Callable[[Answer, View], Document] = _not_offered
    """The lines of `-o tree`."""
    table: Callable[[Answer, View], Sequence[Table[Any]]] = _not_offered
    """The rows and columns of tables."""
    names: Callable[[Answer], Iterable[ObjectRef]] = _not_offered
    """The objects of `-o name`."""
    markdown: Callable[[Answer], str] = _not_offered
    """A comment in Markdown."""
    summary: Callable[[Answer], str] = _not_offered
    """One line."""
    dot: Callable[[Answer, View], str] = _not_offered
    """A graph for Graphviz."""
    mermaid: Callable[[Answer, View], str] = _not_offered
    """A graph for Mermaid."""
    html: Callable[[Answer, View], str] = _not_offered
    """A page."""
    sarif: Callable[[Answer], dict[str, Json]] = _not_offered
    """A log in SARIF."""
    junit: Callable[[Answer], str] = _not_offered
    """A report of JUnit."""
    github: Callable[[Answer], Commands] = _not_offered
    """Commands for GitHub Actions."""
    gitlab: Callable[[Answer], list[Json]] = _not_offered
    """A report for GitLab's code quality."""
    special_document: Callable[[Answer, str], dict[str, object]] | None = None
    """The document in a context, where it is not made of the members of the answer alone."""
    special_remarks: Callable[[Answer, bool], Sequence[str]] | None = None
    """What is said next to rows, of which there may be none, where that is not the headline."""
    hints: Callable[[Answer], Sequence[str]] = lambda _: ()
    """What is said next to any format."""

    @property
    def formats(self) -> tuple[str, ...]:
        """The names of the formats in which such an answer is offered."""
        return tuple(name for name, row in FORMATS.items() if getattr(self, row.part) is not _not_offered)

    def document(self, answer: Answer, context: str = "") -> dict[str, object]:
        """Return the document of `-o json`; `context` is that of its cluster, where answers of several are shown."""
        if self.special_document:
            return self.special_document(answer, context)
        from kubectl_policy.render.output.encoding import document  # noqa: PLC0415 (text does without)

        return document(self.kind, self.headline(answer), answer, context)

    def remarks(self, answer: Answer, *, empty: bool, complete: bool) -> Sequence[str]:
        """Return what is said next to rows, of which there may be none."""
        if self.special_remarks:
            return self.special_remarks(answer, empty)
        return () if not empty and complete and self.rows_suffice else (self.headline(answer),)


class Format(Struct, frozen=True):
    """A format of `--output`."""

    part: str
    """The part of an answer that it is made of, by its name in `Renderers`."""
    tells: Literal["everything", "headline", "rows", "part"]
    """How much it says.

    Rows cannot say how the answer is to be taken; nor can a part of a document that the user chose, who needs to hear
    no more than that the whole is incomplete.
    """
    make: Callable[[Renderers[Any], Any, View], Shown]
    lacking: Callable[[Renderers[Any], Any, Shown], Sequence[str]] | None = None
    """What the user asks for and the answer lacks."""

    @property
    def styled(self) -> bool:
        """Whether words in it can stand out by their colour."""
        return self.part in {"text", "tree", "table"}


def _table(renderers: Renderers[Any], answer: object, view: View, *, name: str) -> Shown:
    from kubectl_policy.render.output.columns import laid_out  # noqa: PLC0415 (the other formats do without)

    return laid_out(renderers.table(answer, view), name, view)


def _yaml(renderers: Renderers[Any], answer: object, view: View) -> str:
    from kubectl_policy.render.output.encoding import as_yaml, plain  # noqa: PLC0415 (the other formats do without)

    return as_yaml(plain(renderers.document(answer, view.context)), unicode=view.unicode) + "\n"


def _json(value: object) -> Iterator[str]:
    from kubectl_policy.render.output.encoding import json_pieces  # noqa: PLC0415 (the other formats do without)

    yield from json_pieces(value)
    yield "\n"


def _summary(renderers: Renderers[Any], answer: object, _: View) -> Document:
    from kubectl_policy.render.output.text import Line, Segment  # noqa: PLC0415 (`--help` does without)

    # Not prose: it is one line however long it is.
    return (Line((Segment(renderers.summary(answer)),)),)


def _names(renderers: Renderers[Any], answer: object, view: View) -> Document:
    """`kind.group/name`, as other commands take it; `kind.group/namespace/name` where there are several namespaces."""
    from kubectl_policy.render.output.text import Line, Segment  # noqa: PLC0415 (`--help` does without)

    names = ((ref, ref.qualified_name if view.namespaces else ref.name) for ref in renderers.names(answer))
    return tuple(Line((Segment(f"{str(ref.group_kind).lower()}/{name}"),)) for ref, name in names)


def drawn(dot: str, form: str) -> str | bytes:
    """Draw a graph in one of Graphviz's formats; SVG is text. Raises `PolicyError` where there is no `dot`.

    It is what the program makes, and so differs between its versions.
    """
    import graphviz  # type: ignore[import-untyped]  # noqa: PLC0415 (takes long to import)

    try:
        picture: bytes = graphviz.Source(dot).pipe(format=form, quiet=True)
    except graphviz.ExecutableNotFound as error:
        hint = f"{_INSTALL}; without it there are -o html, mermaid, dot, tree and json"
        raise PolicyError(f"-o {form} needs the program dot of Graphviz, which is not installed", hint) from error
    except graphviz.CalledProcessError as error:
        message = (error.stderr or b"").decode("utf-8", "replace").strip() or f"it ended with {error.returncode}"
        raise PolicyError(f"Graphviz could not draw this: {message}", "-o html draws without it") from error
    return picture.decode("utf-8") if form == "svg" else picture


FORMATS: Final[Mapping[str, Format]] = {
    "text": Format("text", "everything", lambda renderers, answer, view: renderers.text(answer, view)),
    "tree": Format("tree", "everything", lambda renderers, answer, view: renderers.tree(answer, view)),
    "table": Format("table", "rows", partial(_table, name="table")),
    "wide": Format("table", "rows", partial(_table, name="wide")),
    "csv": Format("table", "rows", partial(_table, name="csv")),
    "yaml": Format("document", "everything", _yaml),
    "json": Format(
        "document", "everything", lambda renderers, answer, view: _json(renderers.document(answer, view.context))
    ),
    "markdown": Format("markdown", "headline", lambda renderers, answer, _: f"{renderers.markdown(answer)}\n"),
    "summary": Format("summary", "headline", _summary),
    "name": Format("names", "rows", _names),
    "dot": Format("dot", "headline", lambda renderers, answer, view: renderers.dot(answer, view)),
    "mermaid": Format("mermaid", "headline", lambda renderers, answer, view: renderers.mermaid(answer, view)),
    "svg": Format("dot", "headline", lambda renderers, answer, view: drawn(renderers.dot(answer, view), "svg")),
    "png": Format("dot", "headline", lambda renderers, answer, view: drawn(renderers.dot(answer, view), "png")),
    "pdf": Format("dot", "headline", lambda renderers, answer, view: drawn(renderers.dot(answer, view), "pdf")),
    "html": Format("html", "headline", lambda renderers, answer, view: renderers.html(answer, view)),
    "sarif": Format("sarif", "headline", lambda renderers, answer, _: _json(renderers.sarif(answer))),
    "junit": Format("junit", "headline", lambda renderers, answer, _: renderers.junit(answer)),
    "github": Format("github", "headline", lambda renderers, answer, _: renderers.github(answer)),
    "gitlab": Format("gitlab", "rows", lambda renderers, answer, _: _json(renderers.gitlab(answer))),
}


# The parts that have no place for the cluster that they are about.
PICTURES: Final = frozenset({"dot", "mermaid", "html"})
OF_CI: Final = frozenset({"sarif", "junit", "github", "gitlab"})
# A format of these names has a template of the user's behind it: `jsonpath={.items[*].object.name}`.
TEMPLATES: Final = ("jsonpath", "jsonpath-as-json", "go-template", "custom-columns")
# Of these names, the template is in a file: `jsonpath-file=names.txt`.
TEMPLATE_FILES: Final = {f"{kind}-file": kind for kind in TEMPLATES if kind != "jsonpath-as-json"}


def format_of(name: str) -> Format:
    """Return the format that `--output` names.

    Raises `KeyError` if there is none, and `UsageError` for a template that is not understood.
    """
    kind, is_template, text = name.partition("=")
    if not (is_template and kind in TEMPLATES):
        return FORMATS[name]
    from kubectl_policy.render.output.encoding import plain  # noqa: PLC0415 (the other formats do without)
    from kubectl_policy.render.output.templates import TEMPLATES as READERS  # noqa: PLC0415 (the others do without)

    template = READERS[kind](text)
    return Format(
        part="document",
        tells="part",
        make=lambda renderers, answer, view: template.shown(plain(renderers.document(answer, view.context)), view),
        lacking=lambda renderers, answer, shown: template.lacking(plain(renderers.document(answer)), str(shown)),
    )


def render(renderers: Renderers[Any], answer: object, name: str, view: View) -> Shown:
    """Return the answer in a format. Raises `KeyError` for one that it is not offered in."""
    return format_of(name).make(renderers, answer, view)


def remarks_on(renderers: Renderers[Any], answer: object, name: str, shown: Shown, *, complete: bool) -> list[str]:
    """Return the lines next to an answer in a format, as which it is `shown`."""
    form = format_of(name)
    remarks = [*form.lacking(renderers, answer, shown)] if form.lacking else []
    if form.tells == "part" and not complete:
        remarks.append(renderers.headline(answer))
    if form.tells == "rows":
        remarks += renderers.remarks(answer, empty=not shown, complete=complete)
    return [*remarks, *renderers.hints(answer)]
