"""What the schema allows and a profile cannot mean."""

import copy
from typing import Any

import pytest

from kubectl_policy.profiles.contradictions import BY_LEVELS, contradictions
from tests.profiles.everything import FIELDS, policy_by_policy

SERVICE = {"group": "", "kind": "Service"}
PORTS = {"field": "perPort", "key": "port", "insteadOf": "default"}
# What a kind says that is merged level by level.
LEVELLED = {"strategy": "Patch defaults", "stanzas": "none", "nulls": "ignore"}
LEVELS = "needs one strategy for all policies (not All apply or Strategic merge) and stanzas: none"
ROUTE = {"group": "gateway.networking.k8s.io", "kind": "HTTPRoute"}
NO_REFERENCES = "has no effect with attachment: none"
NO_CHALLENGER = "has no effect without chooser: challenger"
NO_JOINT_FIELD = "needs a joint field of that name, by that key"
STRATEGIC = {"strategyField": "spec.mode", "strategyValues": {"deep": "Strategic merge"}, "chooser": "challenger"}


def found(**changes: Any) -> list[tuple[str, str]]:  # noqa: ANN401 (any field of a kind)
    """What contradicts what in a profile with these fields: the field's name and the message."""
    fields = {"class": "direct", "evidence": ["https://example.com"], **changes}
    document = {"group": "example.com", "kinds": {"A": fields}}
    return [(".".join(map(str, problem.field.steps[2:])), problem.message) for problem in contradictions(document)]


@pytest.mark.parametrize(
    ("fields", "place", "message"),
    [
        ({"approximate": True}, "approximate", "has no effect without notes"),
        ({"strategyValues": {}}, "strategyValues", "has no effect without strategyField"),
        (STRATEGIC, "strategyValues", "can mean Strategic merge only with chooser: challenger and mergesWith: closest"),
        ({"mergeParents": []}, "mergeParents", NO_CHALLENGER),
        ({"strategyFromAbove": True}, "strategyFromAbove", NO_CHALLENGER),
        *(({name: [], **LEVELLED, "nulls": "remove"}, name, "needs nulls: ignore") for name in BY_LEVELS),
        ({"portField": PORTS}, "portField", NO_JOINT_FIELD),
        *(
            (
                {"portField": PORTS, **LEVELLED, "jointFields": [joint, {"field": "x", "by": "[port]"}]},
                "portField",
                NO_JOINT_FIELD,
            )
            for joint in ({"field": "perPort"}, {"field": "perPort", "by": "[n]"})
        ),
        ({"attachment": "none", "targetFields": []}, "targetFields", NO_REFERENCES),
        ({"attachment": "none", "targetGroup": ""}, "targetGroup", NO_REFERENCES),
        ({"attachment": "none", "unnamedRules": "{n}"}, "unnamedRules", NO_REFERENCES),
        ({"attachment": "filters"}, "attachment", "filters needs filterRoutes"),
        ({"backendFilters": True}, "backendFilters", "has no effect without filterRoutes"),
        ({"attachment": "none", "filterRoutes": [ROUTE]}, "filterRoutes", NO_REFERENCES),
        (
            {"attachment": "filters", "filterRoutes": [ROUTE], "targetFields": ["spec.to"]},
            "targetFields",
            "has no effect with attachment: filters",
        ),
        ({"variants": [{"targets": [SERVICE]}] * 2}, "variants.1.targets.0", "another variant is for Service already"),
        (
            {"declaredTargets": [{"group": "a.b/v1", "kind": "A"}]},
            "declaredTargets.0.group",
            "'a.b/v1' has a version; write the group alone, 'a.b'",
        ),
        (
            {"jointFields": [{"field": "a", "by": "*"}, {"field": "a"}], **LEVELLED},
            "jointFields",
            "a field cannot be combined in two ways",
        ),
        *(({name: [], **LEVELLED, "strategy": "All apply"}, name, LEVELS) for name in BY_LEVELS),
        *(({name: [], **LEVELLED, "stanzas": "plural"}, name, LEVELS) for name in BY_LEVELS),
        ({"scopes": [], **LEVELLED, "strategy": "Strategic merge"}, "scopes", LEVELS),
        ({"scopes": [], **LEVELLED, "chooser": "challenger"}, "scopes", LEVELS),
        ({"scopes": [], **LEVELLED, "strategyField": "spec.mode"}, "scopes", LEVELS),
        ({"sameLevel": "all-apply"}, "sameLevel", LEVELS.replace("needs", "can be all-apply only with")),
        ({"securityFields": ["acl", "*"]}, "securityFields", "* means every field, so it must be the only entry"),
        ({"targetGroup": "v1beta1"}, "targetGroup", "'v1beta1' has a version; write the group alone, ''"),
    ],
)
def test_fields_that_contradict_each_other(fields: dict[str, Any], place: str, message: str) -> None:
    assert found(**fields) == [(place, message)]


@pytest.mark.parametrize("group", ["v1", "example.com/v1", "/v1"])
def test_a_group_has_no_version(group: str) -> None:
    """What `apiVersion` has after the slash belongs to no group."""
    (problem,) = contradictions({"group": group, "kinds": {}})
    assert str(problem.field) == "group"


def test_a_kind_has_a_name() -> None:
    """An empty one would match whatever has none."""
    (problem,) = contradictions({"group": "", "kinds": {"": {}}})
    assert (problem.field.steps, problem.message) == (("kinds", ""), "a kind needs a name")


@pytest.mark.parametrize(
    ("group", "kind"), [("", "Namespace"), ("", "Service"), ("gateway.networking.k8s.io", "HTTPRoute")]
)
def test_what_policies_target_is_no_policy(group: str, kind: str) -> None:
    """What exists without a manifest, or carries requests, has no settings of its own that could merge."""
    (problem,) = contradictions({"group": group, "kinds": {kind: {"class": "direct"}}})
    assert (problem.field.steps, problem.message) == (
        ("kinds", kind),
        "is a kind that policies target; it cannot be a policy kind",
    )


@pytest.mark.parametrize(
    "fields",
    [
        {"strategyField": "spec.mode", "strategyValues": {"a": "None"}},
        {"mergeParents": [], "chooser": "challenger"},
        {"mergeParents": [], "variants": [{"targets": [SERVICE], "chooser": "challenger"}]},
        {**LEVELLED, "jointFields": [], "scopes": [], "routeChoice": {}},
        {**LEVELLED, "portField": PORTS, "jointFields": [{"field": "perPort", "by": "[port]"}]},
        {"attachment": "none", "declaredTargets": [SERVICE]},
        {"targetGroup": "v1.example.com"},
        {"securityFields": ["*"]},
        {"securityFields": []},
        {"securityFields": ["acl", "perPort.*"]},
        {"approximate": True, "notes": "Retries are not counted."},
        {"approximate": False},
        *({name: [], **LEVELLED} for name in BY_LEVELS),
        {"sameLevel": "all-apply", "strategy": "Atomic defaults", "stanzas": "none"},
    ],
)
def test_fields_that_belong_together(fields: dict[str, Any]) -> None:
    assert found(**fields) == []


def test_everything_can_be_said_at_once() -> None:
    """No field excludes another one that does not say so: level by level is another way than policy by policy."""
    assert list(contradictions(copy.deepcopy(dict(policy_by_policy())))) == []
    levelled = {name: FIELDS[name] for name in BY_LEVELS}
    assert found(**levelled, **LEVELLED) == []
    assert FIELDS["attachment"] == "references"
