"""`explain`: policy kinds, with the evidence for what is known of them."""

from typing import TYPE_CHECKING, Annotated, Final

import typer
from msgspec.structs import replace

from kubectl_policy.cli.call import CommandCall, shared_options
from kubectl_policy.cli.options import TREE_OPTIONS, OutputOption
from kubectl_policy.cli.remarks import mention_remaining_problems, mention_unapplied
from kubectl_policy.errors import UsageError
from kubectl_policy.lazy import LazyFunctions
from kubectl_policy.render.output.formats import Renderers

if TYPE_CHECKING:
    from kubectl_policy.questions.explain import Explanation
    from kubectl_policy.render.explain import statements
else:
    statements = LazyFunctions("kubectl_policy.render.explain.statements")

_EXAMPLE = "for example: explain xbackendtrafficpolicy"

EXPLANATION: Final["Renderers[Explanation]"] = Renderers(
    kind="PolicyKindExplanation",
    headline=statements.explanation_headline,
    tree=statements.explanation_text,
    special_document=statements.explanation_document,
)


@shared_options(EXPLANATION, without={"namespace", "complete", "assume_exists", *TREE_OPTIONS})
def explain(
    call: CommandCall,
    kind: Annotated[list[str] | None, typer.Argument(metavar="KIND", help="The policy kind to explain.")] = None,
    *,
    draft_profile: Annotated[
        bool, OutputOption("--draft-profile", help="Print a profile of the kind as a starting point for --profiles.")
    ] = False,
) -> int:
    """Explain a policy kind and how its policies combine.

    Shows which objects the policies target, what they change, how two of them combine, and the evidence for each. KIND
    is a kind, its plural or a short name, alone or with its group. It comes from its definition in the input, from your
    profiles, or from the built-in profiles, for which no input is read.

    \b
    Examples:
      kubectl policy explain securitypolicy.gateway.envoyproxy.io
      kubectl policy explain retrypolicies.example.io --offline manifests/
      kubectl policy explain retrypolicy --offline manifests/ --draft-profile > retrypolicy.yaml
    """
    if kind is None or len(kind) != 1 or "/" in kind[0]:
        raise UsageError("explain takes one policy kind", _EXAMPLE)
    if draft_profile and call.output != "tree":
        raise UsageError("--draft-profile has a format of its own", "leave out --output")
    from kubectl_policy.questions.explain import explain as ask

    # Kinds are what they are, whatever becomes of their objects.
    analysis = (replace(call, render=False) if call.paths else call).read(optional=True)
    answer = ask(analysis, kind[0])
    if draft_profile:
        from kubectl_policy.cli import terminal
        from kubectl_policy.render.explain.draft import draft

        terminal.write(draft(answer, unicode=terminal.takes_unicode()))
        mention_remaining_problems(analysis)
        mention_unapplied(analysis)
    else:
        call.show(EXPLANATION, answer, analysis, unseen=answer.unseen)
    return 0
