"""Replacing a name, a namespace, a hostname, a section or a port by a placeholder never makes another answer certain.

Whatever is said of the changed world is what was said before, with the placeholder in the place of what it stands for,
or it is hedged: something could not be seen, is unknown, or is not found.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, cast

import msgspec
import pytest
from msgspec.structs import replace

from kubectl_policy import Analysis, Snapshot, analyze, load_manifests
from kubectl_policy.errors import PolicyError
from kubectl_policy.model import Diagnostic, FieldPath, Json, NodeRef, ObjectRef, Resource
from kubectl_policy.model.kind_roles import HIERARCHY
from kubectl_policy.model.kinds import CRD
from kubectl_policy.questions.blast_radius import blast_radius
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy
from kubectl_policy.questions.lists import list_type
from kubectl_policy.questions.shared.selection import Selection
from tests.property.examples import examples

FIXTURES: Final = Path(__file__).parents[2] / "fixtures"
PLACEHOLDER: Final = "${PLACEHOLDER}"
# What an object, or a part of it, is called, or is found by.
KEYS: Final = frozenset({"name", "namespace", "hostname", "hostnames", "port", "sectionName"})
# These hold names that decide nothing, or are what a cluster reports.
_OTHER: Final = frozenset({"status", "annotations", "labels", "ownerReferences"})
LISTS: Final = ("policies", "gateways", "routes", "services", "namespaces")
# What is about the answer and not about the world, what answers are made from and do not say, and the words for paths.
_SKIPPED: Final = frozenset({"origin", "unseen", "resource", "raw", "resolution", "scope"})
# Where no policy is known to be beyond a place, it is everything beyond it that does not apply.
_NOTHING_BEYOND: Final = frozenset({("not_applying", "policy"), ("not_applying", "target")})


@cache
def world(name: str) -> Snapshot:
    return replace(load_manifests(sorted((FIXTURES / name).glob("*.yaml"))), complete=True)


def places(value: Json, steps: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the positions of names, hostnames and ports in an object."""
    if isinstance(value, Mapping):
        for key, inside in value.items():
            is_plain = isinstance(inside, str | int) and not isinstance(inside, bool) and inside != ""
            if key in KEYS and is_plain:
                yield (*steps, key)
            elif key == "hostnames" and isinstance(inside, list):
                yield from ((*steps, key, position) for position in range(len(inside)))
            elif key not in _OTHER:
                yield from places(inside, (*steps, key))
    elif isinstance(value, list):
        for position, item in enumerate(value):
            yield from places(item, (*steps, position))


def filled_out(resource: Resource, steps: tuple[str | int, ...]) -> Resource:
    raw: Any = FieldPath(steps).put(resource.raw, PLACEHOLDER)
    metadata = {"name": resource.ref.name, "namespace": resource.ref.namespace} | raw["metadata"]
    home = metadata["namespace"] if resource.ref.namespace else ""
    return replace(resource, raw=raw, ref=replace(resource.ref, name=metadata["name"], namespace=home))


