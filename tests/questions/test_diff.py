"""Tests of `questions/diff.py`: differences between two states, and problems that only one of them has."""

from __future__ import annotations

from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy import PolicyKindProfile, TargetLevel, analyze
from kubectl_policy.comparison import compare, what_if
from kubectl_policy.model import Diagnostic, FieldPath, Gap, GroupKind, Json, Origin, Resource, Snapshot
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.model.snapshot import Severity
from kubectl_policy.model.world import Loaded
from kubectl_policy.profiles.fields import RefusedOn
from kubectl_policy.questions.blast_radius import blast_radius
from kubectl_policy.questions.diff import ProblemChanges, diff, with_lines
from kubectl_policy.render.changes.text import blast_radius_text
from kubectl_policy.render.output.text import View, to_text
from tests import build
from tests.differences import between, color, enforcement, ref, told, without
from tests.fakes import RecordingWorld
from tests.questions.build import COLOR, analyzed, color_kind

DIRECT: Final = color_kind()
LISTENER: Final = TargetLevel(GroupKind(GATEWAY_API, "Gateway"), section=True)
WORLD: Final = (
    build.gateway_class(),
    build.namespace("default"),
    build.gateway(),
    build.route(),
    build.service("s"),
    build.service("t"),
)
G: Final = build.ON_GATEWAY
S: Final = build.ON_SERVICE
T: Final = build.target("t", "Service", group="")


def known_but_for(*gaps: Gap) -> Snapshot:
    """The world as a complete one, but for what is given."""
    return build.snapshot(*WORLD, complete=True, gaps=gaps)


def one_applies(refusal: RefusedOn = "there") -> PolicyKindProfile:
    return color_kind(same_level="one-applies", refusal=refusal)


class TestFragments:
    """A state with one in ten objects of the other one, or fewer, may be a part of it that is to be applied."""

    MANY: Final = [build.resource("ConfigMap", f"c{number}", group="") for number in range(20)]

    @pytest.mark.parametrize(
        ("before", "after", "fragment"),
        [
            (MANY, MANY[:1], "after"),
            (MANY, [build.resource("ConfigMap", "new", group="")], "after"),
            (MANY[:1], MANY, "before"),
            (MANY, [], "after"),
            ([], MANY, "before"),
            (MANY, MANY[:2], ""),
            (MANY[:9], [], ""),
            (MANY, MANY, ""),
        ],
    )
    def test_states_that_were_read_separately(
        self, before: list[Resource], after: list[Resource], fragment: str
    ) -> None:
        states = compare(build.snapshot(*before), build.snapshot(*after))
        assert diff(states, separate=True).fragment == fragment
        assert diff(states).fragment == ""


class TestChanges:
    def test_not_from_objects_alone(self) -> None:
        more = build.resource("ConfigMap", "c", group="")
        found = between(WORLD, [*WORLD[:-1], more])
        assert (found.created, found.deleted) == ((more.ref,), (WORLD[-1].ref,))
        assert not found.changes

    @pytest.mark.parametrize(
        ("more", "part"),
        [
            (color("p", S, a=1), "effects"),
            (color("p", build.target("ghost"), a=1), "attachments"),
            (color("p"), "enforcement"),
            (build.route("more"), "parents"),
        ],
    )
    def test_from_each_part(self, more: Resource, part: str) -> None:
        found = between(WORLD, [*WORLD, more], DIRECT)
        assert getattr(found, part)
        assert found.changes
        assert between([*WORLD, more], WORLD, DIRECT).changes

    def test_from_problems(self) -> None:
        broken = Diagnostic("yaml", "error", "not YAML")
        one = build.snapshot(*WORLD)
        other = replace(one, diagnostics=(broken,))
        introduced, fixed = diff(compare(one, other)), diff(compare(other, one))
        assert (introduced.problems.introduced, introduced.problems.fixed) == ((broken,), ())
        assert (fixed.problems.introduced, fixed.problems.fixed) == ((), (broken,))
        assert introduced.changes
        assert fixed.changes
        assert not diff(compare(other, other)).changes


