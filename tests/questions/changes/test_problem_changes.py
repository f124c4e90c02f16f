"""Which problems a change introduces, mends, or leaves as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy import MergeStrategy, PolicyKindProfile, analyze
from kubectl_policy.comparison import compare, what_if
from kubectl_policy.model import Diagnostic, GroupKind, Origin, Snapshot
from kubectl_policy.model.world import Loaded
from kubectl_policy.questions.diff import diff
from tests import build
from tests.differences import between, color
from tests.fakes import RecordingWorld

if TYPE_CHECKING:
    from kubectl_policy.model import Json
    from kubectl_policy.model.snapshot import Severity
    from kubectl_policy.questions.diff import ProblemChanges

PROFILE: Final = PolicyKindProfile(
    GroupKind("example.com", "ColorPolicy"),
    "direct",
    "profile",
    strategy=MergeStrategy.PATCH_DEFAULTS,
    stanzas="none",
)
SERVICE: Final = build.service()
WORLD: Final = (build.gateway_class(), build.namespace("default"), build.gateway(), build.route(), SERVICE)
REST: Final = [resource for resource in WORLD if resource is not SERVICE]
S: Final = build.target("s", "Service", group="")
GHOST: Final = build.target("ghost")


def rules(found: ProblemChanges) -> list[list[tuple[str, str]]]:
    """The rules and subjects of the problems that are introduced, fixed and unchanged."""
    return [
        [(one.rule, str(one.subject)) for one in problems]
        for problems in (found.introduced, found.fixed, found.unchanged)
    ]


def test_none() -> None:
    """A setting is another one."""
    assert rules(between([*WORLD, color("p", S, a=1)], [*WORLD, color("p", S, a=2)], PROFILE).problems) == [[], [], []]


def test_a_backend_that_is_deleted() -> None:
    """The route that refers to it has a problem then; the other way round it is mended."""
    introduced, fixed, unchanged = rules(between(WORLD, REST).problems)
    assert introduced
    assert {subject for _, subject in introduced} == {"HTTPRoute default/r"}
    assert (fixed, unchanged) == ([], [])
    assert rules(between(REST, WORLD).problems) == [[], introduced, []]


def test_a_policy_whose_target_is_not_there() -> None:
    """It comes and goes with the policy, or stays if the policy is only written otherwise."""
    policy, other = color("p", GHOST, a=1), color("p", GHOST, a=2)
    introduced, fixed, unchanged = rules(between(WORLD, [*WORLD, policy], PROFILE).problems)
    assert {subject for _, subject in introduced} == {"ColorPolicy default/p"}
    assert (fixed, unchanged) == ([], [])
    assert rules(between([*WORLD, policy], WORLD, PROFILE).problems) == [[], introduced, []]
    assert rules(between([*WORLD, policy], [*WORLD, other], PROFILE).problems) == [[], [], introduced]


def test_what_is_wrong_with_others_as_before_is_not_told() -> None:
    """Only with what is changed."""
    policy = color("p", GHOST, a=1)
    assert rules(between([*WORLD, policy], [*WORLD, policy, build.service("t")], PROFILE).problems) == [[], [], []]


def test_what_can_have_no_problem_with_others_is_not_read() -> None:
    """A ConfigMap refers to nothing that is known of, and a policy may refer to anything."""
    own = [build.resource("ConfigMap", f"c{number}") for number in range(3)]
    policies = [color(f"p{number}", S, a=1) for number in range(3)]
    recording = RecordingWorld(Loaded([*WORLD, *own, *policies]))
    analysis = analyze(Snapshot(resources=recording), profiles=[PROFILE])
    diff(what_if(analysis, deleted=[build.gateway().ref]))
    assert {each.ref for each in policies} <= recording.given["get", PROFILE.group_kind]
    assert not recording.given["get", own[0].ref.group_kind]


def test_a_problem_that_stands_on_another_line_is_the_same() -> None:
    """Nor does it matter where it is."""
    here = Diagnostic("yaml", "warning", "odd", None, origin=Origin("a.yaml", 1))
    there = replace(here, origin=Origin("b.yaml", 7))
    states = [replace(build.snapshot(*WORLD), diagnostics=(found,)) for found in (here, there)]
    assert rules(diff(compare(*states)).problems) == [[], [], []]


def test_what_reading_an_object_has_shown() -> None:
    """It is the object's, and told where that is changed."""
    found = Diagnostic("odd", "warning", "odd", SERVICE.ref)
    before = replace(build.snapshot(*WORLD), diagnostics=(found,))
    after = replace(build.snapshot(*REST, build.service("s", 1)), diagnostics=(found,))
    assert ("odd", "Service default/s") in rules(diff(compare(before, after)).problems)[2]
    gone = diff(what_if(analyze(before), deleted=[SERVICE.ref])).problems
    assert ("odd", "Service default/s") in rules(gone)[1]


def test_the_worst_first() -> None:
    """Errors, warnings, then remarks; then by name."""
    severities: tuple[Severity, ...] = ("info", "error", "warning")
    found = tuple(Diagnostic("r", severity, severity, None) for severity in severities)
    after = replace(build.snapshot(*WORLD), diagnostics=found)
    problems = diff(compare(build.snapshot(*WORLD), after)).problems
    assert [one.severity for one in problems.introduced] == ["error", "warning", "info"]


def test_a_definition_that_forbids_what_was_allowed() -> None:
    """Every object of the kind has a problem then."""
    schema: Json = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": {"a": {"type": "string"}}}},
    }
    policy = color("p", S, a=1)
    loose, strict = [*WORLD, policy], [*WORLD, policy, build.crd("ColorPolicy", schema=schema)]
    introduced, fixed, _ = rules(between(loose, strict, PROFILE).problems)
    assert ("schema", "ColorPolicy default/p") in introduced
    assert fixed == []
    _, fixed, _ = rules(between(strict, loose, PROFILE).problems)
    assert ("schema", "ColorPolicy default/p") in fixed
