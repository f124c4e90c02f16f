"""Drafts of profiles: valid, of the same choices, with comments, and harmless whatever the input calls its kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_policy import Implementation, PolicyKindProfile, TargetLevel, analyze, load_profiles
from kubectl_policy.model import GroupKind, Origin
from kubectl_policy.model.kinds import KindNames
from kubectl_policy.profiles.contradictions import has_version
from kubectl_policy.profiles.load import ProfileFile, built_in_groups, built_in_profiles, profiles_in
from kubectl_policy.profiles.reading import problems
from kubectl_policy.questions.explain import Explanation, NamedLevel, explain
from kubectl_policy.render.explain.draft import draft
from kubectl_policy.text.configuration import read_configuration
from tests import build
from tests.profiles.everything import GATEWAY, KIND, ROUTE
from tests.profiles.everything import profile as everything

if TYPE_CHECKING:
    from pathlib import Path

ORIGIN: Final = Origin("f.yaml", 3)
TO_DO: Final = ("TODO: source of this information: repository, file and line, or URL",)
SHAPE: Final = PolicyKindProfile(
    KIND, "inherited", "shape", origin=ORIGIN, assumed=("being a policy", "class", "merge strategy")
)
BUILT_IN: Final = [profile for group in sorted(built_in_groups()) for profile in built_in_profiles(group).values()]


def answer(profile: PolicyKindProfile, *targets: TargetLevel) -> Explanation:
    """The answer about a kind whose policies name some targets."""
    names = KindNames(profile.group_kind, "retrypolicies")
    named = tuple(NamedLevel(level.group_kind, level.section, references=1) for level in targets)
    return Explanation(
        profile=profile,
        names=names,
        origin=profile.origin,
        defined=True,
        policies=len(targets),
        targets=named,
        unseen=(),
    )


def read(text: str) -> PolicyKindProfile:
    """The one profile in a draft, which is held to the schema."""
    value: Any = read_configuration(text, "draft.yaml", "").value
    assert list(problems(value, ProfileFile)) == []
    (profile,) = profiles_in(value, ORIGIN)
    return profile


def choices(profile: PolicyKindProfile) -> PolicyKindProfile:
    """A profile without where it came from and what else its file says, with the strategy it would have by default."""
    strategy = profile.default_strategy if profile.target_fields else profile.strategy
    return replace(
        profile,
        known_by="profile",
        strategy=strategy,
        settings={},
        evidence=profile.evidence or TO_DO,
        origin=None,
        delegation=None,
        gateways=None,
        backends={},
        routes={},
        assumed=(),
    )


@pytest.mark.parametrize(
    "profile",
    [everything(ORIGIN), SHAPE, replace(SHAPE, policy_class="direct", known_by="label", stanzas="plural")],
    ids=lambda profile: f"{profile.group_kind} {profile.known_by}",
)
def test_a_draft_makes_the_same_choices(profile: PolicyKindProfile) -> None:
    """Written and read again, nothing has changed but where it is from."""
    assert choices(read(draft(answer(profile), unicode=True))) == choices(profile)


@pytest.mark.parametrize("settings", [{}, {"kgateway.referenceGrantMode": "strict"}], ids=str)
def test_every_draft_loads_and_says_the_same(settings: dict[str, str], tmp_path: Path) -> None:
    """Of every built-in kind, under the same settings: what the command line prints, `--profiles` reads."""
    path = tmp_path / "draft.yaml"
    implementation = Implementation(settings=settings)
    for built_in in BUILT_IN:
        name = str(built_in.group_kind)
        before = explain(analyze(build.snapshot(), implementation=implementation), name).profile
        path.write_text(draft(explain(analyze(build.snapshot(), implementation=implementation), name), unicode=True))
        known = analyze(build.snapshot(), profiles=load_profiles(path), implementation=implementation)
        assert choices(explain(known, name).profile) == choices(before), name


def test_it_can_be_used_as_it_is(tmp_path: Path) -> None:
    """As a profile file, which beats what the draft was made of and assumes nothing."""
    path = tmp_path / "draft.yaml"
    snapshot = build.snapshot(build.policy("p", build.ON_GATEWAY))
    path.write_text(draft(explain(analyze(snapshot), "colorpolicy"), unicode=True), "utf-8")
    profile = explain(analyze(snapshot, profiles=load_profiles(path)), "colorpolicy")
    assert (profile.profile.known_by, profile.profile.assumed, profile.profile.evidence) == ("profile", (), TO_DO)
    assert profile.origin == Origin(str(path), 6)


def test_what_policies_name_is_written_down() -> None:
    """Each kind once, also where a section of it is named; a group with a version would make the file invalid."""
    odd = TargetLevel(GroupKind("gateway.networking.k8s.io/v1", "Gateway"))
    levels = (TargetLevel(ROUTE), TargetLevel(ROUTE, section=True), TargetLevel(GATEWAY), odd)
    assert read(draft(answer(SHAPE, *levels), unicode=True)).declared_targets == {GATEWAY, ROUTE}
    known = replace(SHAPE, declared_targets=frozenset({ROUTE}))
    assert read(draft(answer(known, TargetLevel(GATEWAY)), unicode=True)).declared_targets == {ROUTE}
    assert "declaredTargets" not in draft(answer(SHAPE, odd), unicode=True)


def test_maps_of_plain_values_become_whole_fields() -> None:
    """Of the experimental text's stanzas a schema says which fields are maps; a file has no other way to say it."""
    maps = frozenset({"default.labels", "override.deep.map", "labels", "default"})
    profile = replace(SHAPE, stanzas="singular", map_fields=maps, whole_fields=frozenset({"own"}))
    assert read(draft(answer(profile), unicode=True)).whole_fields == {"labels", "deep.map", "own"}
    assert read(draft(answer(replace(profile, stanzas="none")), unicode=True)).whole_fields == {"own"}