class TestConcernedPolicies:
    def test_not_those_elsewhere(self) -> None:
        found = without([*WORLD, color("p", S, a=1), color("q", T, a=1)], ref("p"), profiles=[DIRECT])
        assert enforcement(found) == {"p": ("Enforced", None, [])}

    def test_one_that_was_refused(self) -> None:
        world = [*WORLD, color("older", S, age=1, a=1), color("newer", S, age=2, a=2)]
        assert enforcement(without(world, ref("older"), profiles=[one_applies()])) == {
            "newer": ("Conflicted", "Enforced", []),
            "older": ("Enforced", None, []),
        }
        assert enforcement(without(world, ref("newer"), profiles=[one_applies()])) == {
            "newer": ("Conflicted", None, [])
        }

    def test_one_that_was_refused_on_all_its_targets(self) -> None:
        both = build.route(rules=[build.rule(build.backend("s"), build.backend("t"))])
        world = [*WORLD[:3], both, *WORLD[4:], color("older", S, age=1, a=1), color("newer", S, T, age=2, a=2)]
        found = without(world, ref("older"), profiles=[one_applies("everywhere")])
        assert told(found) == [
            "kept default/g/http/r/rule[0]/s/8080 a: 1 older -> 2 newer",
            "kept default/g/http/r/rule[0]/t/8080 a: nothing -> 2 newer",
        ]
        assert enforcement(found)["newer"] == ("Conflicted", "Enforced", [])
        there = without(world, ref("older"), profiles=[one_applies("there")])
        assert told(there) == ["kept default/g/http/r/rule[0]/s/8080 a: 1 older -> 2 newer"]

    def test_one_that_has_no_part_in_it(self) -> None:
        """Sections with policies of their own take the place of the whole: who does so is told, too."""
        profile = replace(DIRECT, effective_targets=(LISTENER,), sections="replace")
        on_http = {**G, "sectionName": "http"}
        world = [*WORLD, color("whole", G, a=1), color("one", on_http, b=1), color("two", on_http, age=2, c=1)]
        assert enforcement(without(world, ref("two"), profiles=[profile])) == {
            "two": ("Enforced", None, []),
            "whole": ("Overridden", "Overridden", ["one"]),
        }

    def test_those_that_share_an_entry_which_one_section_alone_may_have(self) -> None:
        profile = PolicyKindProfile(
            COLOR, "direct", "profile", effective_targets=(LISTENER,), exclusive_field="tls.certificateRefs"
        )
        listeners = [
            build.listener(name, "HTTPS", 443, hostname=f"{name}.example.com", tls={"certificateRefs": [{"name": "c"}]})
            for name in ("one", "two")
        ]
        world = [
            build.gateway_class(),
            build.gateway("g", *listeners),
            color("older", {**G, "sectionName": "one"}, age=1, a=1),
            color("newer", {**G, "sectionName": "two"}, age=2, a=1),
        ]
        assert enforcement(without(world, ref("older"), profiles=[profile])) == {
            "newer": ("PartiallyEnforced", "Enforced", []),
            "older": ("Enforced", None, []),
        }


