"""`describe`: what affects an object, or what a policy affects."""

from typing import TYPE_CHECKING, Annotated, TypeAlias

from kubectl_policy.cli.options import Call, ShowAll, command
from kubectl_policy.cli.parameters import Argument, Option
from kubectl_policy.cli.remarks import at_fields, mention_namespaces
from kubectl_policy.cli.words import split_objects
from kubectl_policy.errors import UsageError
from kubectl_policy.model.values import replace
from kubectl_policy.render.describe import OBJECT, POLICY, SEVERAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import NodeRef, ObjectRef
    from kubectl_policy.questions.describe.focus import Focus
    from kubectl_policy.questions.describe.objects import ObjectDescription
    from kubectl_policy.questions.describe.policies import PolicyDescription
    from kubectl_policy.questions.describe.several import Descriptions
    from kubectl_policy.questions.shared.places import Who
    from kubectl_policy.render.output.formats import Forms
    from kubectl_policy.sources import Lines

Description: TypeAlias = "ObjectDescription | PolicyDescription"


@command(OBJECT, watches=True)
def describe(
    call: Call,
    objects: Annotated[
        list[str] | None, Argument(metavar="TYPE/NAME... | TYPE NAME...", help="The objects to describe.")
    ] = None,
    *,
    section: Annotated[str, Option(metavar="NAME", help="Ask about one listener, rule or port of the object.")] = "",
    kind: Annotated[
        list[str] | None, Option(metavar="KIND", help="Only policies of this kind. Repeatable, or with commas.")
    ] = None,
    field: Annotated[
        list[str] | None,
        Option(metavar="FIELD", help="Only fields that start with this: timeout, jwt.providers. Repeatable."),
    ] = None,
    blame: Annotated[
        bool, Option("--blame", help="Say who wrote each setting, and when: by git, or by managedFields.")
    ] = False,
    show_all: ShowAll = False,
) -> int:
    """Show what affects an object, or what a policy affects.

    For an object: what is in force at a glance, then every policy setting with its value, the policy that sets it,
    what that policy beat, and what does not apply although one might expect it. For a policy: whether it is enforced,
    and on what.

    \b
    Examples:
      kubectl policy describe httproute/baker -n baker --offline manifests/
      kubectl policy describe httproute/baker -n baker --blame --offline manifests/
      kubectl policy describe gateway edge -n infra --section https --offline manifests/
      kubectl policy describe httproute/baker -n baker --kind timeoutpolicy --offline manifests/
      kubectl policy describe retrypolicy/resilience -n baker -o yaml --offline - < all.yaml
    """
    asked = split_objects("describe", objects or [])
    analysis = call.read()
    from kubectl_policy.model import NodeRef
    from kubectl_policy.questions.describe.focus import EVERYTHING
    from kubectl_policy.questions.shared.selection import find

    subjects = list(dict.fromkeys(find(analysis, type_name, name, call.in_namespace) for type_name, name in asked))
    focus, authors = EVERYTHING, None
    if kind or field:
        from kubectl_policy.questions.describe.narrowing import focus_on

        focus = focus_on(analysis, kind or (), field or ())
    if blame:
        from kubectl_policy.cli.blame import Authors

        authors = Authors(analysis)
    nodes = [NodeRef(subject, section) for subject in subjects]
    found = [_answer(analysis, node, focus, call.lines, authors) for node in nodes]
    forms, shown = found[0] if len(found) == 1 else _together([answer for _, answer in found])
    call.show(forms, shown, analysis, problems=shown.diagnostics, unseen=shown.unseen, everything=show_all)
    mention_namespaces(analysis, subjects)
    if authors:
        authors.complain()
    return 0


def _together(answers: "Sequence[Description]") -> "tuple[Forms, Descriptions]":
    """Several answers as one."""
    from kubectl_policy.questions.describe.several import Descriptions

    return SEVERAL, Descriptions(tuple(answers))


def _answer(
    analysis: "Analysis", node: "NodeRef", focus: "Focus", lines: "Lines", who: "Who | None"
) -> "tuple[Forms, Description]":
    """The answer about an object or a policy, with the lines of fields, and with who wrote them, if that was asked."""
    subject = node.object
    if analysis.registry.profile_of(subject.group_kind) is None:
        return OBJECT, _object(analysis, node, focus, lines, who)
    if node.section:
        raise UsageError(f"{subject} is a policy, and policies have no sections", "leave out --section")
    if focus.kinds:
        raise UsageError(f"{subject} is a policy, and --kind is for other objects", "leave out --kind")
    return POLICY, _policy(analysis, subject, focus, lines, who)


def _object(
    analysis: "Analysis", subject: "NodeRef", focus: "Focus", lines: "Lines", who: "Who | None"
) -> "ObjectDescription":
    from kubectl_policy.questions.describe.objects import describe
    from kubectl_policy.questions.shared.in_force import at_lines

    answer = describe(analysis, subject)
    if focus.kinds or focus.fields:
        from kubectl_policy.questions.describe.narrowing import narrowed

        answer = narrowed(analysis, answer, focus)
    return replace(
        answer,
        diagnostics=at_fields(answer.diagnostics, lines=lines),
        in_force=at_lines(answer.in_force, lines.locate, who),
        unattached=at_fields(answer.unattached, lines=lines),
    )


def _policy(
    analysis: "Analysis", policy: "ObjectRef", focus: "Focus", lines: "Lines", who: "Who | None"
) -> "PolicyDescription":
    from kubectl_policy.questions.describe.policies import describe_policy
    from kubectl_policy.questions.shared.places import at_line

    answer = describe_policy(analysis, policy)
    return replace(
        answer,
        focus=focus,
        diagnostics=at_fields(answer.diagnostics, lines=lines),
        fields=tuple(at_line(field, lines.locate, who) for field in answer.fields),
        reasons=at_fields(answer.reasons, or_above=True, lines=lines),
    )
