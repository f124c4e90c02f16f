"""The answer about a policy kind as a versioned document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.profiles.load import name_in_files, profile_file
from kubectl_policy.render.explain.kinds import statements
from kubectl_policy.render.explain.tree import explanation_headline
from kubectl_policy.render.output.parts import API_VERSION, kind_data, origin_data, unseen_data

if TYPE_CHECKING:
    from kubectl_policy.model import Json
    from kubectl_policy.questions.explain.kinds import Explanation


def explanation_document(answer: Explanation) -> dict[str, Json]:
    """The answer as plain mappings, lists and scalars, as `schemas/v1alpha1.json` describes them. Nothing is cut."""
    profile, names = answer.profile, answer.names
    return {
        "apiVersion": API_VERSION,
        "kind": "PolicyKindExplanation",
        "headline": explanation_headline(answer),
        "complete": not answer.unseen,
        "policyKind": kind_data(profile.group_kind),
        "names": {"plural": names.plural, "singular": names.singular, "shortNames": list(names.short_names)},
        "origin": origin_data(answer.origin),
        "class": profile.policy_class,
        "knownBy": profile.known_by,
        "defaultStrategy": profile.default_strategy.value if profile.attaches_as_known else None,
        "profile": profile_file(profile),
        "statements": [
            {
                "topic": said.topic,
                "label": said.label,
                "fields": [name_in_files(field) for field in said.fields],
                "text": said.text,
                "basis": said.basis,
            }
            for said in statements(answer)
        ],
        "assumed": list(profile.assumed),
        "evidence": list(profile.evidence),
        "notes": profile.notes,
        "policies": answer.policies,
        "targets": [
            {**kind_data(level.group_kind), "section": level.section, "references": number}
            for level, number in answer.targets
        ],
        "unseen": [unseen_data(thing) for thing in answer.unseen],
    }
