"""What the controllers of policies mark on objects that policies affect or target: conditions and annotations."""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, cast

from kubectl_policy.model.fields import mapping_at
from kubectl_policy.questions.predicted.targets import target_conditions
from kubectl_policy.questions.predicted.vocabulary import vocabulary
from kubectl_policy.questions.shared.reported import has_report
from kubectl_policy.questions.status.comparison import Claim, Comparison

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Json, NodeRef, ObjectRef, Resource
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.questions.predicted.policies import PolicyCondition


class Marks:
    """The marks of the policy kinds in one analysis, by the type of a condition or the name of an annotation."""

    def __init__(self, analysis: Analysis) -> None:
        """Remember where to look."""
        self._analysis = analysis

    @cached_property
    def kinds(self) -> Mapping[str, PolicyKindProfile]:
        """The policy kinds by their marks."""
        return {**self._by_annotation, **{type_: profile for profile in self._profiles for type_ in _types(profile)}}

    @cached_property
    def spoken(self) -> Mapping[str, frozenset[str]]:
        """The types of conditions that are marks, with the statuses that they can have."""
        return {type_: found for profile in self._profiles for type_, found in _types(profile).items()}

    def conditions(self, node: NodeRef, said: Collection[str]) -> Iterator[PolicyCondition]:
        """The marks that a node should have; `said` are the types that it has.

        Where no policy that they are about has a report, nobody is there to mark anything, and they are not missed.
        """
        for condition in target_conditions(self._analysis, node) if self.spoken else ():
            if condition.type in said or self._is_reported(node.object for node in condition.related):
                yield condition

    def annotations(self, resource: Resource) -> Iterator[Comparison]:
        """The annotations of an object that should name the policies attached to it or to a section of it."""
        annotations = mapping_at(resource.raw, "metadata.annotations")
        for name, profile in self._by_annotation.items():
            policies = sorted(
                {
                    found.policy
                    for found in self._analysis.attachments_to(resource.ref)
                    if found.state == "attached" and found.policy.group_kind == profile.group_kind
                }
            )
            computed = Claim(", ".join(policy.qualified_name for policy in policies)) if policies else None
            if name in annotations:
                yield _beside(name, computed, policies, annotations[name], resource.ref.namespace)
            elif computed and self._is_reported(policies):
                yield Comparison(None, name, computed, None, "not reported")

    @property
    def _profiles(self) -> tuple[PolicyKindProfile, ...]:
        return self._analysis.registry.policy_kinds

    @cached_property
    def _by_annotation(self) -> Mapping[str, PolicyKindProfile]:
        return {one.status.target_annotation: one for one in self._profiles if one.status.target_annotation}

    def _is_reported(self, policies: Iterable[ObjectRef]) -> bool:
        resources = (self._analysis.index.get(policy) for policy in policies)
        return any(has_report(resource.raw) for resource in resources if resource)


def _types(profile: PolicyKindProfile) -> Mapping[str, frozenset[str]]:
    return vocabulary(profile.status).affected


def _beside(name: str, computed: Claim | None, policies: Iterable[ObjectRef], value: Json, home: str) -> Comparison:
    named = _named(value, home)
    if named is None:
        return Comparison(None, name, computed, Claim(value if isinstance(value, str) else ""), "unknown type")
    reported = Claim(", ".join(sorted(named)))
    if not computed:
        return Comparison(None, name, None, reported if named else None, "not expected" if named else "agrees")
    same = named == frozenset(policy.qualified_name for policy in policies)
    return Comparison(None, name, computed, reported, "agrees" if same else "differs")


def _named(value: Json, home: str) -> frozenset[str] | None:
    """The policies that an annotation names, as `namespace/name`; None if it cannot be read.

    It is `namespace/name`, several of these with commas between them, or a JSON list of mappings with a `namespace` and
    a `name`, in any case: the keys of a `types.NamespacedName` are written `Namespace` and `Name`.
    """
    if not isinstance(value, str):
        return None
    if not value.lstrip().startswith(("[", "{")):
        words = (word.strip() for word in value.split(","))
        return frozenset(word if "/" in word else f"{home}/{word}" for word in words if word)
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        return None
    entries = cast("list[object]", parsed if isinstance(parsed, list) else [parsed])
    keyed = [
        {key.lower(): text for key, text in cast("dict[str, object]", e).items()}
        for e in entries
        if isinstance(e, dict)
    ]
    names = [(entry.get("namespace") or home, entry.get("name")) for entry in keyed]
    if len(names) < len(entries) or not all(isinstance(part, str) and part for pair in names for part in pair):
        return None
    return frozenset(f"{namespace}/{name}" for namespace, name in names)
