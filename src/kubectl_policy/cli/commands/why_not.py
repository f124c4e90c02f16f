"""`why-not`: reasons why a policy has no effect or a connection is denied, and edits that would change that."""

from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer
from msgspec.structs import replace

from kubectl_policy.cli.call import CommandCall, shared_options
from kubectl_policy.cli.options import AllowIncomplete, SelectionOption, exit_code
from kubectl_policy.cli.remarks import at_field, at_fields, mention_namespaces
from kubectl_policy.cli.syntax import PAIR_EXAMPLE, PAIR_FORM, split_pair
from kubectl_policy.errors import UsageError
from kubectl_policy.lazy import LazyFunctions
from kubectl_policy.render.output.formats import Renderers

if TYPE_CHECKING:
    from kubectl_policy.questions.why_not.answer import WhyNot
    from kubectl_policy.render import why_not as renderer
    from kubectl_policy.render.wording import headlines
else:
    renderer = LazyFunctions("kubectl_policy.render.why_not")
    headlines = LazyFunctions("kubectl_policy.render.wording.headlines")

WHY_NOT: Final["Renderers[WhyNot]"] = Renderers(
    kind="EffectExplanation", headline=headlines.why_not_headline, tree=renderer.why_not_text
)


@shared_options(WHY_NOT)
def why_not(
    call: CommandCall,
    objects: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="POLICY TARGET | SOURCE DESTINATION",
            help="A policy and an object, or two ends of a connection, each as TYPE/NAME or TYPE NAME.",
        ),
    ] = None,
    *,
    target_namespace: Annotated[
        str, SelectionOption(metavar="NAME", help="Namespace of the second object, if it differs from the first.")
    ] = "",
    section: Annotated[
        str, SelectionOption(metavar="NAME", help="Ask about one listener, rule or port of the target.")
    ] = "",
    port: Annotated[
        str, SelectionOption(metavar="PORT[/PROTOCOL]", help="The port of the destination, also by name.")
    ] = "",
    denied: Annotated[
        bool, SelectionOption("--denied", help="Ask why a connection is not denied, instead of why it is not allowed.")
    ] = False,
    allow_incomplete: AllowIncomplete = False,
) -> int:
    """Explain why a policy has no effect, or a connection is denied.

    Lists every reason with the object and line that cause it, the root cause first, and up to three changes to single
    objects that would make the policy effective, or two changes that would do so together. Each change is tried on the
    input, and its side effects are shown. If the policy has an effect, shows on which paths, and why not on the others.

    If the first object is a workload, Service, Gateway, Namespace or IP address, explains which network policies deny
    the connection to the second one, and which changes would allow it; with --denied, which allow it, and which changes
    would deny it.

    \b
    Examples:
      kubectl policy why-not retrypolicy/own httproute/menu -n baker --offline manifests/
      kubectl policy why-not retrypolicy/global gateway/edge -n infra --section https --offline manifests/
      kubectl policy why-not retrypolicy own httproute menu -n baker --offline manifests/
      kubectl policy why-not securitypolicy/infra/jwt httproute/baker/baker --offline manifests/
      kubectl policy why-not deploy/web svc/cart --port 80 -n shop --offline manifests/
      kubectl policy why-not pod/web 10.1.2.3 --port 5432 --denied -n shop --offline manifests/
    """
    pairs, type_name = split_pair(objects or [])
    if len(pairs) != 2 or type_name:  # noqa: PLR2004 (two pairs)
        given = f", and there is only {'/'.join(pairs[0])}" if len(pairs) == 1 and not type_name else ""
        raise UsageError(f"{PAIR_FORM}{given}", PAIR_EXAMPLE)
    analysis = call.read()
    from kubectl_policy.cli.config import owner_key
    from kubectl_policy.cli.connections import connection_end, explain_connection
    from kubectl_policy.model import NodeRef
    from kubectl_policy.questions.connections.endpoints import has_connections
    from kubectl_policy.questions.shared.selection import find
    from kubectl_policy.questions.why_not.answer import why_not as ask

    (policy_type, policy_name), (target_type, target_name) = pairs
    policy = find(analysis, policy_type, policy_name, call.in_namespace) if policy_type else None
    if policy is None or has_connections(policy.group_kind):
        if section:
            raise UsageError("the ends of a connection have no sections", "name a port with --port")
        places = (call.in_namespace, target_namespace or call.in_namespace)
        texts = ("/".join(filter(None, pair)) for pair in pairs)
        ends = [connection_end(call, analysis, *end) for end in zip(texts, places, strict=True)]
        wanted: Literal["allowed", "denied"] = "denied" if denied else "allowed"
        return explain_connection(call, analysis, ends, port, wanted=wanted, allow_incomplete=allow_incomplete)
    if port or denied:
        raise UsageError(
            f"{policy} has no connections", "--port and --denied are for workloads, Services and addresses"
        )
    target = find(analysis, target_type, target_name, target_namespace or call.in_namespace)
    answer = ask(analysis, policy, NodeRef(target, section), owner_key())
    edits = tuple(
        replace(offered, origin=at_field(offered.origin, offered.field, call.lines, or_above=True))
        for offered in answer.edits
    )
    answer = replace(answer, reasons=at_fields(answer.reasons, call.lines, or_above=True), edits=edits)
    call.show(WHY_NOT, answer, analysis, unseen=answer.unseen)
    mention_namespaces(analysis, (policy, target))
    return exit_code(incomplete=answer.unknown and not allow_incomplete)
