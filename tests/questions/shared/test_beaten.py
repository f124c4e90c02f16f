"""What a policy loses to another one: what that one sets, or that it replaces the whole; and whose strategy decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.profiles import MergeStrategy
from kubectl_policy.profiles.merging import PortField, SharedField
from kubectl_policy.questions.why_not.answer import why_not
from tests import build
from tests.questions.why_not.causes import ON_GATEWAY, ON_ROUTE, POLICY, ROUTE, profiled, usual
from tests.render.worlds import defaults

if TYPE_CHECKING:
    from kubectl_policy.analysis import Analysis

OTHER = "ColorPolicy default/o → HTTPRoute default/r"
CHOOSING = {"strategy_field": "spec.mode", "strategy_values": {"Merge": MergeStrategy.PATCH_DEFAULTS}}


def first(analysis: Analysis) -> str:
    """The words of the first reason why ColorPolicy `p` has no effect on HTTPRoute `r`."""
    return why_not(analysis, POLICY, ROUTE).reasons[0].message


def test_what_replaces_the_whole_sets_none_of_its_fields() -> None:
    """A policy without `jwt` beats one that sets it, whichever of the two chooses that."""
    cors, jwt = build.policy("o", ON_ROUTE, cors="*"), build.policy("p", ON_GATEWAY, jwt={"issuer": "a"})
    assert first(usual(cors, jwt, profile=profiled(**CHOOSING))) == f"{OTHER} is nearer and replaces all of it"
    atomic = profiled(strategy=MergeStrategy.ATOMIC_DEFAULTS)
    assert first(usual(cors, jwt, profile=atomic)) == f"{OTHER} is nearer and replaces all of it"


def test_what_merges_sets_what_it_sets() -> None:
    """The same field, or what it is in, where it has a map and the other one a value."""
    merging = profiled(strategy=MergeStrategy.PATCH_DEFAULTS)
    nearer = build.policy("o", ON_ROUTE, jwt="none", color="red")
    below = build.policy("p", ON_GATEWAY, jwt={"issuer": "a", "keys": "b"}, color="blue")
    assert first(usual(nearer, below, profile=merging)) == f"{OTHER} sets jwt, color instead, and is nearer"
    whole = profiled(strategy=MergeStrategy.PATCH_DEFAULTS, whole_fields=frozenset({"jwt"}))
    mapped = build.policy("o", ON_ROUTE, jwt={"keys": "c"}, color="red")
    assert first(usual(mapped, below, profile=whole)) == f"{OTHER} sets jwt, color instead, and is nearer"


def test_on_one_target() -> None:
    """The same is said of a policy there."""
    stays = usual(
        build.policy("o", ON_ROUTE, age=2, defaults={"b": 1}), build.policy("p", ON_ROUTE, age=1, defaults={"a": 2})
    )
    assert first(stays) == "ColorPolicy default/o → HTTPRoute default/r, on the same target, replaces all of it"


def test_a_merge_that_does_not_count() -> None:
    """Of two, the one further up decides: if it is atomic, that the nearer one merges changes nothing."""
    nearer = build.policy("o", ON_ROUTE, age=2, defaults={"strategy": "patch", "b": 1})
    analysis = usual(nearer, build.policy("p", ON_GATEWAY, age=1, defaults={"a": 2}))
    assert first(analysis) == (
        f"{OTHER} is nearer and replaces all of it; its merge does not count: "
        "ColorPolicy default/p further up is atomic and decides"
    )
    beside = usual(nearer, build.policy("p", ON_ROUTE, age=1, defaults={"a": 2}))
    assert first(beside).endswith("its merge does not count: ColorPolicy default/p is atomic and decides")
    without = usual(
        build.policy("o", ON_ROUTE, age=2, defaults={"b": 1}), build.policy("p", ON_GATEWAY, age=1, defaults={"a": 2})
    )
    assert first(without) == f"{OTHER} is nearer and replaces all of it"


def test_where_the_nearer_one_chooses_there_is_nothing_to_explain() -> None:
    """It replaces what is further up, or merges with it, as it says."""
    nearer, above = build.policy("o", ON_ROUTE, cors="*"), build.policy("p", ON_GATEWAY, mode="Merge", jwt="a")
    analysis = usual(nearer, above, profile=profiled(chooser="challenger", **CHOOSING))
    assert first(analysis) == f"{OTHER} is nearer and replaces all of it"


def test_an_override_says_whether_it_takes_all_or_some() -> None:
    """One that merges takes the fields that it has."""
    above = build.policy("o", ON_GATEWAY, overrides={"strategy": "patch", "a": 1})
    merging = usual(above, defaults("p", ON_ROUTE, a=2))
    assert first(merging) == "ColorPolicy default/o → Gateway default/g overrides a from above"


def test_what_is_said_of_a_port_stands_instead_of_what_is_said_of_all() -> None:
    """The other policy does not set the field that it beats."""
    profile = profiled(
        strategy=MergeStrategy.PATCH_DEFAULTS,
        shared_fields=(SharedField(field="ports", within=("level",), by="[n]"),),
        port_field=PortField("ports", "n", "all"),
    )
    of_all = build.policy("p", build.target("g", section="http"), all={"b": 2})
    of_port = build.policy("o", ON_GATEWAY, ports=[{"n": 80, "a": 1}])
    by = "ColorPolicy default/o → Gateway default/g sets ports for this port, which stands instead"
    assert first(usual(of_all, of_port, profile=profile)) == by


def test_a_field_for_all_and_one_for_a_port() -> None:
    """Both stand instead; the second one sets nothing of what it beats, so that what goes is named."""
    profile = profiled(
        strategy=MergeStrategy.PATCH_DEFAULTS,
        shared_fields=(SharedField(field="ports", within=("level",), by="[n]"),),
        port_field=PortField("ports", "n", "all"),
    )
    of_all = build.policy("p", ON_GATEWAY, a=1, all={"b": 2})
    nearer = build.policy("o", ON_ROUTE, a=2, ports=[{"n": 80, "b": 1}])
    assert first(usual(of_all, nearer, profile=profile)) == f"{OTHER} replaces a, all.b instead, and is nearer"
