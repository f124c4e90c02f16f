"""`describe`: what affects objects, or what policies affect."""

from typing import TYPE_CHECKING, Annotated

import typer

from kubectl_policy.cli.arguments import split_objects
from kubectl_policy.cli.call import Call
from kubectl_policy.cli.options import Fields, OutputOption, PolicyKinds, SelectionOption, ShowAll, shared_options
from kubectl_policy.cli.remarks import at_fields, mention_namespaces
from kubectl_policy.errors import UsageError
from kubectl_policy.model.values import replace
from kubectl_policy.render.describe import OBJECT, POLICY, SEVERAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import NodeRef, ObjectRef, Origin
    from kubectl_policy.model.authorship import Authorship
    from kubectl_policy.questions.describe.focus import Focus
    from kubectl_policy.questions.describe.objects import ObjectDescription
    from kubectl_policy.questions.describe.policies import PolicyDescription
    from kubectl_policy.questions.describe.several import Descriptions
    from kubectl_policy.questions.shared.places import Placed
    from kubectl_policy.render.output.formats import Forms
    from kubectl_policy.sources import Lines


@shared_options(OBJECT, watches=True)
def describe(
    call: Call,
    objects: Annotated[
        list[str] | None, typer.Argument(metavar="TYPE/NAME... | TYPE NAME...", help="The objects to describe.")
    ] = None,
    *,
    section: Annotated[str, SelectionOption(metavar="NAME", help="Describe one listener, rule or port.")] = "",
    kind: PolicyKinds = None,
    field: Fields = None,
    blame: Annotated[
        bool, OutputOption("--blame", help="Show who wrote each setting, from managedFields or git.")
    ] = False,
    show_all: ShowAll = False,
) -> int:
    """Show what affects an object, or what a policy affects.

    For an object: first a summary of the settings in force, then each setting with its value, the policy that sets it,
    the policies that it overrides, and policies that do not apply although one might expect them to. For a policy:
    whether it is enforced, and on which objects.

    \b
    Examples:
      kubectl policy describe httproute/baker -n baker --offline manifests/
      kubectl policy describe httproute/baker -n baker --blame --offline manifests/
      kubectl policy describe gateway edge -n infra --section https --offline manifests/
      kubectl policy describe httproute/baker -n baker --kind timeoutpolicy --offline manifests/
      kubectl policy describe retrypolicy/resilience -n baker -o yaml --offline - < all.yaml
    """
    pairs = split_objects("describe", objects or [])
    analysis = call.read()
    from kubectl_policy.model import NodeRef
    from kubectl_policy.questions.describe.focus import EVERYTHING
    from kubectl_policy.questions.shared.selection import find

    subjects = list(dict.fromkeys(find(analysis, type_name, name, call.in_namespace) for type_name, name in pairs))
    focus = EVERYTHING
    if kind or field:
        from kubectl_policy.questions.describe.narrowing import focus_on

        focus = focus_on(analysis, kind or (), field or ())
    authors = _Authors(analysis) if blame else None
    answers = [_describe(analysis, NodeRef(subject, section), focus, call.lines, authors) for subject in subjects]
    forms, answer = answers[0] if len(answers) == 1 else _combine([description for _, description in answers])
    call.show(forms, answer, analysis, problems=answer.diagnostics, unseen=answer.unseen, everything=show_all)
    mention_namespaces(analysis, subjects)
    if authors:
        authors.complain()
    return 0


def _combine(descriptions: "Sequence[ObjectDescription | PolicyDescription]") -> "tuple[Forms, Descriptions]":
    """Return several descriptions as one answer."""
    from kubectl_policy.questions.describe.several import Descriptions

    return SEVERAL, Descriptions(tuple(descriptions))


class _Authors:
    """The authors of settings: from `managedFields` if an object has them, else from git."""

    def __init__(self, analysis: "Analysis") -> None:
        """Keep the analysis; git is asked for each setting when needed."""
        from kubectl_policy.sources.places.authors import Authors

        self._index, self._lines = analysis.index, Authors()

    def __call__(self, placed: "Placed", origin: "Origin | None") -> "Authorship | None":
        """Return the author of a setting that is written at `origin`, if the author is known."""
        from kubectl_policy.model.authorship import managed_by

        owner = managed_by(self._index.raw(placed.source.object), placed.declared_in.steps)
        return owner or (self._lines.of(origin) if origin else None)

    def complain(self) -> None:
        """Write to standard error why authors of lines are unknown."""
        from kubectl_policy.cli.terminal import complain

        complain(*self._lines.complaints)


def _describe(
    analysis: "Analysis", node: "NodeRef", focus: "Focus", lines: "Lines", authors: "_Authors | None"
) -> "tuple[Forms, ObjectDescription | PolicyDescription]":
    """Describe an object or a policy, with the lines of fields, and with their authors if `authors` are given."""
    subject = node.object
    if analysis.registry.profile_of(subject.group_kind) is None:
        return OBJECT, _describe_object(analysis, node, focus, lines, authors)
    if node.section:
        raise UsageError(f"{subject} is a policy, and policies have no sections", "leave out --section")
    if focus.kinds:
        raise UsageError(f"{subject} is a policy, and --kind is for other objects", "leave out --kind")
    return POLICY, _describe_policy(analysis, subject, focus, lines, authors)


def _describe_object(
    analysis: "Analysis", subject: "NodeRef", focus: "Focus", lines: "Lines", authors: "_Authors | None"
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
        in_force=at_lines(answer.in_force, lines.locate, authors),
        unattached=at_fields(answer.unattached, lines=lines),
    )


def _describe_policy(
    analysis: "Analysis", policy: "ObjectRef", focus: "Focus", lines: "Lines", authors: "_Authors | None"
) -> "PolicyDescription":
    from kubectl_policy.questions.describe.policies import describe_policy
    from kubectl_policy.questions.shared.places import at_line

    answer = describe_policy(analysis, policy)
    return replace(
        answer,
        focus=focus,
        diagnostics=at_fields(answer.diagnostics, lines=lines),
        fields=tuple(at_line(field, lines.locate, authors) for field in answer.fields),
        reasons=at_fields(answer.reasons, or_above=True, lines=lines),
    )
