"""Who owns a field, by what an API server recorded in `managedFields`."""

from __future__ import annotations

import pytest

from kubectl_policy.model import FieldPath, Json
from kubectl_policy.model.authorship import Authorship, field_owner

EARLY, LATE = "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"
OWN: dict[str, Json] = {
    ".": {},
    "f:time": {},
    "f:whole": {},
    "f:tries": {".": {}, "f:max": {}},
    "f:rules": {
        ".": {},
        'k:{"name":"b"}': {".": {}, "f:name": {}, "f:limit": {}},
        'v:"x"': {},
        "i:2": {},
        "k:[": {},
        "k:1": {},
        "z:1": {},
    },
    "f:odd": "text",
}
SPEC: Json = {
    "time": "5s",
    "whole": {"a": {"b": 1}},
    "tries": {"max": 3, "min": 1},
    "rules": [{"name": "a", "limit": 1}, {"name": "b", "limit": 2}, 7, "x", "y"],
    "odd": {"a": 1},
}


def entry(manager: str, time: str, fields: Json) -> Json:
    return {"manager": manager, "time": time, "fieldsType": "FieldsV1", "fieldsV1": fields}


RAW: Json = {"metadata": {"managedFields": [entry("kubectl", EARLY, {"f:spec": OWN})]}, "spec": SPEC}


@pytest.mark.parametrize(
    ("path", "owned"),
    [
        ("spec.time", True),
        ("spec.whole", True),
        ("spec.whole.a.b", True),
        ("spec.tries", True),
        ("spec.tries.max", True),
        ("spec.tries.min", False),
        ("spec.rules", True),
        ("spec.rules[0].limit", False),
        ("spec.rules[1].limit", True),
        ("spec.rules[2]", True),
        ("spec.rules[3]", True),
        ("spec.rules[4]", False),
        ("spec.rules[9]", False),
        ("spec.tries[0]", False),
        ("spec.odd.a", False),
        ("spec.time.x", True),
        ("status", False),
        ("", False),
    ],
)
def test_who_owns_a_field(path: str, owned: bool) -> None:  # noqa: FBT001 (a table)
    """The field itself, or something that it is in as a whole; items are known by their keys, values or places."""
    expected = Authorship(who="kubectl", when=EARLY) if owned else None
    assert field_owner(RAW, FieldPath.parse(path).steps) == expected


def test_the_last_of_several_owners_counts() -> None:
    fields: Json = {"f:spec": {"f:time": {}}}
    managers: Json = [entry("late", LATE, fields), entry("early", EARLY, fields)]
    raw: Json = {"metadata": {"managedFields": managers}, "spec": SPEC}
    assert field_owner(raw, ("spec", "time")) == Authorship(who="late", when=LATE)


def test_nobody_is_recorded() -> None:
    """Manifests as they are written have no managers; and what has another shape is none."""
    assert field_owner({"spec": SPEC}, ("spec", "time")) is None
    assert field_owner({"metadata": {"managedFields": [{"fieldsV1": 1}, 2]}}, ("spec", "time")) is None
