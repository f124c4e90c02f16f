"""`why-not`: reasons why a policy has no effect on an object, and edits that would give it one."""

from typing import TYPE_CHECKING, Annotated, Final

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
        typer.Argument(metavar="POLICY TARGET", help="A policy and an object, each as TYPE/NAME or TYPE NAME."),
    ] = None,
    *,
    target_namespace: Annotated[
        str, SelectionOption(metavar="NAME", help="Namespace of the target, if it differs from that of the policy.")
    ] = "",
    section: Annotated[
        str, SelectionOption(metavar="NAME", help="Ask about one listener, rule or port of the target.")
    ] = "",
    allow_incomplete: AllowIncomplete = False,
) -> int:
    """Explain why a policy has no effect on an object.

    Lists every reason with the object and line that cause it, the root cause first, and up to three changes to single
    objects that would make the policy effective, or two changes that would do so together. Each change is tried on the
    input, and its side effects are shown. If the policy has an effect, shows on which paths, and why not on the others.

    \b
    Examples:
      kubectl policy why-not retrypolicy/own httproute/menu -n baker --offline manifests/
      kubectl policy why-not retrypolicy/global gateway/edge -n infra --section https --offline manifests/
      kubectl policy why-not retrypolicy own httproute menu -n baker --offline manifests/
      kubectl policy why-not securitypolicy/infra/jwt httproute/baker/baker --offline manifests/
    """
    pairs, type_name = split_pair(objects or [])
    if len(pairs) != 2 or type_name:  # noqa: PLR2004 (two pairs)
        given = f", and there is only {'/'.join(pairs[0])}" if len(pairs) == 1 and not type_name else ""
        raise UsageError(f"{PAIR_FORM}{given}", PAIR_EXAMPLE)
    (policy_type, policy_name), (target_type, target_name) = pairs
    analysis = call.read()
    from kubectl_policy.cli.config import owner_key
    from kubectl_policy.model import NodeRef
    from kubectl_policy.questions.shared.selection import find
    from kubectl_policy.questions.why_not.answer import why_not as ask

    policy = find(analysis, policy_type, policy_name, call.in_namespace)
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
