"""Certain statements of one analysis that another one denies: on objects and attachments, and in certain answers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from kubectl_policy.attachment import MEANINGS
from kubectl_policy.model.fields import labels_of
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.model.refs import GroupKind
from kubectl_policy.model.unknown import is_unknown
from tests.answers import answers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy import Analysis
    from kubectl_policy.model import Resource
    from kubectl_policy.model.fields import Json
    from kubectl_policy.model.refs import ObjectRef
    from tests.answers import Answer, Fact

# A variable of Flux, also one with a default.
_VARIABLE: Final = re.compile(r"\$\{[^}]*\}")


def lies(raw: Analysis, truth: Analysis) -> list[str]:
    """Return the certain statements of one analysis that the other one denies, or does not make."""
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
        elif (read_object.raw.get("spec"), _own_labels(read_object)) != (applied.raw.get("spec"), _own_labels(applied)):
            yield f"{ref} of {read_object.origin} is otherwise: {read_object.raw} {applied.raw}"


def _own_labels(resource: Resource) -> dict[str, Json]:
    """Return the labels of an object without those by which Flux marks what it applies."""
    return {name: value for name, value in labels_of(resource.raw).items() if "toolkit.fluxcd.io/" not in name}


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
    """Yield what answers without a doubt say that those after rendering do not say, and the other way round."""
    certain = {question: answer for question, answer in answers(raw, raw.index).items() if answer.is_certain}
    right = answers(truth, raw.index)
    for question, answer in sorted(certain.items()):
        if question not in right:
            yield f"{question}: is not there"
            continue
        yield from (f"{question}: {fact.text} is wrong" for fact in missing(answer.facts, right[question]))
        yield from (f"{question}: {fact.text} is not said" for fact in missing(right[question].facts, answer))


def missing(facts: Iterable[Fact], answer: Answer) -> Iterator[Fact]:
    """Yield the facts that an answer does not have; a variable stands for any value but an empty one."""
    without_variables = {fact.text for fact in answer.facts}
    patterns = [_pattern(text) for text in without_variables if has_variable(text)]
    for fact in sorted(facts):
        if fact.text in without_variables or any(pattern.fullmatch(fact.text) for pattern in patterns):
            continue
        if has_variable(fact.text) and any(_pattern(fact.text).fullmatch(text) for text in without_variables):
            continue
        yield fact


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(".+".join(map(re.escape, _VARIABLE.split(text))))
