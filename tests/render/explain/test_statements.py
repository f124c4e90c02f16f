"""Explanations of policy kinds, statement by statement, and drafts of profiles."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, get_args

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_policy import Implementation, MergeStrategy, PolicyKindProfile, TargetLevel, analyze, load_profiles
from kubectl_policy.model import Gap, GroupKind, Origin
from kubectl_policy.model.kind_roles import SERVICE
from kubectl_policy.model.kinds import KindNames
from kubectl_policy.profiles.contradictions import has_version
from kubectl_policy.profiles.controllers import EVENTS, STANDARD_STATUS, ConditionWords, Event, StatusProfile
from kubectl_policy.profiles.load import ProfileFile, built_in_groups, built_in_profiles, profiles_in
from kubectl_policy.profiles.merging import Variant
from kubectl_policy.profiles.reading import problems
from kubectl_policy.questions.explain import Explanation, NamedLevel, explain
from kubectl_policy.render.explain.draft import draft
from kubectl_policy.render.explain.statements import explanation_headline, explanation_text, sayings, statements
from kubectl_policy.render.output.encoding import as_yaml
from kubectl_policy.render.output.text import View, to_text
from kubectl_policy.text.configuration import read_configuration
from tests import build
from tests.profiles.everything import GATEWAY, KIND, ROUTE
from tests.profiles.everything import profile as everything
from tests.render.schema import VALIDATOR
from tests.render.shown import as_json, document_of

if TYPE_CHECKING:
    from pathlib import Path

    from syrupy.assertion import SnapshotAssertion

FULL: Final = everything(Origin("f.yaml", 3))


def answer(profile: PolicyKindProfile, **changes: Any) -> Explanation:  # noqa: ANN401 (any field of the answer)
    kind = profile.group_kind
    names = KindNames(kind, f"{kind.kind.lower()}s", profile.short_names)
    return replace(
        Explanation(
            profile=profile, names=names, origin=profile.origin, defined=True, policies=0, targets=(), unseen=()
        ),
        **changes,
    )


def text(explanation: Explanation, view: View | None = None) -> str:
    return to_text(explanation_text(explanation, view or View()), (view or View()).width)


def blank(**changes: Any) -> PolicyKindProfile:  # noqa: ANN401 (any field of the profile)
    return PolicyKindProfile(KIND, changes.pop("policy_class", "inherited"), "profile", **changes)


# What another value of a field is, where the profile that says everything has none for it.
OTHERS: Final[dict[str, Any]] = {
    "known_by": "label",
    "attachment": "partly",
    "map_fields": frozenset({"default.labels"}),
    "assumed": ("class",),
}


def said(profile: PolicyKindProfile, label: str) -> list[str]:
    return [statement.text for statement in statements(answer(profile)) if statement.label == label]


# What a profile has of its file that is not about its kind.
# What the same file says of more than this kind, and what is said of variants of it alone.
OF_THE_FILE = {
    *("delegation", "gateways", "backends", "route_parents", "routes", "route_settings"),
    *("counting_fields", "other_fields"),
}


DEFAULTS: Final = dict(
    zip(reversed(PolicyKindProfile.__struct_fields__), reversed(PolicyKindProfile.__struct_defaults__), strict=False)
)


@pytest.mark.parametrize("field", [name for name in PolicyKindProfile.__struct_fields__ if name not in OF_THE_FILE])
def test_every_field_of_a_profile_is_said(field: str) -> None:
    """A field that nobody puts into words is one that nobody knows of: whatever is not as by default shows."""
    default = DEFAULTS.get(field)
    plain = blank(strategy_field="spec.mode", stanzas="plural", notes="n")
    value = OTHERS.get(field, getattr(FULL, field))
    if field == "group_kind":
        value = GroupKind("other.com", "OtherPolicy")
    elif field == "policy_class":
        value = "direct"
    elif field == "backend_filters":
        plain = blank(filter_routes=frozenset({ROUTE}))
    elif field in {"strategy_field", "stanzas", "notes", "map_fields"}:
        plain = blank()
    assert value != default
    assert text(answer(replace(plain, **{field: value}))) != text(answer(plain))


def test_every_field_about_the_kind_is_in_the_table() -> None:
    """But for what the headings and the last parts of the answer say."""
    elsewhere = {
        "group_kind",
        "known_by",
        "short_names",
        "evidence",
        "notes",
        "notes_on",
        "approximate",
        "origin",
        "assumed",
    }
    rows = {field for _, (_, fields_of_row, _) in sayings(FULL) for field in fields_of_row}
    assert rows == {*PolicyKindProfile.__struct_fields__} - elsewhere - OF_THE_FILE


def test_every_event_is_put_into_words() -> None:
    assert list(EVENTS) == list(get_args(Event))


class TestMerging:
    @pytest.mark.parametrize(
        ("strategy", "upper", "together"),
        [
            ("None", "the policy further up is kept, and the", "the older policy is kept, and the"),
            ("Atomic defaults", "the nearer policy replaces the other", "the newer policy replaces the other"),
            ("Atomic overrides", "the policy further up replaces the other", "the older policy replaces the other"),
            ("Patch defaults", "field by field, the nearer policy wins", "field by field, the newer policy wins"),
            ("Patch overrides", "field by field, the policy further up wins", "field by field, the older policy wins"),
            (
                "Strategic merge",
                "field by field, the nearer policy wins; lists",
                "field by field, the newer policy wins; lists",
            ),
            ("All apply", "both policies apply", "both policies apply"),
        ],
    )
    def test_each_strategy(self, strategy: str, upper: str, together: str) -> None:
        profile = blank(strategy=MergeStrategy(strategy))
        assert said(profile, "on two levels")[0].startswith(upper)
        assert said(profile, "on one target")[0].startswith(together)

    @pytest.mark.parametrize(
        ("strategy", "expected"),
        [
            ("None", "the older policy is kept, and the other policy is refused"),
            ("Atomic defaults", "the older policy replaces the other policy as a whole"),
            ("Patch overrides", "field by field, the older policy wins"),
            ("Patch defaults", "field by field, the older policy wins"),
            ("Strategic merge", "field by field, the older policy wins; lists merge by key"),
        ],
    )
    def test_the_first_wins(self, strategy: str, expected: str) -> None:
        """On one target, also by the experimental text, whose stanzas say nothing else."""
        profile = blank(strategy=MergeStrategy(strategy), same_level="first-wins")
        assert said(profile, "on one target") == [expected]
        assert said(replace(profile, same_level=None, stanzas="singular"), "on one target") == [expected]

    def test_one_alone_applies(self) -> None:
        """Whatever the strategy."""
        profile = blank(strategy=MergeStrategy.PATCH_DEFAULTS, same_level="one-applies")
        assert said(profile, "on one target") == ["the older policy applies, and the other policy is refused"]

    def test_a_direct_kind_has_nothing_above(self) -> None:
        """Its policies count at their target alone."""
        profile = blank(policy_class="direct")
        assert said(profile, "on two levels") == []
        assert said(profile, "on sections") == ["a policy on a section replaces the policy on the whole object"]
        assert said(replace(profile, sections="refine"), "on sections")[0].startswith("a policy on a section adds to")

    def test_a_challenger_cannot_be_beaten_from_above(self) -> None:
        """Where it chooses, it merges or replaces."""
        profile = blank(strategy=MergeStrategy.PATCH_OVERRIDES, chooser="challenger")
        assert said(profile, "on two levels") == ["the nearer policy replaces the other policy as a whole"]
        merging = replace(profile, strategy=MergeStrategy.PATCH_DEFAULTS)
        assert said(merging, "on two levels") == ["field by field, the nearer policy wins"]

    def test_values_of_a_field(self) -> None:
        profile = blank(strategy_field="spec.mode", strategy_values={"Deep": MergeStrategy.PATCH_DEFAULTS})
        assert said(profile, "strategy field") == [
            "spec.mode of each policy (Deep: field by field, the nearer policy wins)"
        ]
        assert said(replace(profile, strategy_values={}), "strategy field") == [
            "spec.mode of each policy (the name of a strategy, such as AtomicDefaults or PatchOverrides)"
        ]
        assert said(profile, "on two levels") == [
            "unless a policy chooses otherwise, the nearer policy replaces the other policy as a whole"
        ]

    def test_units(self) -> None:
        profile = blank(whole_fields=frozenset({"*", "labels", "limits.*", "rules[name]"}))
        assert said(profile, "as one unit") == [
            "each field, labels, each entry of limits and each element of rules, by its name"
        ]

    def test_the_fold(self) -> None:
        assert said(blank(fold="top-down"), "three policies") == ["the two policies furthest up combine first"]
        assert said(blank(fold="bottom-up"), "three policies")[0].startswith(
            "the two nearest policies combine first, so"
        )

    @pytest.mark.parametrize(
        ("changes", "expected"),
        [
            ({"merges_with": "closest"}, ["the closest policy above it"]),
            ({"merge_parents": FULL.merge_parents}, ["every policy above it on a Gateway"]),
            ({}, []),
        ],
    )
    def test_with_whom_one_merges(self, changes: dict[str, Any], expected: list[str]) -> None:
        assert said(blank(**changes), "merges with") == expected

    def test_what_differs_elsewhere(self) -> None:
        """Kinds of which the same is true are named together; those where nothing differs are not named."""
        profile = blank(strategy=MergeStrategy.PATCH_DEFAULTS, whole_fields=frozenset({"labels"}))
        none, same = (frozenset[str](), profile.whole_fields)
        variants = [Variant(targets=frozenset({kind}), whole_fields=none) for kind in (ROUTE, SERVICE)]
        profile = replace(profile, variants=(*variants, Variant(targets=frozenset({GATEWAY}), whole_fields=same)))
        assert said(profile, "exceptions") == ["At an HTTPRoute or a Service, as one unit: nothing"]


class TestTargets:
    def test_kinds_with_sections(self) -> None:
        """Only of these does a sectionName name something."""
        profile = blank(declared_targets=frozenset({ROUTE, GATEWAY}))
        assert said(profile, "target kinds") == [
            "a Gateway or an HTTPRoute; sectionName, if set, names one listener or rule of the object"
        ]
        assert said(blank(declared_targets=frozenset({GroupKind("", "Namespace")})), "target kinds") == ["a Namespace"]
        assert said(blank(), "target kinds")[0].endswith("names one listener, rule or port of the object")

    @pytest.mark.parametrize(
        ("cross_namespace", "grant_required", "expected"),
        [
            (False, True, "only the namespace of the policy"),
            (None, True, "the namespace of the policy; another namespace if a ReferenceGrant permits it"),
            (True, False, "the namespace of the policy; another namespace without a ReferenceGrant"),
        ],
    )
    def test_namespaces(self, *, cross_namespace: bool | None, grant_required: bool, expected: str) -> None:
        """Its own, or others too."""
        profile = blank(cross_namespace=cross_namespace, grant_required=grant_required)
        assert said(profile, "namespace") == [expected]

    def test_levels(self) -> None:
        assert said(FULL, "takes effect") == [
            "at a Service, or a rule of an HTTPRoute; if a path has several, at the last"
        ]
        assert said(blank(policy_class="direct"), "takes effect") == ["at its target"]

    @pytest.mark.parametrize(
        ("fields", "expected"),
        [
            ((), []),
            (("jwt",), ["removing jwt removes a protection"]),
            (("perPort.*.tls", "acl", "jwt"), ["removing acl, jwt or perPort.*.tls removes a protection"]),
            (("*",), ["removing any field removes a protection"]),
        ],
    )
    def test_fields_that_protect(self, fields: tuple[str, ...], expected: list[str]) -> None:
        assert said(blank(security_fields=frozenset(fields)), "security") == expected

    def test_a_kind_whose_attaching_is_not_computed(self) -> None:
        """Of it only what somebody has said: the defaults would claim something."""
        profile = blank(attachment="none", declared_targets=frozenset({GroupKind("", "Pod")}))
        explanation = answer(profile)
        assert [statement.label for statement in statements(explanation)] == ["named in", "target kinds", "reach"]
        assert explanation_headline(explanation).endswith(
            "attachment is not computed, so answers claim nothing about what its policies affect."
        )
        assert document_of(explanation)["defaultStrategy"] is None
        assert said(replace(profile, cross_namespace=False), "namespace") == ["only the namespace of the policy"]


class TestReports:
    def test_nothing(self) -> None:
        profile = blank(status=StatusProfile(placement="targets", conditions={}))
        assert said(profile, "conditions") == ["no known conditions"]

    def test_a_condition_for_several_events(self) -> None:
        same = ConditionWords("Accepted", "False", "No")
        narrowed, also = ConditionWords("Narrow", "True", "Yes"), ConditionWords("Whole", "False", "No")
        conditions: dict[Event, tuple[ConditionWords, ...]] = {
            "invalid": (same,),
            "conflicted": (same,),
            "narrowed": (narrowed, also),
        }
        profile = blank(status=StatusProfile(placement="policy", conditions=conditions))
        assert said(profile, "conditions")[1:] == [
            "Accepted False (No) if the policy is invalid or another policy already has the target",
            "Narrow True (Yes) if policies further down have targets of their own",
            "Whole False (No) if policies further down have targets of their own",
        ]
        narrower = replace(profile, status=replace(profile.status, narrowed_by="targets"))
        assert said(narrower, "conditions")[2] == "Narrow True (Yes) if policies further down take effect instead of it"

        named = replace(profile, status=replace(profile.status, target_annotation="example.io/retry"))
        assert said(named, "conditions")[-1] == (
            "the annotation example.io/retry of a target names the policies attached to it"
        )

    def test_other_controllers(self) -> None:
        assert said(FULL, "other controllers")[0].startswith(
            "by example.com/other, in status.ancestors of the policy, one"
        )
        assert len(said(FULL, "other controllers")) == 1 + len({*STANDARD_STATUS.conditions.values()})


LABEL: Final = {"gateway.networking.k8s.io/policy": "inherited"}
HOSTILE: Final = "\x1b[31mred\u202e\n# x: [y]\r\u2028z"


class TestAnswer:
    def test_everything(self, snapshot: SnapshotAssertion) -> None:
        assert text(answer(FULL)) == snapshot

    def test_a_shape(self, snapshot: SnapshotAssertion) -> None:
        policies = (build.policy("p", build.ON_GATEWAY), build.policy("q", build.target("r", "HTTPRoute", "x")))
        explanation = explain(
            analyze(build.snapshot(*policies, gaps=[Gap("", "", "broken", Origin("bad.yaml", 7))])), "colorpolicy"
        )
        assert text(explanation) == snapshot

    def test_a_label(self, snapshot: SnapshotAssertion) -> None:
        schema = {"properties": {"spec": {"properties": {"targetRef": {}, "defaults": {"type": "object"}}}}}
        definition = build.crd("ColorPolicy", schema=schema, labels=LABEL)
        explanation = explain(analyze(build.snapshot(definition, build.policy("p", color="red"))), "colorpolicy")
        assert text(explanation) == snapshot

    def test_next_commands_are_for_terminals(self) -> None:
        view = View(terminal=True, options=("--offline", "a b"))
        explanation = explain(analyze(build.snapshot(build.policy("p", build.ON_GATEWAY))), "colorpolicy")
        assert text(explanation, view).splitlines()[-2:] == [
            "  kubectl policy explain colorpolicy.example.com --draft-profile --offline 'a b'",
            "  kubectl policy get colorpolicy.example.com -A --offline 'a b'",
        ]
        assert "Next" not in text(answer(FULL), view)

    @pytest.mark.unmeasured
    @pytest.mark.parametrize(
        "kind", [kind for group in sorted(built_in_groups()) for kind in built_in_profiles(group)], ids=str
    )
    def test_every_built_in_kind_can_be_explained(self, kind: GroupKind) -> None:
        explanation = explain(analyze(build.snapshot()), str(kind))
        assert explanation_headline(explanation).startswith(f"{kind} is a")
        document = json.loads(as_json(document_of(explanation)))
        VALIDATOR.validate(document)
        assert yaml.load(as_yaml(document, unicode=True), yaml.CSafeLoader) == document


class TestDocument:
    @pytest.mark.parametrize(
        "explanation",
        [
            answer(FULL),
            explain(
                analyze(build.snapshot(build.crd("ColorPolicy", labels=LABEL), gaps=[Gap("", "", "x")])), "colorpolicy"
            ),
        ],
        ids=["profile", "label"],
    )
    def test_it_follows_the_schema(self, explanation: Explanation) -> None:
        document = json.loads(as_json(document_of(explanation)))
        VALIDATOR.validate(document)
        assert not VALIDATOR.is_valid({**document, "more": 1})
        assert document["complete"] is not bool(document["unseen"])

    def test_statements_name_the_fields_of_a_file(self) -> None:
        document: Any = document_of(answer(FULL))
        named = {field for statement in document["statements"] for field in statement["fields"]}
        assert {"class", "attachment", "declaredTargets", "strategyValues"} <= named

    def test_names_can_do_no_harm(self) -> None:
        kind = GroupKind(HOSTILE, HOSTILE)
        profile = replace(
            FULL, group_kind=kind, origin=Origin(HOSTILE, 1), declared_targets=frozenset({kind}), notes=HOSTILE
        )
        printed = text(answer(profile), View(terminal=True)) + as_yaml(document_of(answer(profile)), unicode=True)
        assert all(line.isprintable() for line in printed.split("\n"))


ORIGIN: Final = Origin("f.yaml", 3)
TO_DO: Final = ("TODO: source of this information: repository, file and line, or URL",)
SHAPE: Final = PolicyKindProfile(
    KIND, "inherited", "shape", origin=ORIGIN, assumed=("being a policy", "class", "merge strategy")
)
BUILT_IN: Final = [profile for group in sorted(built_in_groups()) for profile in built_in_profiles(group).values()]


def naming(profile: PolicyKindProfile, *targets: TargetLevel) -> Explanation:
    """The answer about a kind whose policies name some targets."""
    named = tuple(NamedLevel(level.group_kind, level.section, references=1) for level in targets)
    return answer(profile, policies=len(targets), targets=named)


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
        route_parents={},
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
    assert choices(read(draft(naming(profile), unicode=True))) == choices(profile)


@pytest.mark.unmeasured
@pytest.mark.parametrize("settings", [{}, {"kgateway.referenceGrantMode": "strict"}], ids=str)
def test_every_draft_loads_and_says_the_same(settings: dict[str, str], tmp_path: Path) -> None:
    """Of every built-in kind, under the same settings: what the command line prints, `--profiles` reads."""
    path = tmp_path / "draft.yaml"
    implementation = Implementation(settings=settings)
    for built_in in BUILT_IN:
        name = str(built_in.group_kind)
        before = explain(analyze(build.snapshot(), implementation=implementation), name)
        path.write_text(draft(before, unicode=True))
        known = analyze(build.snapshot(), profiles=load_profiles(path), implementation=implementation)
        assert choices(explain(known, name).profile) == choices(before.profile), name


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
    assert read(draft(naming(SHAPE, *levels), unicode=True)).declared_targets == {GATEWAY, ROUTE}
    known = replace(SHAPE, declared_targets=frozenset({ROUTE}))
    assert read(draft(naming(known, TargetLevel(GATEWAY)), unicode=True)).declared_targets == {ROUTE}
    assert "declaredTargets" not in draft(naming(SHAPE, odd), unicode=True)


def test_maps_of_plain_values_become_whole_fields() -> None:
    """Of the experimental text's stanzas a schema says which fields are maps; a file has no other way to say it."""
    maps = frozenset({"default.labels", "override.deep.map", "labels", "default"})
    profile = replace(SHAPE, stanzas="singular", map_fields=maps, whole_fields=frozenset({"own"}))
    assert read(draft(naming(profile), unicode=True)).whole_fields == {"labels", "deep.map", "own"}
    assert read(draft(naming(replace(profile, stanzas="none")), unicode=True)).whole_fields == {"own"}


