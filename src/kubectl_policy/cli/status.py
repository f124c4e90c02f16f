"""`status`: what is computed against what controllers reported."""

from typing import Annotated

from kubectl_policy.cli import options
from kubectl_policy.cli.options import AllNamespaces, Call, Selector, command
from kubectl_policy.cli.parameters import Argument, Option
from kubectl_policy.cli.words import selection, split_words
from kubectl_policy.model.values import replace
from kubectl_policy.render.status import STATUS

_EXAMPLE = "for example: status, status policies, status gateways, status httproute/baker"


@command(STATUS, watches=True)
def status(
    call: Call,
    words: Annotated[
        list[str] | None, Argument(metavar="[TYPE [NAME...] | TYPE/NAME...]", help="What to compare.")
    ] = None,
    *,
    all_namespaces: AllNamespaces = False,
    selector: Selector = "",
    show_all: Annotated[bool, Option("--show-all", help="Show what agrees as well.")] = False,
    exit_code: Annotated[
        bool, Option("--exit-code", help="Exit with 1 if something disagrees, with 4 if that is uncertain.")
    ] = False,
    allow_incomplete: Annotated[
        bool, Option("--allow-incomplete", help="With --exit-code, go by what is certain.")
    ] = False,
) -> int:
    """Compare what controllers reported with what is computed.

    For policies, and for the Gateways, ListenerSets and routes that they target: the conditions in their status next to
    those that their controllers should have written, and what would explain each disagreement. TYPE is policies,
    gateways, listenersets, routes, or any single kind of these.

    \b
    Examples:
      kubectl policy status -A --offline cluster.yaml
      kubectl policy status httproute/baker -n baker --offline cluster.yaml
      kubectl policy status policies -A --exit-code --offline cluster.yaml
    """
    type_name, names = split_words("status", words, _EXAMPLE) if words else ("", ())
    chosen = selection(names, selector, everywhere=all_namespaces)
    analysis = call.read()
    from kubectl_policy.questions.status.report import status as compare

    report = compare(analysis, type_name, replace(chosen, namespace="" if all_namespaces else call.in_namespace))
    call.show(STATUS, report, analysis, unseen=report.unseen, everything=show_all or len(names) == 1)
    return options.exit_code(
        differs=exit_code and report.disagrees, incomplete=exit_code and report.uncertain and not allow_incomplete
    )