class TestUnseen:
    def test_nothing_in_a_complete_world(self) -> None:
        assert between([*WORLD, color("p", S, a=1)], WORLD, DIRECT, complete=True).unseen == ()

    def test_a_gap_in_either_state(self) -> None:
        one, other = known_but_for(), known_but_for(Gap("TLSRoute", "", "forbidden"))
        for before, after in ((one, other), (other, one)):
            (unseen,) = diff(compare(before, after)).unseen
            assert (unseen.what, unseen.reason) == ("TLSRoute", "forbidden")

    @pytest.mark.parametrize(
        ("mentions", "there", "told"), [(None, "b", 2), (frozenset({"x"}), "b", 0), (None, "a", 0)], ids=str
    )
    def test_a_gap_in_both_states(self, mentions: frozenset[str] | None, there: str, told: int) -> None:
        gap = Gap("TLSRoute", "", "forbidden", Origin("a"), mentions=mentions)
        other = known_but_for(replace(gap, origin=Origin(there)))
        assert len(diff(compare(known_but_for(gap), other)).unseen) == told

    def test_a_gap_that_mentions_what_is_changed(self) -> None:
        for name, expected in (("s", ["TLSRoute"]), ("x", [])):
            analysis = analyze(known_but_for(Gap("TLSRoute", "", "not YAML", mentions=frozenset({name}))))
            deleted = what_if(analysis, deleted=[build.ref("Service", "s", group="")])
            assert [unseen.what for unseen in diff(deleted).unseen] == expected

    def test_what_is_changed_and_may_not_be_as_it_was_read(self) -> None:
        """A policy that loses its effect, or an object that loses a policy's; not one that nothing happens to."""
        world = [*WORLD, color("p", S, a=1), color("q", T, a=1)]
        for kind, name, expected in (("ColorPolicy", "p", 1), ("Service", "s", 1), ("ColorPolicy", "q", 0)):
            gap = Gap(kind, "default", "patched", name=name, mentions=frozenset())
            analysis = analyzed(*world, complete=True, gaps=[gap], profiles=[DIRECT])
            found = diff(what_if(analysis, deleted=[build.ref("HTTPRoute", "r")]))
            assert [(thing.reason, thing.is_there) for thing in found.unseen] == [("patched", True)] * expected

    def test_a_target_that_was_not_read(self) -> None:
        policy = color("p", build.target("far", "TLSRoute"), a=1)
        for found in (between(WORLD, [*WORLD, policy], DIRECT), between([*WORLD, policy], WORLD, DIRECT)):
            assert [unseen.what for unseen in found.unseen] == ["TLSRoute default/far"]

    def test_the_parent_of_a_route_that_is_changed(self) -> None:
        route, other = build.route("more", parents=[build.parent("far", namespace="far")]), build.route("other")
        found = between(WORLD, [*WORLD, route, other])
        assert [unseen.what for unseen in found.unseen] == ["Gateway far/far"]

    def test_another_parent_of_a_route_that_loses_one(self) -> None:
        route = build.route("both", parents=[build.parent(), build.parent("far", namespace="far")])
        found = between([*WORLD, route], [one for one in [*WORLD, route] if one.ref.kind != "Gateway"])
        assert [unseen.what for unseen in found.unseen] == ["Gateway far/far"]
        assert route.ref not in found.cut_off

    def test_another_target_of_a_policy_that_loses_one(self) -> None:
        policy = color("p", S, build.target("far", "TLSRoute"), a=1)
        found = between([*WORLD, policy], [one for one in [*WORLD, policy] if one.ref.name != "s"], DIRECT)
        assert [unseen.what for unseen in found.unseen] == ["TLSRoute default/far"]


class TestApplied:
    def test_a_policy_is_written_otherwise(self) -> None:
        """It keeps its age, so that it is the older one still."""
        older, newer = color("older", S, age=1, a=1), color("newer", S, age=2, a=2)
        analysis = analyzed(*WORLD, older, newer, profiles=[one_applies()])
        found = diff(what_if(analysis, applied=[color("older", S, a=3)]))
        assert told(found) == ["kept default/g/http/r/rule[0]/s/8080 a: 1 older -> 3 older"]
        assert (found.updated, found.enforcement) == ((ref("older"),), ())

    def test_what_could_not_be_read_of_it(self) -> None:
        unread = build.snapshot(gaps=[Gap("", "", "no such file")])
        found = diff(what_if(analyzed(*WORLD), unread=unread))
        assert [(unseen.what, unseen.reason) for unseen in found.unseen] == [("objects of any kind", "no such file")]
        assert found.problems == ProblemChanges(introduced=(), fixed=(), unchanged=())