def test_a_kind_whose_attaching_is_not_computed() -> None:
    """Its draft says no more than that."""
    text = draft(
        naming(PolicyKindProfile(KIND, "inherited", "profile", attachment="none", origin=ORIGIN)), unicode=True
    )
    assert list(yaml.safe_load(text)["kinds"]["RetryPolicy"]) == ["class", "attachment", "evidence"]


def test_comments_say_what_is_assumed_and_what_may_be_written() -> None:
    lines = draft(naming(SHAPE, TargetLevel(GATEWAY)), unicode=True).splitlines()
    assert lines[0] == "# RetryPolicy.example.com, from its target references, f.yaml:3."
    above_class = lines[lines.index("    class: inherited") - 4 : lines.index("    class: inherited")]
    assert above_class[0].startswith("    # direct: a policy changes only its target.")
    assert above_class[1].startswith("    # Assumed. ")
    assert lines[lines.index("    effectiveTargets: []") - 1] == (
        "    # [{group: gateway.networking.k8s.io, kind: HTTPRoute, section: true}]"
    )
    known = draft(naming(everything(ORIGIN), TargetLevel(GATEWAY)), unicode=True)
    assert known.startswith("# RetryPolicy.example.com, from f.yaml:3.\n")
    assert "Assumed" not in known
    assert "Where policies change behavior" not in known
    direct = draft(naming(replace(SHAPE, policy_class="direct", known_by="label")), unicode=True)
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
    text = draft(naming(profile, TargetLevel(target)), unicode=unicode)
    assert all(line.isprintable() for line in text.split("\n"))
    assert unicode or all(line.isascii() for line in text.split("\n") if not line.startswith("#"))
    again = read(text)
    assert again.group_kind == profile.group_kind
    assert again.declared_targets == ({target} if not has_version(group) else set())
