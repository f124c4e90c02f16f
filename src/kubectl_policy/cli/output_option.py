"""The option `--output`: its parameter for a command, and the parser of formats and templates, also from files."""

from typing import TYPE_CHECKING, Annotated, Any, Final

from kubectl_policy.cli.options import OutputOption
from kubectl_policy.errors import SourceError, UsageError
from kubectl_policy.render.output.formats import TEMPLATE_FILES, TEMPLATES, format_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_policy.render.output.formats import Renderers

_HELP: Final = (
    "Output format; also jsonpath=TEMPLATE, go-template=TEMPLATE and custom-columns=HEADER:PATH,..., or jsonpath-file="
    "PATH and the like."
)
# In bytes: larger than any template that a person writes.
_MAX_SIZE: Final = 2**20


def output_annotation(renderers: "Renderers[Any]") -> Any:  # noqa: ANN401 (Typer reads it)
    """Return the annotation of the parameter `output`, with the formats that the renderers name."""
    metavar = f"[{'|'.join(renderers.formats)}]"
    return Annotated[str, OutputOption("--output", "-o", metavar=metavar, help=_HELP, parser=output_parser(renderers))]


def output_parser(renderers: "Renderers[Any]") -> "Callable[[str], str]":
    """Return a parser of `--output`, in whose results templates stand themselves, and not the files that they are in.

    It raises `UsageError` for a format in which the answer is not offered, and for a template that is malformed.
    """

    def parse(name: str) -> str:
        kind, _, text = name.partition("=")
        if kind in {*TEMPLATES, *TEMPLATE_FILES}:
            if not text:
                raise UsageError(f"-o {kind} has no template", f"for example: -o {kind}={_EXAMPLES[kind]}")
            template = TEMPLATE_FILES.get(kind, kind)
            name = name if template == kind else f"{template}={_read(kind, text)}"
            format_of(name)
        elif name and name not in renderers.formats:
            formats = (*renderers.formats, *(f"{template}=..." for template in _EXAMPLES))
            quoted = ", ".join(f"'{known}'" for known in formats)
            problem = f"invalid value for '--output' / '-o': '{name}' is not one of {quoted}"
            raise UsageError(problem, "for example: -o json")
        return name

    return parse


_EXAMPLES: Final = {
    "jsonpath": "'{.items[*].object.name}'",
    "jsonpath-as-json": "'{.items[*].object.name}'",
    "go-template": "'{{range .items}}{{.object.name}} {{end}}'",
    "custom-columns": "NAME:.object.name",
    **dict.fromkeys(TEMPLATE_FILES, "FILE"),
}


def _read(kind: str, path: str) -> str:
    """Return the template in a file. Columns have two lines there: the headers, and the paths below them."""
    from kubectl_policy.text.named_file import read_named_text

    try:
        text = read_named_text(path, _MAX_SIZE)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise SourceError(f"cannot read the template {path}: {reason}", f"-o {kind}=FILE takes a file") from error
    if TEMPLATE_FILES[kind] != "custom-columns":
        return text
    headers, *rows = [line.split() for line in text.splitlines() if line.strip()] or [[]]
    if len(rows) != 1 or len(rows[0]) != len(headers):
        hint = "the first line has the headers, the second one a path below each"
        raise UsageError(f"{path} does not have a line of headers and a line of as many paths", hint)
    return ",".join(f"{header}:{path_}" for header, path_ in zip(headers, rows[0], strict=True))