def test_a_policy_whose_attachment_is_not_computed() -> None:
    group = "security.istio.io"
    before, after = (
        build.snapshot(build.resource("PeerAuthentication", "strict", {"mtls": {"mode": mode}}, group=group))
        for mode in ("STRICT", "PERMISSIVE")
    )
    (thing, *_) = diff(compare(before, after)).unseen
    assert (thing.what, thing.reason) == (
        "PeerAuthentication default/strict",
        "how it attaches, and with that what it affects, is not computed",
    )


def test_values_have_their_lines() -> None:
    """Those before and after, where there are any; what cannot be told stays where its object is."""
    wide = build.ON_GATEWAY
    before = [*WORLD, color("old", S, a=1, gone=1), color("same", wide, far=1)]
    found = between(before, [*WORLD, color("new", S, a=2, more=1), color("same", wide, far=2)], DIRECT)

    def locate(origin: Origin, field: FieldPath, value: Json) -> int | None:
        assert origin == build.ORIGIN
        return None if str(field) == "spec.far" else 40 + (value if isinstance(value, int) else 0)

    placed = with_lines(found, locate)
    lines = {
        field.field: [value and value.origin and value.origin.line for value in (field.before, field.after)]
        for effect in placed.effects
        for field in effect.fields
    }
    assert lines == {"a": [41, 42], "gone": [41, None], "more": [None, 41], "far": [1, 1]}
    assert told(placed) == told(found)
    assert replace(placed, effects=found.effects) == found
    nothing = between(WORLD, WORLD, DIRECT)
    assert with_lines(nothing, locate) == nothing


PROFILE: Final = color_kind()
SERVICE: Final = build.service()
SERVED: Final = (build.gateway_class(), build.namespace("default"), build.gateway(), build.route(), SERVICE)
REST: Final = [resource for resource in SERVED if resource is not SERVICE]
GHOST: Final = build.target("ghost")


def rules(found: ProblemChanges) -> list[list[tuple[str, str]]]:
    """The rules and subjects of the problems that are introduced, fixed and unchanged."""
    return [
        [(one.rule, str(one.subject)) for one in problems]
        for problems in (found.introduced, found.fixed, found.unchanged)
    ]


def test_none() -> None:
    assert rules(between([*SERVED, color("p", S, a=1)], [*SERVED, color("p", S, a=2)], PROFILE).problems) == [
        [],
        [],
        [],
    ]


def test_a_backend_that_is_deleted() -> None:
    introduced, fixed, unchanged = rules(between(SERVED, REST).problems)
    assert introduced
    assert {subject for _, subject in introduced} == {"HTTPRoute default/r"}
    assert (fixed, unchanged) == ([], [])
    assert rules(between(REST, SERVED).problems) == [[], introduced, []]


def test_a_policy_whose_target_is_not_there() -> None:
    policy, other = color("p", GHOST, a=1), color("p", GHOST, a=2)
    introduced, fixed, unchanged = rules(between(SERVED, [*SERVED, policy], PROFILE).problems)
    assert {subject for _, subject in introduced} == {"ColorPolicy default/p"}
    assert (fixed, unchanged) == ([], [])
    assert rules(between([*SERVED, policy], SERVED, PROFILE).problems) == [[], introduced, []]
    assert rules(between([*SERVED, policy], [*SERVED, other], PROFILE).problems) == [[], [], introduced]


def test_what_is_wrong_with_others_as_before_is_not_told() -> None:
    policy = color("p", GHOST, a=1)
    assert rules(between([*SERVED, policy], [*SERVED, policy, build.service("t")], PROFILE).problems) == [[], [], []]


def test_what_can_have_no_problem_with_others_is_not_read() -> None:
    own = [build.resource("ConfigMap", f"c{number}") for number in range(3)]
    policies = [color(f"p{number}", S, a=1) for number in range(3)]
    recording = RecordingWorld(Loaded([*SERVED, *own, *policies]))
    analysis = analyze(Snapshot(resources=recording), profiles=[PROFILE])
    diff(what_if(analysis, deleted=[build.gateway().ref]))
    assert {each.ref for each in policies} <= recording.given["get", PROFILE.group_kind]
    assert not recording.given["get", own[0].ref.group_kind]