def said(answer: object, chain: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Everything that an answer says, without an order; of doubts, only what they are about."""
    if isinstance(answer, Diagnostic) and answer.severity == "info":
        yield ("doubt", answer.rule, str(answer.subject), answer.field)
    elif isinstance(answer, Diagnostic):
        yield ("problem", answer.rule, answer.message)
    elif isinstance(answer, ObjectRef | NodeRef | str | bool | None):
        yield (*chain, str(answer))
    elif isinstance(answer, list | tuple | frozenset):
        for item in cast("Iterable[object]", answer):
            yield from said(item, chain)
    elif isinstance(answer, msgspec.Struct | Mapping):
        for name, inside in parts(cast("object", answer)):
            yield from said(inside, (*chain, name))


def parts(answer: object) -> Iterator[tuple[str, object]]:
    """The fields of a value, or what is under the keys of a mapping."""
    if isinstance(answer, Mapping):
        yield from ((str(key), inside) for key, inside in cast("Mapping[object, object]", answer).items())
    elif isinstance(answer, msgspec.Struct):
        names = answer.__struct_fields__
        yield from ((name, getattr(answer, name)) for name in names if name not in _SKIPPED)


def asked(analysis: Analysis, question: str, subject: ObjectRef | str) -> tuple[Counter[tuple[str, ...]], bool]:
    """Return the statements of an answer, and whether it is hedged as a whole."""
    try:
        answer: Any
        if isinstance(subject, str):
            answer = list_type(analysis, subject, Selection())
            hedged = bool(answer.unseen) or any(getattr(row, "undecided", ()) for row in answer.rows)
        elif question == "blast-radius":
            answer = blast_radius(analysis, subject)
            hedged = bool(answer.difference.unseen)
        else:
            is_policy = analysis.registry.profile_of(subject.group_kind)
            answer = describe_policy(analysis, subject) if is_policy else describe(analysis, NodeRef(subject))
            hedged = bool(answer.unseen)
    except PolicyError as error:
        return Counter([("error", str(error))]), bool(error.hint)
    return Counter(said(answer)), hedged


def told(words: Counter[tuple[str, ...]], value: Json) -> Counter[tuple[str, ...]]:
    """Fill in the placeholder in statements, and sort the words of each."""
    plain: Counter[tuple[str, ...]] = Counter()
    for fact, count in words.items():
        texts = (text.replace(PLACEHOLDER, str(value)).replace(",", "") for text in fact)
        plain[tuple(" ".join(sorted(text.split())) for text in texts)] += count
    return plain


def differs(before: Counter[tuple[str, ...]], after: Counter[tuple[str, ...]], value: Json) -> bool:
    """Whether something else is said without any doubt; what does not apply may be left out."""
    gone, new = before - after, after - before
    if any(fact[0] == "doubt" for fact in new):
        return False
    # A port is a number, and a placeholder is text.
    facts = [fact for fact in new if fact[-1] != str(value)]
    if ("not_applying", "policy", "None") in new:
        facts = [fact for fact in facts if fact[:2] not in _NOTHING_BEYOND]
    left_out = {"not_applying", "problem", "doubt", "attachments"}
    return bool(facts) or any(left_out.isdisjoint(fact) for fact in gone if fact[-1] != str(value))


def violations(name: str, questions: tuple[str, ...], most: int) -> list[str]:
    """The answers that became others, for some of the places in a world."""
    snapshot = world(name)
    analysis = analyze(snapshot)
    policies = {policy.ref for policy in analysis.policies}
    subjects: list[ObjectRef | str] = [
        resource.ref
        for resource in snapshot.resources
        if resource.ref.group_kind in HIERARCHY or resource.ref in policies
    ]
    every = [(question, subject) for question in questions for subject in subjects] + [("get", word) for word in LISTS]
    before = {key: told(asked(analysis, *key)[0], PLACEHOLDER) for key in every}
    todo = [
        (resource, steps)
        for resource in snapshot.resources
        if resource.ref.group_kind != CRD
        for steps in places(resource.raw)
    ]
    wrong: list[str] = []
    for found, steps in random.Random(most).sample(todo, min(most, len(todo))):  # noqa: S311 (not for a secret)
        changed = filled_out(found, steps)
        value = FieldPath(steps).get(found.raw)
        others = tuple(changed if resource is found else resource for resource in snapshot.resources)
        after = analyze(replace(snapshot, resources=others))
        for question, subject in every:
            words, hedged = asked(after, question, changed.ref if subject == found.ref else subject)
            if not hedged and differs(before[question, subject], told(words, value), value):
                wrong.append(f"{question} {subject}: {FieldPath(steps)} of {found.ref}")
    return wrong


@pytest.mark.parametrize(
    "name", ["bakery", "delegation", "gloo", "kgateway", "kong", "kuadrant", "nginx-gateway-fabric"]
)
def test_no_answer_becomes_another_certain_one(name: str) -> None:
    """In a world that is complete, where nothing else is in doubt."""
    assert violations(name, ("describe",), examples(12)) == []


def test_nor_does_a_blast_radius() -> None:
    assert violations("bakery", ("blast-radius",), examples(3)) == []
