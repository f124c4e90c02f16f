"""An object that could not be read leaves no answer that was another one without saying so."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Final, TypeAlias

import pytest
from msgspec.structs import replace

from kubectl_policy import NodeRef, analyze
from kubectl_policy.model import Gap, Origin
from kubectl_policy.model.kind_roles import GATEWAY, PORT_HOLDERS, ROUTES
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy
from kubectl_policy.questions.lists import list_type
from kubectl_policy.questions.shared.selection import Selection
from kubectl_policy.sources.mentions import mentions_of
from tests.implementations import manifests
from tests.property.examples import examples

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from kubectl_policy import Analysis
    from kubectl_policy.model import Json, ObjectRef, Resource, Snapshot

Answers: TypeAlias = "dict[str, tuple[object, bool]]"
WORLDS: Final = ("bakery", "envoy-gateway", "unheard-of-kind")
ORIGIN: Final = Origin("broken.yaml", 1)


def answers(analysis: Analysis, subjects: Iterable[ObjectRef]) -> Answers:
    """What is said of each subject that is there, and whether something is left open."""
    found: Answers = {}
    for ref in subjects:
        if analysis.index.get(ref) is None:
            continue
        if ref in analysis.attachments:
            policy = describe_policy(analysis, ref)
            found[f"policy {ref}"] = (policy.enforcement.state, policy.affected), bool(policy.unseen)
        else:
            answer = describe(analysis, NodeRef(ref))
            fields = sorted((str(group.kind), repr(group.settings)) for group in answer.in_force)
            found[f"object {ref}"] = (answer.policies, fields), bool(answer.unseen)
    for word in ("routes", "gateways", "policies"):
        listing = list_type(analysis, word, Selection())
        found[word] = len(listing.rows), bool(listing.unseen)
    return found


def broken(hidden: Resource) -> Gap:
    """A file that cannot be read, of which the outline can be told."""
    ref = hidden.ref
    mentions = mentions_of(ref.group_kind, _json(hidden))
    return Gap(ref.kind, ref.namespace, "not YAML", ORIGIN, name=ref.name, mentions=mentions)


def unknown(hidden: Resource) -> Gap:
    """A file of which nothing can be told but the words in it."""
    return Gap("", "", "not YAML", ORIGIN, mentions=mentions_of(None, _json(hidden)))


def _json(hidden: Resource) -> Json:
    return dict(hidden.raw)


def some_of(snapshot: Snapshot) -> Sequence[Resource]:
    """So many objects in every run; in a thorough one, all."""
    return Random(0).sample(snapshot.resources, min(examples(15), len(snapshot.resources)))  # noqa: S311 (no secret)


@pytest.mark.parametrize("gap", [broken, unknown])
@pytest.mark.parametrize("world", WORLDS)
def test_what_is_hidden_changes_no_answer_in_silence(world: str, gap: Callable[[Resource], Gap]) -> None:
    """Whichever object it is."""
    snapshot = replace(manifests(world), complete=True)
    whole = analyze(snapshot)
    kinds = (GATEWAY, *ROUTES, *PORT_HOLDERS)
    subjects = [ref for kind in kinds for ref in (found.ref for found in whole.index.of_kind(kind))]
    subjects += whole.attachments
    expected = answers(whole, subjects)
    wrong: list[str] = []
    for hidden in some_of(snapshot):
        rest = tuple(resource for resource in snapshot.resources if resource is not hidden)
        less = analyze(replace(snapshot, resources=rest, gaps=(gap(hidden),)))
        for subject, (said, is_open) in answers(less, subjects).items():
            if not is_open and said != expected[subject][0]:
                wrong.append(f"without {hidden.ref}: {subject}")
    assert wrong == []


def test_what_is_hidden_leaves_other_answers_alone() -> None:
    """Those that it has nothing to do with are as certain as before."""
    snapshot = replace(manifests("bakery"), complete=True)
    subjects = [found.ref for kind in ROUTES for found in analyze(snapshot).index.of_kind(kind)]
    certain = 0
    for hidden in snapshot.resources:
        rest = tuple(resource for resource in snapshot.resources if resource is not hidden)
        found = answers(analyze(replace(snapshot, resources=rest, gaps=(broken(hidden),))), subjects)
        certain += sum(not is_open for _, is_open in found.values())
    assert certain > len(snapshot.resources) * len(subjects) / 2