def test_a_problem_that_stands_on_another_line_is_the_same() -> None:
    here = Diagnostic("yaml", "warning", "odd", None, origin=Origin("a.yaml", 1))
    there = replace(here, origin=Origin("b.yaml", 7))
    states = [replace(build.snapshot(*SERVED), diagnostics=(found,)) for found in (here, there)]
    assert rules(diff(compare(*states)).problems) == [[], [], []]


def test_what_reading_an_object_has_shown() -> None:
    found = Diagnostic("odd", "warning", "odd", SERVICE.ref)
    before = replace(build.snapshot(*SERVED), diagnostics=(found,))
    after = replace(build.snapshot(*REST, build.service("s", 1)), diagnostics=(found,))
    assert ("odd", "Service default/s") in rules(diff(compare(before, after)).problems)[2]
    gone = diff(what_if(analyze(before), deleted=[SERVICE.ref])).problems
    assert ("odd", "Service default/s") in rules(gone)[1]


def test_the_worst_first() -> None:
    severities: tuple[Severity, ...] = ("info", "error", "warning")
    found = tuple(Diagnostic("r", severity, severity, None) for severity in severities)
    after = replace(build.snapshot(*SERVED), diagnostics=found)
    problems = diff(compare(build.snapshot(*SERVED), after)).problems
    assert [one.severity for one in problems.introduced] == ["error", "warning", "info"]


def test_a_reference_that_a_change_adds_to_what_was_not_read_is_a_warning() -> None:
    """As is the target of a policy."""
    elsewhere = build.route("new", rules=[{"backendRefs": [{"name": "elsewhere", "port": 80}]}])
    policy = color("p", build.target("gone", "Service", group=""), a=1)
    problems = between(WORLD, [*WORLD, elsewhere, policy]).problems.introduced
    assert [(problem.rule, problem.severity, problem.subject) for problem in problems] == [
        ("target-unknown", "warning", policy.ref),
        ("unknown-reference", "warning", elsewhere.ref),
    ]


def test_a_definition_that_forbids_what_was_allowed() -> None:
    schema: Json = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": {"a": {"type": "string"}}}},
    }
    policy = color("p", S, a=1)
    loose, strict = [*SERVED, policy], [*SERVED, policy, build.crd("ColorPolicy", schema=schema)]
    introduced, fixed, _ = rules(between(loose, strict, PROFILE).problems)
    assert ("schema", "ColorPolicy default/p") in introduced
    assert fixed == []
    _, fixed, _ = rules(between(strict, loose, PROFILE).problems)
    assert ("schema", "ColorPolicy default/p") in fixed


TWO_GATEWAYS = analyzed(build.gateway_class(), build.gateway("g"), build.gateway("h"), complete=True)
CLASS = TWO_GATEWAYS.index.of_kind(build.gateway_class().ref.group_kind)[0].ref
OTHER = build.gateway_class("other")


def test_another_class_takes_no_gateway_with_it() -> None:
    world = analyzed(build.gateway_class(), OTHER, build.gateway("g"), complete=True)
    assert diff(what_if(world, deleted=[OTHER.ref])).without_class == ()
    assert not blast_radius(world, OTHER.ref).changes


def test_every_gateway_of_a_class_is_left_without_one() -> None:
    difference = diff(what_if(TWO_GATEWAYS, deleted=[CLASS]))
    assert difference.without_class == (build.ref("Gateway", "g"), build.ref("Gateway", "h"))
    assert difference.changes
    answer = blast_radius(TWO_GATEWAYS, CLASS)
    assert answer.changes
    assert answer.counts.total == 2
    assert "so no controller acts on them\n  Gateway default/g, Gateway default/h\n" in to_text(
        blast_radius_text(answer, View()), 100
    )


def test_a_gateway_that_comes_when_the_class_goes_has_lost_none() -> None:
    late = what_if(TWO_GATEWAYS, deleted=[CLASS], applied=[build.gateway("late")])
    assert build.ref("Gateway", "late") not in diff(late).without_class
