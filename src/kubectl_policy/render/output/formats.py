"""The formats of answers: a row for each, for all commands; a slice says once which parts its answers have."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.model import Json, ObjectRef
    from kubectl_policy.render.output.columns import Table, Tables
    from kubectl_policy.render.output.documents import Shaped
    from kubectl_policy.render.output.text import Document, View

# A text or a picture that is ready, lines to be laid out to a width, or text that is made while it is written.
Shown: TypeAlias = "str | bytes | Document | Iterator[str]"


class Forms(Struct, frozen=True, kw_only=True):
    """What answers of one sort can be shown as: a function for each part, as `slice.module:function`.

    A function is imported when it is needed: no answer needs them all, and `--help` needs none. An answer without a
    part is not offered in the formats that are made of it.
    """

    headline: str  # (answer) -> str: the sentence that it opens with
    document: str  # (answer) -> Shaped
    text: str = ""  # (answer, view) -> Document: a line each
    tree: str = ""  # (answer, view) -> Document
    table: str = ""  # (answer, view) -> Table
    names: str = ""  # (answer) -> Iterable[ObjectRef]
    markdown: str = ""  # (answer) -> str
    summary: str = ""  # (answer) -> str: one line
    dot: str = ""  # (answer, view) -> str, for Graphviz
    mermaid: str = ""  # (answer, view) -> str
    html: str = ""  # (answer, view) -> str: one page
    # Those of CI systems: (answer) -> a document in their own shape, str, or Commands
    sarif: str = ""
    junit: str = ""
    github: str = ""
    gitlab: str = ""
    remarks: str = ""  # (answer, empty) -> Sequence[str]: next to rows, of which there may be none; else the headline
    hints: str = ""  # (answer) -> Sequence[str]: next to any format
    # Whether rows that are all there is need no headline next to them.
    rows_suffice: bool = False
    # The format where standard output is no terminal, if that is another than the first.
    redirected: str = ""

    @property
    def formats(self) -> tuple[str, ...]:
        """The names of the formats in which such an answer is offered."""
        return tuple(name for name, row in FORMATS.items() if getattr(self, row.part))

    def part(self, name: str, *arguments: object) -> Any:  # noqa: ANN401 (each part is a value of another type)
        """What the function of a part returns. Raises `KeyError` if answers of this sort have no such part."""
        module, _, function = getattr(self, name).partition(":")
        if not function:
            raise KeyError(name)
        return getattr(import_module(f"kubectl_policy.render.{module}"), function)(*arguments)


class Format:
    """A format: the part of an answer that it is made of, how much it says, and how it is made.

    What tells `everything` needs nothing next to it; what tells `rows` cannot say how the answer is to be taken, nor
    can a `part` of it, chosen by the user, who needs to hear no more than that the whole is incomplete.
    """

    def __init__(
        self,
        part: str,
        tells: Literal["everything", "headline", "rows", "part"],
        make: Callable[[Forms, Any, View], Shown],
        lacking: Callable[[Forms, Any, Shown], Sequence[str]] | None = None,
    ) -> None:
        """See the class. `make` gets the forms of the answer, the answer, and where it is shown.

        `lacking` says, of what came of that, what the user asks for that the answer has not.
        """
        self.part, self.tells, self.make, self.lacking = part, tells, make, lacking

    @property
    def styled(self) -> bool:
        """Whether words in it can stand out by their colour."""
        return self.part in {"text", "tree", "table"}


def _table(forms: Forms, answer: object, view: View, *, wide: bool) -> Shown:
    table: Table[Any] | Tables = forms.part("table", answer, view)
    return table.document(view, wide=wide) if view.coloured else table.text(view, wide=wide)


def _csv(forms: Forms, answer: object, view: View) -> str:
    table: Table[Any] | Tables = forms.part("table", answer, view)
    return table.csv(view)


def _yaml(forms: Forms, answer: object, view: View) -> str:
    from kubectl_policy.render.output.documents import as_yaml  # noqa: PLC0415 (the other formats do without)

    return as_yaml(_plain(forms, answer), unicode=view.unicode) + "\n"


def _json(forms: Forms, answer: object, _: View) -> Iterator[str]:
    from kubectl_policy.render.output.documents import json_pieces  # noqa: PLC0415 (the other formats do without)

    yield from json_pieces(forms.part("document", answer))
    yield "\n"


def _plain(forms: Forms, answer: object) -> dict[str, Json]:
    document: Shaped = forms.part("document", answer)
    return document.plain()


def _summary(forms: Forms, answer: object, _: View) -> Document:
    from kubectl_policy.render.output.text import Line, Span  # noqa: PLC0415 (`--help` does without)

    # Not prose: it is one line however long it is.
    return (Line((Span(forms.part("summary", answer)),)),)


def _names(forms: Forms, answer: object, view: View) -> Document:
    """`kind.group/name`, as other commands take it; `kind.group/namespace/name` where there are several namespaces."""
    from kubectl_policy.render.output.text import Line, Span  # noqa: PLC0415 (`--help` does without)

    refs: Iterable[ObjectRef] = forms.part("names", answer)
    names = ((ref, ref.qualified_name if view.namespaces else ref.name) for ref in refs)
    return tuple(Line((Span(f"{str(ref.group_kind).lower()}/{name}"),)) for ref, name in names)


def _drawn(forms: Forms, answer: object, view: View, *, form: str) -> Shown:
    from kubectl_policy.render.output.graphviz import drawn  # noqa: PLC0415 (pictures alone need it)

    return drawn(forms.part("dot", answer, view), form)


def _own_json(forms: Forms, answer: object, _: View, *, part: str) -> Iterator[str]:
    from kubectl_policy.render.output.documents import json_pieces  # noqa: PLC0415 (the other formats do without)

    yield from json_pieces(forms.part(part, answer))
    yield "\n"


def _own_text(forms: Forms, answer: object, _: View, *, part: str) -> str:
    text: str = forms.part(part, answer)
    return text


FORMATS: Final[Mapping[str, Format]] = {
    "text": Format(part="text", tells="everything", make=lambda forms, answer, view: forms.part("text", answer, view)),
    "tree": Format(part="tree", tells="everything", make=lambda forms, answer, view: forms.part("tree", answer, view)),
    "table": Format(
        part="table", tells="rows", make=lambda forms, answer, view: _table(forms, answer, view, wide=False)
    ),
    "wide": Format(part="table", tells="rows", make=lambda forms, answer, view: _table(forms, answer, view, wide=True)),
    "csv": Format(part="table", tells="rows", make=_csv),
    "yaml": Format(part="document", tells="everything", make=_yaml),
    "json": Format(part="document", tells="everything", make=_json),
    "markdown": Format(
        part="markdown", tells="headline", make=lambda forms, answer, _: f"{forms.part('markdown', answer)}\n"
    ),
    "summary": Format(part="summary", tells="headline", make=_summary),
    "name": Format(part="names", tells="rows", make=_names),
    "dot": Format(part="dot", tells="headline", make=lambda forms, answer, view: forms.part("dot", answer, view)),
    "mermaid": Format(
        part="mermaid", tells="headline", make=lambda forms, answer, view: forms.part("mermaid", answer, view)
    ),
    "svg": Format(part="dot", tells="headline", make=partial(_drawn, form="svg")),
    "png": Format(part="dot", tells="headline", make=partial(_drawn, form="png")),
    "pdf": Format(part="dot", tells="headline", make=partial(_drawn, form="pdf")),
    "html": Format(part="html", tells="headline", make=lambda forms, answer, view: forms.part("html", answer, view)),
    "sarif": Format(part="sarif", tells="headline", make=partial(_own_json, part="sarif")),
    "junit": Format(part="junit", tells="headline", make=partial(_own_text, part="junit")),
    "github": Format(part="github", tells="headline", make=partial(_own_text, part="github")),
    "gitlab": Format(part="gitlab", tells="rows", make=partial(_own_json, part="gitlab")),
}


# The parts that have no place for the cluster that they are about.
PICTURES: Final = frozenset({"dot", "mermaid", "html"})
OF_CI: Final = frozenset({"sarif", "junit", "github", "gitlab"})
# A format of these names has a template of the user's behind it: `jsonpath={.items[*].object.name}`.
TEMPLATES: Final = ("jsonpath", "custom-columns")


def format_of(name: str) -> Format:
    """The format that `--output` names.

    Raises `KeyError` if there is none, and `UsageError` for a template that is not understood.
    """
    kind, is_template, text = name.partition("=")
    if not (is_template and kind in TEMPLATES):
        return FORMATS[name]
    from kubectl_policy.render.output.templates import TEMPLATES as READERS  # noqa: PLC0415 (the others do without)

    template = READERS[kind](text)
    return Format(
        part="document",
        tells="part",
        make=lambda forms, answer, view: template.shown(_plain(forms, answer), view),
        lacking=lambda forms, answer, shown: template.lacking(_plain(forms, answer), str(shown)),
    )


def render(forms: Forms, answer: object, name: str, view: View) -> Shown:
    """The answer in a format. Raises `KeyError` for one that it is not offered in."""
    return format_of(name).make(forms, answer, view)


def remarks_on(forms: Forms, answer: object, name: str, shown: Shown, *, complete: bool) -> list[str]:
    """Lines to be said next to the answer in a format, as which it is `shown`."""
    form = format_of(name)
    said = [*form.lacking(forms, answer, shown)] if form.lacking else []
    if form.tells == "part" and not complete:
        said.append(forms.part("headline", answer))
    if form.tells == "rows":
        if forms.remarks:
            said += forms.part("remarks", answer, not shown)
        elif not (shown and complete and forms.rows_suffice):
            said.append(forms.part("headline", answer))
    if forms.hints:
        said += forms.part("hints", answer)
    return said
