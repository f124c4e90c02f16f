"""`status`: what is computed against what controllers reported."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from kubectl_policy.cli.options import (
    AllNamespaces,
    Color,
    Complete,
    ControllerSettings,
    Namespace,
    Offline,
    Profiles,
    Selector,
    mention_the_rest,
    read,
    repeated,
    selection,
    split_words,
)
from kubectl_policy.errors import FOUND, INCOMPLETE

if TYPE_CHECKING:
    from kubectl_policy.questions.status.report import StatusReport
    from kubectl_policy.render.output.text import Document
    from kubectl_policy.render.output.view import View

StatusOutput = Literal["tree", "table", "wide", "yaml", "json", "name"]
_EXAMPLE = "for example: status, status policies, status gateways, status httproute/baker"


def status(  # noqa: PLR0913 (every option of the command is a parameter)
    context: typer.Context,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[TYPE [NAME...] | TYPE/NAME...]", help="What to compare.")
    ] = None,
    *,
    offline: Offline = None,
    namespace: Namespace = "default",
    all_namespaces: AllNamespaces = False,
    selector: Selector = "",
    output: Annotated[StatusOutput, typer.Option("--output", "-o", help="Output format.")] = "tree",
    show_all: Annotated[bool, typer.Option("--show-all", help="Show what agrees as well.")] = False,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 1 if something disagrees, with 4 if that is uncertain.")
    ] = False,
    allow_incomplete: Annotated[
        bool, typer.Option("--allow-incomplete", help="With --exit-code, go by what is certain.")
    ] = False,
    profiles: Profiles = None,
    setting: ControllerSettings = None,
    complete: Complete = False,
    color: Color = "auto",
) -> int:
    """Compare what controllers reported with what is computed.

    For policies, and for the Gateways, ListenerSets and routes that they target: the conditions in their status beside
    those that their controllers should have written, and what would explain each disagreement. TYPE is policies,
    gateways, listenersets, routes, or any single kind of these.

    \b
    Examples:
      kubectl policy status -A --offline cluster.yaml
      kubectl policy status httproute/baker -n baker --offline cluster.yaml
      kubectl policy status policies -A --exit-code --offline cluster.yaml
    """  # noqa: D301 (\b is typer's mark for a paragraph that keeps its line breaks)
    type_name, names = split_words("status", words, _EXAMPLE) if words else ("", ())
    chosen = selection("" if all_namespaces else namespace, names, selector)
    analysis = read(offline, profiles, setting, namespace, complete=complete)
    from kubectl_policy.cli import terminal  # noqa: PLC0415 (see options.read)
    from kubectl_policy.questions.status.report import status as compare  # noqa: PLC0415 (see options.read)

    report = compare(analysis, type_name, chosen)
    options = repeated(offline=offline, profiles=profiles, setting=setting) + ["--complete"] * complete
    view = terminal.view(context.find_root().info_name or "", *options)
    shown = _rendered(report, output, view, everything=show_all or len(names) == 1)
    terminal.show(shown, view.width, coloured=output == "tree" and terminal.wants_colour(color))
    _mention(report, output)
    mention_the_rest(analysis, unseen=report.unseen if output in {"tree", "yaml", "json"} else ())
    if exit_code and report.uncertain and not allow_incomplete:
        return INCOMPLETE
    return FOUND if exit_code and report.disagrees else 0


def _rendered(report: "StatusReport", output: StatusOutput, view: "View", *, everything: bool) -> "Document":
    from kubectl_policy.render.describe.formats import verbatim  # noqa: PLC0415 (see options.read)
    from kubectl_policy.render.output.encode import as_json, as_yaml  # noqa: PLC0415 (see options.read)
    from kubectl_policy.render.status.documents import status_document  # noqa: PLC0415 (see options.read)
    from kubectl_policy.render.status.table import status_names, status_table  # noqa: PLC0415 (see options.read)
    from kubectl_policy.render.status.tree import status_tree  # noqa: PLC0415 (see options.read)

    match output:
        case "json":
            return verbatim(as_json(status_document(report)))
        case "yaml":
            return verbatim(as_yaml(status_document(report), unicode=view.unicode))
        case "name":
            return status_names(report)
        case "tree":
            return status_tree(report, view, everything=everything)
        case _:
            return status_table(report, wide=output == "wide", everything=everything)


def _mention(report: "StatusReport", output: StatusOutput) -> None:
    """What a table or a list of names cannot say, and where else there are policies."""
    from kubectl_policy.cli import terminal  # noqa: PLC0415 (see options.read)
    from kubectl_policy.render.listing.words import elsewhere_hint  # noqa: PLC0415 (see options.read)
    from kubectl_policy.render.status.words import status_headline  # noqa: PLC0415 (see options.read)

    if output in {"table", "wide", "name"}:
        terminal.complain(status_headline(report))
    terminal.complain(*elsewhere_hint(report.elsewhere, "policy"))
