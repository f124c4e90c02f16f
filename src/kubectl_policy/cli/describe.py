"""`describe`: what affects an object, or what a policy affects."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from kubectl_policy.cli.blame import Authors
from kubectl_policy.cli.options import Call, ShowAll, command
from kubectl_policy.cli.remarks import at_fields, mention_namespaces
from kubectl_policy.cli.words import split_objects
from kubectl_policy.errors import UsageError
from kubectl_policy.render.describe import OBJECT, POLICY, SEVERAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import ObjectRef
    from kubectl_policy.questions.describe.focus import Focus
    from kubectl_policy.questions.describe.objects import ObjectDescription
    from kubectl_policy.questions.describe.policies import PolicyDescription
    from kubectl_policy.questions.describe.several import Descriptions
    from kubectl_policy.questions.shared.places import Who
    from kubectl_policy.render.output.formats import Forms
    from kubectl_policy.sources import Lines

Description: TypeAlias = "ObjectDescription | PolicyDescription"


@command(OBJECT)
def describe(
    call: Call,
    objects: Annotated[
        list[str] | None, typer.Argument(metavar="TYPE/NAME... | TYPE NAME...", help="The objects to describe.")
    ] = None,
    *,
    section: Annotated[
        str, typer.Option(metavar="NAME", help="Ask about one listener, rule or port of the object.")
    ] = "",
    kind: Annotated[
        list[str] | None, typer.Option(metavar="KIND", help="Only policies of this kind. Repeatable, or with commas.")
    ] = None,
    field: Annotated[
        list[str] | None,
        typer.Option(metavar="FIELD", help="Only fields that start with this: timeout, jwt.providers. Repeatable."),
    ] = None,
    blame: Annotated[
        bool, typer.Option("--blame", help="Say who wrote each setting, and when: by git, or by managedFields.")
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
    from kubectl_policy.questions.describe.narrowing import focus_on
    from kubectl_policy.questions.shared.selection import find

    subjects = list(dict.fromkeys(find(analysis, type_name, name, call.namespace) for type_name, name in asked))
    focus = focus_on(analysis, kind or (), field or ())
    found = [_answer(analysis, subject, section, focus) for subject in subjects]
    authors = Authors(analysis) if blame else None
    answers = [_at_lines(answer, call.lines, authors) for _, answer in found]
    forms, shown = (found[0][0], answers[0]) if len(answers) == 1 else _together(answers)
    call.show(forms, shown, analysis, problems=shown.diagnostics, unseen=shown.unseen, everything=show_all)
    mention_namespaces(analysis, subjects)
    if authors:
        authors.complain()
    return 0


def _together(answers: "Sequence[Description]") -> "tuple[Forms, Descriptions]":
    """Several answers as one."""
    from kubectl_policy.questions.describe.several import Descriptions

    return SEVERAL, Descriptions(tuple(answers))


def _at_lines(answer: "Description", lines: "Lines", who: "Who | None") -> "Description":
    """The same with the lines of fields instead of those of objects, and with who wrote them, if that was asked."""
    from kubectl_policy.questions.describe.policies import PolicyDescription
    from kubectl_policy.questions.shared.in_force import at_lines
    from kubectl_policy.questions.shared.places import at_line

    diagnostics = at_fields(answer.diagnostics, lines=lines)
    if isinstance(answer, PolicyDescription):
        fields = tuple(at_line(field, lines.locate, who) for field in answer.fields)
        reasons = at_fields(answer.reasons, or_above=True, lines=lines)
        return replace(answer, diagnostics=diagnostics, fields=fields, reasons=reasons)
    return replace(
        answer,
        diagnostics=diagnostics,
        in_force=at_lines(answer.in_force, lines.locate, who),
        unattached=at_fields(answer.unattached, lines=lines),
    )


def _answer(analysis: "Analysis", subject: "ObjectRef", section: str, focus: "Focus") -> "tuple[Forms, Description]":
    if analysis.registry.profile_of(subject.group_kind) is None:
        from kubectl_policy.model import NodeRef
        from kubectl_policy.questions.describe.focus import EVERYTHING
        from kubectl_policy.questions.describe.narrowing import narrowed
        from kubectl_policy.questions.describe.objects import describe

        answer = describe(analysis, NodeRef(subject, section))
        return OBJECT, answer if focus == EVERYTHING else narrowed(analysis, answer, focus)
    if section:
        raise UsageError(f"{subject} is a policy, and policies have no sections", "leave out --section")
    if focus.kinds:
        raise UsageError(f"{subject} is a policy, and --kind is for other objects", "leave out --kind")
    from kubectl_policy.questions.describe.policies import describe_policy

    return POLICY, replace(describe_policy(analysis, subject), focus=focus)
