"""`status`: conditions that controllers reported next to computed ones."""

from typing import TYPE_CHECKING, Annotated, Final

import typer

from kubectl_policy.cli import options
from kubectl_policy.cli.call import CommandCall, shared_options
from kubectl_policy.cli.options import AllNamespaces, ExitCodeOption, FieldSelector, OutputOption, Selector
from kubectl_policy.cli.syntax import split_types
from kubectl_policy.errors import UsageError
from kubectl_policy.lazy import LazyFunctions
from kubectl_policy.render.output.formats import Renderers

if TYPE_CHECKING:
    from kubectl_policy.questions.status.report import StatusReport
    from kubectl_policy.render import status as renderer
    from kubectl_policy.render.wording import headlines, sections
else:
    renderer = LazyFunctions("kubectl_policy.render.status")
    headlines, sections = (LazyFunctions(f"kubectl_policy.render.wording.{name}") for name in ("headlines", "sections"))

_EXAMPLE = "for example: status, status policies, status gateways, status httproute/baker"

STATUS: Final["Renderers[StatusReport]"] = Renderers(
    kind="StatusComparison",
    headline=headlines.status_headline,
    tree=renderer.status_text,
    table=lambda report, view: [renderer.status_table(report, view)],
    names=lambda report: (status.resource.ref for status in report.items if not status.agrees),
    hints=lambda report: sections.elsewhere_hint(report.elsewhere, report.noun),
)


@shared_options(STATUS, watches=True)
def status(
    call: CommandCall,
    objects: Annotated[
        list[str] | None, typer.Argument(metavar="[TYPE [NAME...] | TYPE/NAME...]", help="The objects to compare.")
    ] = None,
    *,
    all_namespaces: AllNamespaces = False,
    selector: Selector = "",
    field_selector: FieldSelector = "",
    show_all: Annotated[bool, OutputOption("--show-all", help="Also show conditions and numbers that agree.")] = False,
    exit_code: Annotated[
        bool, ExitCodeOption("--exit-code", help="Exit with 1 for disagreements, and with 4 for uncertain ones.")
    ] = False,
    allow_incomplete: Annotated[
        bool,
        ExitCodeOption(
            "--allow-incomplete",
            help="Do not exit with 4 if the answer is uncertain.",
        ),
    ] = False,
) -> int:
    """Compare reported conditions with computed ones.

    For policies, and for the Gateways, ListenerSets and routes that they target: the conditions in their status next to
    the conditions that their controllers should report, and possible reasons for each disagreement. TYPE is policies,
    gateways, listenersets, routes, or a kind of these.

    \b
    Examples:
      kubectl policy status -A --offline cluster.yaml
      kubectl policy status httproute/baker -n baker --offline cluster.yaml
      kubectl policy status policies -A --exit-code --offline cluster.yaml
    """
    types = split_types("status", objects, _EXAMPLE) if objects else [("", ())]
    if len(types) > 1:
        raise UsageError("status takes one type at a time", _EXAMPLE)
    type_name, names = types[0]
    selected = call.selection(names, selector, field_selector, everywhere=all_namespaces)
    analysis = call.read()
    from kubectl_policy.questions.status.report import status as compare

    report = compare(analysis, type_name, selected)
    call.show(STATUS, report, analysis, unseen=report.unseen, everything=show_all or len(names) == 1)
    is_uncertain = report.unknown or (exit_code and report.uncertain)
    return options.exit_code(differs=exit_code and report.disagrees, incomplete=is_uncertain and not allow_incomplete)
