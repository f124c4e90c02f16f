"""What to ask next, for all commands: commands that lead on, and where there is more."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from kubectl_policy.render.output.escape import visible
from kubectl_policy.render.output.text import Line, Span
from kubectl_policy.render.wording.names import count
from kubectl_policy.render.wording.sections import section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.model import ObjectRef
    from kubectl_policy.questions.changes.blast_radius import BlastRadius
    from kubectl_policy.questions.describe.objects import ObjectDescription
    from kubectl_policy.questions.describe.policies import PolicyDescription
    from kubectl_policy.questions.explain.kinds import Explanation
    from kubectl_policy.questions.status.report import StatusReport
    from kubectl_policy.questions.why_not.why_not import WhyNot
    from kubectl_policy.render.output.text import View

Command: TypeAlias = tuple[str, ...]


def next_section(commands: Sequence[Command], view: View) -> tuple[Line, ...]:
    """At most two commands that lead on, with the options of the present one, ready to paste; at a terminal only."""
    if not view.terminal:
        return ()
    import shlex  # noqa: PLC0415 (only a terminal needs it)

    texts = (shlex.join(visible(word) for word in (*command, *view.options)) for command in commands[:2])
    return section("Next", (Line((Span(f"{view.program} {text}", "command"),), 2) for text in texts))


def _describe(ref: ObjectRef, *options: str) -> Command:
    namespace = ("-n", ref.namespace) if ref.namespace else ()
    return ("describe", f"{ref.kind.lower()}/{ref.name}", *namespace, *options)


def after_object(answer: ObjectDescription) -> list[Command]:
    """The policies in force on the object."""
    return [_describe(ref) for ref in answer.policies[:2]]


def after_policy(answer: PolicyDescription) -> list[Command]:
    """What the policy affects."""
    return [_describe(ref) for ref in dict.fromkeys(node.object for node in answer.affected)]


def after_explanation(answer: Explanation) -> list[Command]:
    """A profile of the kind, if there is none, and the kind's policies."""
    name = str(answer.profile.group_kind).lower()
    draft: list[Command] = [("explain", name, "--draft-profile")] if answer.profile.known_by != "profile" else []
    return [*draft, *([("get", name, "-A")] if answer.policies else [])]


def after_status(report: StatusReport) -> list[Command]:
    """Why something is computed as it is."""
    return [_describe(status.resource.ref) for status in report.items if status.disagrees]


def after_blast_radius(answer: BlastRadius) -> list[Command]:
    """What to look at before deleting: the object that changes most, and the policy itself."""
    objects = [changed.node.object for change in answer.difference.effects for changed in change.objects]
    return [_describe(ref) for ref in dict.fromkeys([*objects[:1], answer.subject])]


def after_why_not(answer: WhyNot) -> list[Command]:
    """The policy itself, and what is in force on the object."""
    target = answer.target
    section_option = ("--section", target.section) if target.section else ()
    return [_describe(answer.policy), _describe(target.object, *section_option)]


def nothing_found(namespace: str, elsewhere: Sequence[str], noun: str) -> list[str]:
    """What kubectl says of an empty list, and where there is something."""
    return [f"No resources found{f' in {namespace} namespace.' if namespace else ''}", *elsewhere_hint(elsewhere, noun)]


def elsewhere_hint(elsewhere: Sequence[str], noun: str) -> list[str]:
    """Where there is something, if nothing was found here: `elsewhere` has a namespace for each such object."""
    if not elsewhere:
        return []
    namespaces = sorted(set(elsewhere))
    one = len(namespaces) == 1
    where = f"namespace {namespaces[0]}: add -n {namespaces[0]}" if one else f"{len(namespaces)} namespaces: add -A"
    verb = "is" if len(elsewhere) == 1 else "are"
    return [f"hint: there {verb} {count(len(elsewhere), noun)} in {where}"]