def test_a_kind_whose_attaching_is_not_computed() -> None:
    """Its draft says no more than that."""
    text = draft(
        answer(PolicyKindProfile(KIND, "inherited", "profile", attachment="none", origin=ORIGIN)), unicode=True
    )
    assert list(yaml.safe_load(text)["kinds"]["RetryPolicy"]) == ["class", "attachment", "evidence"]


def test_comments_say_what_is_assumed_and_what_may_be_written() -> None:
    lines = draft(answer(SHAPE, TargetLevel(GATEWAY)), unicode=True).splitlines()
    assert lines[0] == "# RetryPolicy.example.com, from its target references, f.yaml:3."
    above_class = lines[lines.index("    class: inherited") - 4 : lines.index("    class: inherited")]
    assert above_class[0].startswith("    # direct: a policy changes only its target.")
    assert above_class[1].startswith("    # Assumed. ")
    assert lines[lines.index("    effectiveTargets: []") - 1] == (
        "    # [{group: gateway.networking.k8s.io, kind: HTTPRoute, section: true}]"
    )
    known = draft(answer(everything(ORIGIN), TargetLevel(GATEWAY)), unicode=True)
    assert known.startswith("# RetryPolicy.example.com, from f.yaml:3.\n")
    assert "Assumed" not in known
    assert "Where policies change behavior" not in known
    direct = draft(answer(replace(SHAPE, policy_class="direct", known_by="label")), unicode=True)
    assert "empty: at the target itself." in direct
    assert direct.startswith("# RetryPolicy.example.com, from the label of its definition, f.yaml:3.\n")


NAMES: Final = st.one_of(
    st.sampled_from(
        ["a\nb: c", "N", "1e3", "x: {y", "# no", "- ", "? x", "\x1b[2J", "\u202e\u2028", "a" * 200, "on", "1", "~", "'"]
    ),
    st.text(min_size=1).filter(lambda text: all(not "\ud800" <= letter <= "\udfff" for letter in text)),
)


@given(group=NAMES, kind=NAMES, source=NAMES, unicode=st.booleans())
def test_names_from_the_input_do_no_harm(group: str, kind: str, source: str, *, unicode: bool) -> None:
    """A kind, a group and a file called anything come out as they are, or as comments; no line obeys a terminal."""
    profile = replace(SHAPE, group_kind=GroupKind(group, kind), origin=Origin(source, 1))
    target = GroupKind(group, kind)
    text = draft(answer(profile, TargetLevel(target)), unicode=unicode)
    assert all(line.isprintable() for line in text.split("\n"))
    assert unicode or all(line.isascii() for line in text.split("\n") if not line.startswith("#"))
    again = read(text)
    assert again.group_kind == profile.group_kind
    assert again.declared_targets == ({target} if not has_version(group) else set())
