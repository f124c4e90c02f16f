"""Policies that filters of routes name, in every answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import pytest
from msgspec.structs import replace

from kubectl_policy import MergeStrategy, PolicyKindProfile, analyze
from kubectl_policy.model import GroupKind
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.profiles import TargetLevel
from kubectl_policy.questions.explain import NamedLevel, explain
from kubectl_policy.questions.lists import list_type
from kubectl_policy.questions.shared.selection import Selection
from kubectl_policy.render.explain.statements import explanation_text
from kubectl_policy.render.output.text import View, to_text
from tests import build
from tests.render.schema import VALIDATOR
from tests.render.shown import document_of, headline, shown
from tests.render.worlds import about, about_policy

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from kubectl_policy import Analysis
    from kubectl_policy.profiles.fields import SameLevel
    from tests.render.shown import Answer

COLOR: Final = GroupKind("example.com", "ColorPolicy")
HTTP_ROUTE: Final = GroupKind(GATEWAY_API, "HTTPRoute")
PROFILE: Final = PolicyKindProfile(
    COLOR,
    "inherited",
    "profile",
    filter_routes=frozenset({HTTP_ROUTE}),
    backend_filters=True,
    effective_targets=(TargetLevel(HTTP_ROUTE, section=True),),
    strategy=MergeStrategy.PATCH_DEFAULTS,
    stanzas="none",
    same_level="first-wins",
)
RULE: Final = build.target("r", "HTTPRoute", "buy")


def asked(profile: PolicyKindProfile = PROFILE, *, complete: bool = True, routes: bool = True) -> Analysis:
    """A rule whose filters name first and second, with a filter of its backendRef, and policies with references."""
    filters = [build.names(name) for name in ("first", "second")]
    backend = {**build.backend(), "filters": [build.names("single")]}
    return analyze(
        build.snapshot(
            build.gateway_class(),
            build.gateway(),
            build.service(),
            *([build.route(rules=[build.rule(backend, name="buy", filters=filters)])] if routes else []),
            build.policy("old", RULE, build.ON_ROUTE, age=1, a="old", b="old", c="old"),
            build.policy("wide", build.ON_ROUTE, age=2, b="wide", d="wide"),
            build.policy("second", age=3, a="second", b="second"),
            build.policy("first", age=4, a="first"),
            build.policy("single", age=5, a="single"),
            build.policy("spare", age=6, a="spare"),
            complete=complete,
        ),
        profiles=[profile],
    )


def tree(answer: Answer) -> str:
    return shown(answer, "tree", View())


def explained(analysis: Analysis) -> str:
    return to_text(explanation_text(explain(analysis, "colorpolicy"), View()), 100)


def test_the_tree_of_a_route(snapshot: SnapshotAssertion) -> None:
    assert tree(about(asked(), "HTTPRoute", "r")) == snapshot


def test_a_policy_with_two_targets_does_not_replace_itself() -> None:
    """The snapshot above has its text."""
    described = about(asked(), "HTTPRoute", "r")
    losers = {
        (setting.source.object, fate.source.object)
        for group in described.in_force
        for setting in group.settings
        for fate in setting.instead_of
    }
    assert losers
    assert not any(winner == loser for winner, loser in losers)


@pytest.mark.parametrize("name", ["first", "second", "single", "spare"])
def test_the_tree_of_a_policy(snapshot: SnapshotAssertion, name: str) -> None:
    assert tree(about_policy(asked(), name)) == snapshot


@pytest.mark.parametrize(
    ("strategy", "same_level", "phrase"),
    [
        ("Patch defaults", "first-wins", "instead of second, {second} (the earlier filter wins)"),
        ("Patch defaults", "first-wins", "instead of old, {old} (a filter's policy comes first)"),
        ("Patch defaults", "newest-challenges", "{first} (a filter's policy comes first, and the last one wins)"),
        ("Patch overrides", "first-wins", "instead of wide, {wide} (a filter's policy comes first)"),
        (
            "Atomic defaults",
            "one-applies",
            "{second} has no effect: b second (refused: of several on one target the first that a filter names",
        ),
    ],
)
def test_why_a_policy_is_beaten(strategy: str, same_level: SameLevel, phrase: str) -> None:
    """Not by its age, where a filter decides."""
    profile = replace(PROFILE, strategy=MergeStrategy(strategy), same_level=same_level)
    text = " ".join(tree(about(asked(profile), "HTTPRoute", "r")).split())
    # What has a heading of its own there is named without its target.
    targets = {"first": " → rule buy (by its filter)", "second": " → rule buy (by its filter)", "old": " → rule buy"}
    targets["wide"] = " → HTTPRoute default/r"
    short = {name: f"default/{name}" for name in targets}
    whole = {name: f"{short[name]}{target}" for name, target in targets.items()}
    assert phrase.format(**short) in text or phrase.format(**whole) in text


def test_a_row_for_each_policy() -> None:
    """Its target says that a filter names the policy; a reference of its own says nothing."""
    text = shown(list_type(asked(), "colorpolicies", Selection()), "table")
    targets = {line.split()[0]: line for line in text.splitlines()[1:]}
    assert "HTTPRoute default/r#buy (by its filter)" in targets["first"]
    assert "HTTPRoute default/r#buy (by a filter of its backendRef)" in targets["single"]
    assert "filter" not in targets["old"]


def test_a_row_for_each_target() -> None:
    """With the same words."""
    text = shown(about_policy(asked(), "first"), "table", View())
    assert "HTTPRoute default/r, rule buy (by its filter)" in text


def test_documents_say_which_filter() -> None:
    about_route, about_first = (
        json.loads(shown(answer, "json", View()))
        for answer in (about(asked(), "HTTPRoute", "r"), about_policy(asked(), "first"))
    )
    for document in (about_route, about_first, document_of(list_type(asked(), "colorpolicies", Selection()))):
        VALIDATOR.validate(document)
    (target,) = about_first["targets"]
    assert (target["declaredIn"], target["namedBy"]["name"]) == ("spec.rules[0].filters[0].extensionRef", "r")
    sources = {backend["field"]: backend["source"]["filter"] for backend in about_route["inForce"][0]["settings"]}
    assert sources == {"a": 1, "b": 2, "c": 0, "d": 0}


def test_routes_that_were_not_read() -> None:
    """A policy that nothing names, as far as is known, may be named by one of them."""
    answer = about_policy(asked(complete=False, routes=False), "spare")
    assert headline(answer) == (
        "Whether ColorPolicy default/spare has an effect is unknown: no HTTPRoute of namespace default that was"
        " read names it in a filter, and another one may."
    )
    assert [spot.what for spot in answer.unseen] == ["HTTPRoutes in namespace default"]
    assert "filters of HTTPRoutes   target unknown" in tree(answer)


def test_explaining_the_kind() -> None:
    text = " ".join(explained(asked()).split())
    assert "a filter of type ExtensionRef in a rule of an HTTPRoute can name a policy" in text
    assert "6 policies: an HTTPRoute (2 references); a rule of an HTTPRoute (4 references)" in text
    assert explain(asked(), "colorpolicy").targets == (
        NamedLevel(HTTP_ROUTE, references=2),
        NamedLevel(HTTP_ROUTE, section=True, references=4),
    )


def test_a_kind_that_filters_alone_attach() -> None:
    """Its target fields are none, and yet it is known how it attaches."""
    text = " ".join(explained(asked(replace(PROFILE, attachment="filters"))).split())
    assert "named in only filters of routes" in text
    assert "namespace the namespace of the policy" in text
    assert "claim nothing" not in text
