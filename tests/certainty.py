"""Certain statements of one analysis that another one denies: on objects and attachments, and in certain answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubectl_policy import plain
from kubectl_policy.attachment import MEANINGS
from kubectl_policy.model import NodeRef
from kubectl_policy.model.fields import labels_of
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.model.refs import GroupKind
from kubectl_policy.model.unknown import is_unknown
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy import Analysis
    from kubectl_policy.model.refs import ObjectRef


def lies(raw: Analysis, truth: Analysis) -> list[str]:
    """Return the certain statements of one analysis that the other one denies."""
    return [*wrong_objects(raw, truth), *wrong_attachments(raw, truth), *wrong_answers(raw, truth)]


def is_asked_about(analysis: Analysis, ref: ObjectRef) -> bool:
    """Whether it is of a kind that traffic or policies go through; not of one that makes others."""
    serves = ref.group_kind.group == GATEWAY_API or ref.kind in {"Service", "Namespace"}
    return serves or ref in analysis.attachments


def is_sure(analysis: Analysis, ref: ObjectRef) -> bool:
    """Whether nothing is in doubt about the name of an object, and about its being as it was read."""
    return not (is_unknown(ref.namespace) or is_unknown(ref.name)) and not any(
        gap.covers(ref) and (gap.name or gap.mentions is None or ref.name in gap.mentions)
        for gap in analysis.snapshot.gaps
    )


def wrong_objects(raw: Analysis, truth: Analysis) -> Iterator[str]:
    """Yield objects that do not exist, or that differ."""
    for read_object in raw.snapshot.resources:
        ref = read_object.ref
        if not is_asked_about(raw, ref) or not is_sure(raw, ref):
            continue
        applied = truth.index.get(ref)
        if applied is None:
            yield f"{ref} of {read_object.origin} does not exist"
        elif has_variable(read_object.raw):
            continue
        elif (read_object.raw.get("spec"), labels_of(read_object.raw)) != (
            applied.raw.get("spec"),
            labels_of(applied.raw),
        ):
            yield f"{ref} of {read_object.origin} is otherwise: {read_object.raw} {applied.raw}"


def has_variable(value: Any) -> bool:  # noqa: ANN401 (any value of a field)
    """Whether a value has a variable in it."""
    return "${" in str(value)


def wrong_attachments(raw: Analysis, truth: Analysis) -> Iterator[str]:
    """Yield policies and routes with another state at their targets and parents."""
    for policy, attachments in raw.attachments.items():
        if not is_sure(raw, policy) or policy not in truth.attachments:
            continue
        states = {(found.declared.field, found.target): found.state for found in truth.attachments[policy]}
        for found in attachments:
            known = MEANINGS[found.state].known and found.target and is_sure(raw, found.target.object)
            # What is attached is a matter of its controller, which is another doubt.
            if known and states.get((found.declared.field, found.target), "") not in {found.state, "not managed"}:
                yield f"{policy} → {found.target}: {found.state}, not {states}"
    for route in raw.index.of_kind(GroupKind(GATEWAY_API, "HTTPRoute")):
        if not is_sure(raw, route.ref) or truth.index.get(route.ref) is None:
            continue
        bindings = {
            (binding.parent, binding.listener): (binding.state, binding.reason)
            for binding in truth.topology.bindings(route.ref)
        }
        for binding in raw.topology.bindings(route.ref):
            doubted = binding.state == "unknown" or not is_sure(raw, binding.parent)
            if not doubted and bindings.get((binding.parent, binding.listener)) != (binding.state, binding.reason):
                yield f"{route.ref} at {binding.listener or binding.parent}: {binding.state}, not {bindings}"


def wrong_answers(raw: Analysis, truth: Analysis) -> Iterator[str]:
    """Yield answers without a doubt that differ from those after rendering."""
    for ref in sorted({node.object for node in raw.topology.nodes} | raw.attachments.keys()):
        if (
            not is_asked_about(raw, ref)
            or raw.index.get(ref) is None
            or is_unknown(ref.name)
            or is_unknown(ref.namespace)
        ):
            continue
        is_policy = ref in raw.attachments
        answer = describe_policy(raw, ref) if is_policy else describe(raw, NodeRef(ref))
        if answer.unseen or any("is unknown" in problem.message for problem in answer.problems):
            continue
        if truth.index.get(ref) is None:
            yield f"{ref} does not exist"
        elif is_policy:
            yield from wrong_policy(raw, truth, ref)
        else:
            said, right = in_force(raw, ref, raw), in_force(truth, ref, raw)
            if said != right and not has_variable(said):
                yield f"{ref}: in force is {said}, not {right}"


def wrong_policy(raw: Analysis, truth: Analysis, policy: ObjectRef) -> Iterator[str]:
    """Yield statements about a policy that have no doubt and are wrong."""
    said, right = describe_policy(raw, policy), describe_policy(truth, policy)
    if said.enforcement.state != right.enforcement.state:
        yield f"{policy}: {said.enforcement.state}, not {right.enforcement.state}"
    affected, rightly = ({node.object for node in found.affected} for found in (said, right))
    if affected != rightly and not has_variable(affected):
        yield f"{policy}: affects {sorted(map(str, affected))}, not {sorted(map(str, rightly))}"


def in_force(analysis: Analysis, ref: ObjectRef, raw: Analysis) -> dict[str, dict[str, Any]]:
    """Return the settings in force at the end of every path through an object, by policy kind.

    A path ends before the ports of a Service that was not read, of which nobody can know.
    """
    return {
        " ▸ ".join(str(node) for node in path if not node.section or raw.index.get(node.object)): {
            str(effective.resolution.kind): plain(effective.resolution.spec)
            for effective in analysis.resolver.effective(path)
        }
        for path in describe(analysis, NodeRef(ref)).paths
    }
