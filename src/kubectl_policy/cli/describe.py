"""`describe`: what affects an object, or what a policy affects."""

from typing import TYPE_CHECKING, Annotated

import typer

from kubectl_policy.cli.options import Call, command, split_object
from kubectl_policy.errors import UsageError
from kubectl_policy.render.describe import OBJECT, POLICY

if TYPE_CHECKING:
    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Diagnostic, Origin
    from kubectl_policy.questions.describe.objects import ObjectDescription
    from kubectl_policy.questions.describe.policies import PolicyDescription
    from kubectl_policy.render.output.formats import Forms

# The line of a field is looked for in its file, which is read again for each.
_MOST_LOCATED = 20


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
) -> int:
    """Show what affects an object, or what a policy affects.

    For an object: every policy setting in force on it, with its value, the policy that sets it, what that policy beat,
    and what does not apply although one might expect it. For a policy: whether it is enforced, and on what.

    \b
    Examples:
      kubectl policy describe httproute/baker -n baker --offline manifests/
      kubectl policy describe gateway edge -n infra --section https --offline manifests/
      kubectl policy describe retrypolicy/resilience -n baker -o yaml --offline - < all.yaml
    """  # noqa: D301 (\b is typer's mark for a paragraph that keeps its line breaks)
    type_name, name = split_object("describe", objects or [])
    analysis = call.read()
    forms, answer = _answer(analysis, (type_name, name, call.namespace), section)
    answer = _with_lines(answer)
    call.show(forms, answer, analysis, problems=answer.diagnostics, unseen=answer.unseen)
    return 0


def _answer(
    analysis: "Analysis", wanted: tuple[str, str, str], section: str
) -> "tuple[Forms, ObjectDescription | PolicyDescription]":
    from kubectl_policy.model import NodeRef  # noqa: PLC0415 (see Call.read)
    from kubectl_policy.questions.shared.selection import find  # noqa: PLC0415 (see Call.read)

    subject = find(analysis.index, *wanted)
    if analysis.registry.profile_of(subject.group_kind) is None:
        from kubectl_policy.questions.describe.objects import describe  # noqa: PLC0415 (see Call.read)

        return OBJECT, describe(analysis, NodeRef(subject, section))
    if section:
        raise UsageError(f"{subject} is a policy, and policies have no sections", "leave out --section")
    from kubectl_policy.questions.describe.policies import describe_policy  # noqa: PLC0415 (see Call.read)

    return POLICY, describe_policy(analysis, subject)


def _with_lines(answer: "ObjectDescription | PolicyDescription") -> "ObjectDescription | PolicyDescription":
    """The answer with the line of the field, not of the object, in each problem that has one."""
    from dataclasses import replace  # noqa: PLC0415 (see Call.read)

    problems = [
        replace(problem, origin=_at_field(problem)) if position < _MOST_LOCATED else problem
        for position, problem in enumerate(answer.diagnostics)
    ]
    return replace(answer, diagnostics=tuple(problems)) if problems else answer


def _at_field(problem: "Diagnostic") -> "Origin | None":
    from kubectl_policy.model import Origin  # noqa: PLC0415 (see Call.read)
    from kubectl_policy.sources import locate  # noqa: PLC0415 (see Call.read)

    line = locate(problem.origin, problem.field) if problem.origin and problem.field else None
    return Origin(problem.origin.source, line) if problem.origin and line else problem.origin
