"""Rules of profiles about values of settings."""

from __future__ import annotations

from typing import Any, Final

import pytest

from kubectl_policy import analyze
from kubectl_policy.attachment.validity import policy_failure
from kubectl_policy.attachment.values import wrong_value
from kubectl_policy.model import Gap, GroupKind, Json
from kubectl_policy.model.kind_roles import GRPC_ROUTE, HTTP_ROUTE
from kubectl_policy.profiles import PolicyKindProfile
from kubectl_policy.profiles.values import RequiredSetting, ValueRule
from tests.build import index, policy, snapshot

UNITS: Final = {"Second": 1, "Minute": 60, "Hour": 3600}


def rule(field: str = "spec.a", **choices: Any) -> ValueRule:  # noqa: ANN401 (any choice of a rule)
    return ValueRule(fields=(field,), **choices)


def broken(value: Json, tested: ValueRule) -> str:
    """What a policy with a value under `spec.a` breaks."""
    return wrong_value(policy("p", a=value), [tested])[0].removeprefix("spec.a ")


@pytest.mark.parametrize(
    ("form", "right", "wrong"),
    [
        ("duration", ["1h30m", "1.5s", "0", "-2ms", "10us"], ["10mib", "10", "", "1 s", True]),
        ("quantity", ["16Ki", "1G", "0.5k", 7, "1e3", "2E"], ["500m", "1.5", "x", "1..2", "K", "", None]),
        ("cidr", ["10.0.0.0/8", "10.1.2.3/8", "::/0"], ["10.0.0.0", "10.0.0.0/33", "x/8"]),
        ("network", ["10.0.0.0/8", "10.1.2.3", "::/0"], ["10.1.0.0/8", "10.0.0.0/33", "x"]),
        ("address", ["10.0.0.1", "2001:db8::1"], ["127.0.0.1", "::1", "10.0.0.0/8", "x"]),
        ("domain", ["a.example.com", "1.b"], ["localhost", "10.0.0.1", "A.b", "a..b", f"a.{'b' * 252}"]),
        ("headerName", ["x-a", "X_b"], ["", "a/b", "a:b"]),
        ("headerValue", ["a b", "%START_TIME%"], ["", " a", "a\n"]),
        ("path", ["/", "/a-b/c"], ["", "a", "/a b", "/a;b", "/a}"]),
        ("pattern", ["^/a(.*)$", r"\\Qx\\E", "x" * 3_000], ["", "(", "[a", "a)", "*", "a\\"]),
        ("text", ["x"], [""]),
    ],
)
def test_forms(form: Any, right: list[Json], wrong: list[Json]) -> None:  # noqa: ANN401 (one of the forms)
    tested = rule(form=form)
    assert {str(value): broken(value, tested) for value in right} == dict.fromkeys(map(str, right), "")
    unset = [value for value in wrong if value is None]
    assert all(broken(value, tested) for value in wrong if value is not None)
    assert [broken(value, tested) for value in unset] == [""] * len(unset)
    assert broken("${VALUE}", tested) == ""


@pytest.mark.parametrize(
    ("value", "choices", "problem"),
    [
        ("100G", {"least": 0, "most": 4294967295}, "100G is more than 4294967295"),
        ("512", {"least": 1024}, "512 is less than 1024"),
        (200, {"excludes": (200,)}, "cannot be 200"),
        (201, {"excludes": (200,)}, ""),
        ("A", {"only": ("A", "B")}, ""),
        ("C", {"only": ("A", "B")}, "cannot be C, only A, B"),
        (["A", "B"], {"max_items": 1}, "has 2 elements, and can have 1"),
        (["A"], {"max_items": 1}, ""),
        (True, {"least": 5}, ""),
        ("word", {"least": 5}, ""),
        ({"mode": "on"}, {"requires": ("refs", "mode")}, "does not set refs"),
        ({"refs": ["x"]}, {"requires": ("refs",)}, ""),
        ("", {"form": "headerName"}, '"" is not a header name'),
        ("x\n", {"form": "headerValue"}, '"x\\\\n" is not a header value'),
    ],
)
def test_limits(value: Json, choices: dict[str, Any], problem: str) -> None:
    assert broken(value, rule(**choices)) == problem.replace("\\\\", "\\")


def test_a_limit_per_unit_of_time() -> None:
    """The least value is one for each second."""
    tested = rule("spec.limits.value", form="quantity", least=1024, unit="unit", units=UNITS)
    limits: list[Json] = [{"value": "1Ki", "unit": "Second"}, {"value": "1Ki", "unit": "Minute"}]
    found = wrong_value(policy("p", limits=limits), [tested])
    assert found == ("spec.limits[1].value 1Ki is less than 61440", False)
    assert wrong_value(policy("p", limits=[*limits[:1], {"value": 2048}]), [tested]) == ("", False)


def test_one_of_several_limits_is_the_default() -> None:
    tested = rule(default_without="selectors", units=UNITS, competes=True)

    def limit(unit: str, **more: Json) -> Json:
        return {"limit": {"requests": 1, "unit": unit}, **more}

    minute, chosen = limit("Minute"), limit("Hour", selectors=["x"])
    assert broken([minute, chosen], tested) == ""
    assert broken([chosen], tested) == ""
    assert broken([minute, minute], tested) == "has 2 limits without selectors, and may have one"
    found = wrong_value(policy("p", a=[limit("Hour"), limit("Minute", selectors=["x"])]), [tested])
    assert found == ("spec.a has a limit per Minute, which is no multiple of Hour, the unit of the default", True)


def test_a_rule_for_some_targets() -> None:
    tested = rule(targets=frozenset({GRPC_ROUTE}), excludes=(200,))
    answers = policy("p", a=200)
    assert wrong_value(answers, [tested], GRPC_ROUTE)[0] == "spec.a cannot be 200"
    assert wrong_value(answers, [tested], HTTP_ROUTE)[0] == wrong_value(answers, [tested])[0] == ""


SIZES: Final = PolicyKindProfile(
    GroupKind("example.com", "ColorPolicy"),
    "inherited",
    "profile",
    required_settings=(
        RequiredSetting(
            field="spec.places", group="example.com", kind="PlacePolicy", other_field="find", competes=True
        ),
    ),
)


def test_a_setting_that_needs_another_kind_of_policy() -> None:
    """It is enough that one policy sets it; what was not read may set it."""
    colored, finding = policy("p", places=["x"]), policy("q", kind="PlacePolicy", find="x")
    failure = policy_failure(colored, SIZES, index(colored, complete=True))
    assert failure
    assert (failure.state, failure.competes) == ("policy invalid", True)
    assert failure.message == "spec.places[0] needs a PlacePolicy that sets find, and there is none"
    assert policy_failure(colored, SIZES, index(colored, finding, complete=True)) is None
    assert policy_failure(colored, SIZES, index(colored)) is None
    assert policy_failure(policy("p", other=1), SIZES, index(colored, complete=True)) is None
    hidden = Gap("PlacePolicy", "default", "forbidden")
    assert policy_failure(colored, SIZES, index(colored, complete=True, gaps=[hidden])) is None
    assert analyze(snapshot(colored, complete=True)).attachments is not None
