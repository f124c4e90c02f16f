"""`describe`: what affects an object, or what a policy affects."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from kubectl_policy.cli.options import Call, ShowAll, at_fields, command, mention_namespaces, split_object
from kubectl_policy.errors import UsageError
from kubectl_policy.render.describe import OBJECT, POLICY

if TYPE_CHECKING:
    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import ObjectRef
    from kubectl_policy.questions.describe.objects import ObjectDescription
    from kubectl_policy.questions.describe.policies import PolicyDescription
    from kubectl_policy.render.output.formats import Forms
    from kubectl_policy.sources import Lines


@command(OBJECT)
def describe(
    call: Call,
    objects: Annotated[
        list[str] | None, typer.Argument(metavar="TYPE/NAME | TYPE NAME", help="The object to describe.")
    ] = None,
    *,
    section: Annotated[
        str, typer.Option(metavar="NAME", help="Ask about one listener, rule or port of the object.")
    ] = "",
    show_all: ShowAll = False,
) -> int:
    """Show what affects an object, or what a policy affects.

    For an object: every policy setting in force on it, with its value, the policy that sets it, what that policy beat,
    and what does not apply although one might expect it. For a policy: whether it is enforced, and on what.

    \b
    Examples:
      kubectl policy describe httproute/baker -n baker --offline manifests/
      kubectl policy describe gateway edge -n infra --section https --offline manifests/
      kubectl policy describe retrypolicy/resilience -n baker -o yaml --offline - < all.yaml
    """
    type_name, name = split_object("describe", objects or [])
    analysis = call.read()
    from kubectl_policy.questions.shared.selection import find

    subject = find(analysis, type_name, name, call.namespace)
    forms, answer = _answer(analysis, subject, section)
    answer = _at_lines(answer, call.lines)
    call.show(forms, answer, analysis, problems=answer.diagnostics, unseen=answer.unseen, everything=show_all)
    mention_namespaces(analysis, [subject])
    return 0


def _at_lines(
    answer: "ObjectDescription | PolicyDescription", lines: "Lines"
) -> "ObjectDescription | PolicyDescription":
    """The same with the lines of fields instead of those of objects."""
    from kubectl_policy.questions.describe.policies import PolicyDescription
    from kubectl_policy.questions.shared.in_force import at_lines
    from kubectl_policy.questions.shared.places import at_line

    diagnostics = at_fields(answer.diagnostics, lines=lines)
    if isinstance(answer, PolicyDescription):
        fields = tuple(at_line(field, lines.locate) for field in answer.fields)
        return replace(answer, diagnostics=diagnostics, fields=fields)
    return replace(
        answer,
        diagnostics=diagnostics,
        in_force=at_lines(answer.in_force, lines.locate),
        unattached=at_fields(answer.unattached, lines=lines),
    )


def _answer(
    analysis: "Analysis", subject: "ObjectRef", section: str
) -> "tuple[Forms, ObjectDescription | PolicyDescription]":
    if analysis.registry.profile_of(subject.group_kind) is None:
        from kubectl_policy.model import NodeRef
        from kubectl_policy.questions.describe.objects import describe

        return OBJECT, describe(analysis, NodeRef(subject, section))
    if section:
        raise UsageError(f"{subject} is a policy, and policies have no sections", "leave out --section")
    from kubectl_policy.questions.describe.policies import describe_policy

    return POLICY, describe_policy(analysis, subject)
