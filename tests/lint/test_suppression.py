"""What is suppressed, by what, and what is wrong with that."""

from __future__ import annotations

from datetime import UTC, date, datetime
from io import BytesIO
from typing import Any, Final

import pytest
from msgspec.structs import replace

from kubectl_policy import InputOptions, analyze, load_manifests
from kubectl_policy.lint.checking import JudgedFindings, findings_in, suppress, unused_in
from kubectl_policy.lint.finding import Finding, Fix
from kubectl_policy.lint.lint_world import LintWorld
from kubectl_policy.lint.rules import RULES
from kubectl_policy.lint.rules.suppressions import Suppression, suppressions_of
from kubectl_policy.lint.settings import LintSettings
from kubectl_policy.model import FieldPath, Origin, Resource
from kubectl_policy.sources import Lines

# A route of which the parent is not there, on line 10.
ROUTE: Final = """\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: menu
  namespace: shop
  annotations: {%s}
spec:
  # the entrance
  parentRefs:
  - name: public
"""


class World:
    """Manifests as they are linted, with their comments."""

    def __init__(self, text: str, *, linted: Any = lambda _: True, **settings: Any) -> None:  # noqa: ANN401 (of any type)
        """Closed, as nothing but this is about being certain."""
        selected = settings.pop("selected", ("GWP0007", "GWP0012", "GWP4001"))
        self.lines = Lines()
        stdin = BytesIO(text.encode())
        snapshot = load_manifests("-", options=InputOptions(complete=True), stdin=stdin, lines=self.lines)
        self.settings = LintSettings(selected=selected, **settings)
        self.linted = LintWorld(analyze(snapshot), self.settings, linted, None, self.lines.comments)

    def locate(self, origin: Origin | None, field: str) -> Origin | None:
        line = self.lines.locate(origin, FieldPath.parse(field)) if origin else None
        return replace(origin, line=line) if origin and line else origin

    @property
    def suppressions(self) -> tuple[Suppression, ...]:
        return tuple(self.linted.once(suppressions_of))

    def judged(self) -> JudgedFindings:
        """What is left, and what is not."""
        return suppress(self.linted, findings_in(self.linted), self.locate)

    def check(self) -> list[tuple[str, str]]:
        """What is left, with what is unused: rules and messages."""
        judged = self.judged()
        return [(finding.rule, finding.message) for finding in (*judged.findings, *unused_in([judged], self.settings))]

    def suppressed(self) -> list[tuple[str, str, str]]:
        """What is suppressed: rules, how, and why."""
        return [
            (suppression.finding.rule, suppression.how, suppression.reason) for suppression in self.judged().suppressed
        ]


def annotated(annotations: str = "", comment: str = "", line: int = 0, **settings: Any) -> World:  # noqa: ANN401 (of any type)
    """The route with annotations, and a comment behind or, where there are only spaces, in the place of a line."""
    lines = (ROUTE % annotations).splitlines()
    if comment:
        lines[line - 1] += f" # kubectl-policy: {comment}"
    return World("\n".join(lines), **settings)


UNSUPPRESSED: Final = [("GWP4001", "Gateway shop/public does not exist")]


def test_nothing_is_suppressed() -> None:
    assert annotated().check() == UNSUPPRESSED
    assert annotated("policy.kubectl.dev/ignore-reason: why, example.com/ignore: GWP4001").check() == UNSUPPRESSED
    assert annotated(comment="disregard GWP4001", line=10).check() == UNSUPPRESSED


class TestAnnotations:
    @pytest.mark.parametrize(
        ("annotations", "reason"),
        [
            ("policy.kubectl.dev/ignore: GWP4001", ""),
            ("policy.kubectl.dev/ignore: parent-not-found", ""),
            ('policy.kubectl.dev/ignore: "GWP4001, GWP40", policy.kubectl.dev/ignore-reason: "later "', "later"),
            ("policy.kubectl.dev/ignore: GWP4, policy.kubectl.dev/ignore-reason: 1", ""),
            ("ignore.policy.kubectl.dev/GWP4001: with release 2", "with release 2"),
            ("ignore.policy.kubectl.dev/parent-not-found: ", ""),
        ],
    )
    def test_in_either_spelling(self, annotations: str, reason: str) -> None:
        """A list with its reason, or one for each rule."""
        world = annotated(annotations)
        assert world.suppressed() == [("GWP4001", "annotation", reason)]
        assert world.check() == []

    def test_of_another_rule_or_object(self) -> None:
        other = (ROUTE % "ignore.policy.kubectl.dev/GWP4001: why").replace("name: menu", "name: other")
        findings = World(f"{ROUTE % ''}---\n{other}").judged().findings
        assert [str(finding.subject) for finding in findings] == ["HTTPRoute shop/menu"]
        assert annotated("ignore.policy.kubectl.dev/GWP4002: why").check() == UNSUPPRESSED

    @pytest.mark.parametrize("annotations", ["policy.kubectl.dev/ignore: [GWP4001]", "policy.kubectl.dev/ignore: {}"])
    def test_of_another_type(self, annotations: str) -> None:
        said = ("GWP0008", "the suppression names no rule")
        assert sorted(annotated(annotations, selected=("GWP4001",), require_reason=True).check()) == [
            said,
            *UNSUPPRESSED,
        ]

    def test_where_annotations_are_none(self) -> None:
        for other in ("[]", "x", "1", "{metadata: {}}"):
            assert World((ROUTE % "").replace("{}", other)).suppressions == ()

    def test_with_a_key_that_no_path_says(self) -> None:
        (suppression,) = annotated("'ignore.policy.kubectl.dev/\"x\"': why").suppressions
        assert suppression.field == "metadata.annotations"
        (suppression,) = annotated("ignore.policy.kubectl.dev/GWP4001: why").suppressions
        assert suppression.field == 'metadata.annotations["ignore.policy.kubectl.dev/GWP4001"]'

    def test_of_what_is_not_linted(self) -> None:
        def linted(resource: Resource) -> bool:
            return resource.ref.name != "menu"

        assert annotated("policy.kubectl.dev/ignore: x", linted=linted).suppressions == ()


class TestComments:
    @pytest.mark.parametrize("line", [1, 7, 8, 9, 10, 11, 12])
    def test_where_they_are_about_it(self, line: int) -> None:
        reference = "  parentRefs:\n\n  - group: gateway.networking.k8s.io\n\n    name: public\n"
        lines = f"{(ROUTE % '').partition('  # the entrance')[0]}{reference}".splitlines()
        lines[line - 1] += " # kubectl-policy: ignore GWP4001 not yet there"
        world = World("\n".join(lines))
        assert world.suppressed() == [("GWP4001", "comment", "not yet there")]
        assert world.check() == []

    def test_above_a_document(self) -> None:
        """All of that is meant, and nothing else."""
        comment = "# kubectl-policy: ignore GWP4001 not yet there\n"
        route = ROUTE % ""
        findings = World(f"{route}---\n{comment}{route.replace('menu', 'other')}").judged()
        assert [str(finding.subject) for finding in findings.findings] == ["HTTPRoute shop/menu"]
        assert [str(suppression.finding.subject) for suppression in findings.suppressed] == ["HTTPRoute shop/other"]

    def test_elsewhere(self) -> None:
        """The comment is unused, and it is said where it belongs."""
        judged = annotated(comment="ignore GWP4001", line=2).judged()
        (unused,) = unused_in([judged], LintSettings())
        assert (unused.rule, unused.severity, unused.subject) == ("GWP0007", "info", None)
        assert unused.origin == Origin("<stdin>", 2)
        assert unused.message == "GWP4001 is not found here, so nothing is suppressed"
        assert unused.fix == Fix(words="it is found on line 10")

    @pytest.mark.parametrize(
        ("comment", "names", "reason"),
        [
            ("ignore GWP4001", ["GWP4001"], ""),
            ("ignore: GWP4001: why", ["GWP4001"], "why"),
            ("ignore GWP4001 because of it", ["GWP4001"], "because of it"),
            ("ignore GWP4001, parent-not-found; GWP1: why, so", ["GWP4001", "parent-not-found", "GWP1"], "why, so"),
            ("ignore GWP4001 GWP1001 short-lived", ["GWP4001", "GWP1001"], "short-lived"),
            ("ignore GWP4001 — why", ["GWP4001"], "why"),
            ("ignore GWP4001,", ["GWP4001"], ""),
            ("ignore GWP4001 , GWP4001 x", ["GWP4001"], "x"),
            ("ignore", [], ""),
            ("ignore , ", [], ""),
        ],
    )
    def test_what_they_say(self, comment: str, names: list[str], reason: str) -> None:
        """One or several rules, and a reason."""
        (suppression,) = annotated(comment=comment, line=10).suppressions
        assert (list(suppression.names), suppression.reason) == (names, reason)

    @pytest.mark.parametrize("comment", ["ignored GWP4001", "ignores", "", "IGNORE GWP4001"])
    def test_what_says_something_else(self, comment: str) -> None:
        assert annotated(comment=comment or " ", line=10).suppressions == ()

    def test_where_no_path_says_the_field(self) -> None:
        world = annotated(comment="ignore GWP4001", line=1)
        findings = [replace(finding, field='spec["a"b"]') for finding in findings_in(world.linted)]
        assert [suppression.how for suppression in suppress(world.linted, findings, world.locate).suppressed] == [
            "comment"
        ]

    def test_about_what_is_said_of_no_object(self) -> None:
        """What cannot be read has a line as well."""
        broken = f"{ROUTE % ''}---\n# kubectl-policy: ignore GWP0004 fixed soon\nkind: A\nspec: [\n"
        world = World(broken)
        (suppression,) = world.suppressions
        finding = replace(findings_in(world.linted)[0], subject=None, origin=Origin("<stdin>", 14))
        assert suppression.covers(finding, [1, 14])
        assert not suppression.covers(finding, [1, 2])
        assert not suppression.covers(replace(finding, origin=Origin("else.yaml", 14)), [14])
        assert not suppression.covers(replace(finding, origin=None), [])


class TestExpiry:
    NOW: Final = datetime(2026, 12, 31, 12, tzinfo=UTC)

    @pytest.mark.parametrize(
        "annotations",
        [
            'policy.kubectl.dev/ignore: "GWP4001 until=2026-12-30"',
            'policy.kubectl.dev/ignore: GWP4001, policy.kubectl.dev/ignore-reason: "why (until=2026-12-30)"',
            'ignore.policy.kubectl.dev/GWP4001: "until=2026-12-30, then it is there"',
        ],
    )
    def test_it_is_over(self, annotations: str) -> None:
        """What was suppressed is found again, and that it is over."""
        said = "the suppression of GWP4001 was until 2026-12-30, and no longer counts"
        assert sorted(annotated(annotations, now=self.NOW).check()) == [("GWP0007", said), *UNSUPPRESSED]
        for now in (None, datetime(2026, 12, 30, 23, tzinfo=UTC)):
            assert annotated(annotations, now=now).check() == []

    @pytest.mark.parametrize("until", ["2026-13-01", "20261231", "tomorrow", ""])
    def test_it_is_no_date(self, until: str) -> None:
        """It suppresses nothing, as nobody can tell for how long."""
        world = annotated(comment=f"ignore GWP4001 until={until}", line=10)
        said = f"the suppression of GWP4001 has no date in until={until}, and no longer counts"
        assert sorted(world.check()) == [("GWP0007", said), *UNSUPPRESSED]

    @pytest.mark.parametrize(
        ("comment", "reason"),
        [
            ("ignore GWP4001 until=2027-01-01", ""),
            ("ignore GWP4001 until=2027-01-01 why", "why"),
            ("ignore GWP4001: why; until=2027-01-01", "why"),
            ("ignore until=2027-01-01 GWP4001 why", "why"),
            ("ignore GWP4001 why (until=2027-01-01) so", "why so"),
        ],
    )
    def test_it_is_no_part_of_the_reason(self, comment: str, reason: str) -> None:
        (suppression,) = annotated(comment=comment, line=10, now=self.NOW).suppressions
        assert (suppression.names, suppression.reason) == (("GWP4001",), reason)
        assert suppression.until == date(2027, 1, 1)


class TestUnused:
    def test_of_some_rules(self) -> None:
        """Each is said, and not those that are used."""
        world = annotated(
            'policy.kubectl.dev/ignore: "GWP4001,GWP4004"', selected=("GWP4", "GWP0007"), ignored=("GWP4013",)
        )
        assert world.check() == [("GWP0007", "GWP4004 is not found here, so nothing is suppressed")]

    @pytest.mark.parametrize("name", ["GWP1001", "GWP9001", "GWP3003", "GWP9101", "GWP0007", "GWP0", "GWP", "no-rule"])
    def test_of_what_is_not_checked(self, name: str) -> None:
        everything = tuple({rule.id for rule in RULES} - {"GWP1001", "GWP0008"})
        world = annotated(f"ignore.policy.kubectl.dev/{name}: why", selected=everything, ignored=("GWP0008",))
        assert [rule for rule, _ in world.check() if rule == "GWP0007"] == []

    def test_what_nobody_wants_to_hear_of(self) -> None:
        assert annotated("ignore.policy.kubectl.dev/GWP4004: why", selected=("GWP4",)).judged().unused
        assert not unused_in(
            [annotated("ignore.policy.kubectl.dev/GWP4004: x").judged()], LintSettings(ignored=("GWP0007",))
        )
        both = 'policy.kubectl.dev/ignore: "GWP4004,suppression-unused"'
        assert not annotated(both, selected=("GWP4", "GWP0007")).judged().unused

    def test_in_a_cluster(self) -> None:
        """Which has no comments, and where what controllers report is known."""
        annotations = 'policy.kubectl.dev/ignore: "GWP3003,GWP4001"'
        snapshot = annotated(annotations).linted.snapshot
        resources = tuple(replace(resource, origin=Origin("kind:dev")) for resource in snapshot.resources)
        analysis = analyze(replace(snapshot, resources=resources, source="the cluster"))
        world = LintWorld(analysis, LintSettings(), lambda _: True, None, pytest.fail)
        judged = suppress(world, findings_in(world))
        assert [use.name for use in judged.unused] == ["GWP3003"]
        assert [suppression.finding.rule for suppression in judged.suppressed] == ["GWP4001"]

    def test_of_several_worlds(self) -> None:
        """What one of them needs is used."""
        needed = annotated("ignore.policy.kubectl.dev/GWP4001: why").judged()
        there = "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: public, namespace: shop}\n"
        unused = World(f"{ROUTE % 'ignore.policy.kubectl.dev/GWP4001: why'}---\n{there}").judged()
        settings = LintSettings(severities={"GWP0007": "error"})
        assert unused_in([needed, unused], settings) == ()
        (finding,) = unused_in([unused, unused], settings)
        assert (finding.severity, str(finding.subject)) == ("error", "HTTPRoute shop/menu")
        assert finding.fix == Fix(words="remove the suppression")


class TestReasons:
    @pytest.mark.parametrize(
        ("annotations", "remedy"),
        [
            ("policy.kubectl.dev/ignore: GWP4001", "write it in the annotation policy.kubectl.dev/ignore-reason"),
            ("ignore.policy.kubectl.dev/GWP4001: until=2026-12-31", "write it behind it"),
        ],
    )
    def test_there_is_none(self, annotations: str, remedy: str) -> None:
        """It is an error if there has to be one; what is suppressed stays so."""
        assert annotated(annotations).check() == []
        (finding,) = annotated(annotations, require_reason=True).judged().findings
        assert (finding.rule, finding.severity) == ("GWP0012", "error")
        assert finding.message == "GWP4001 is suppressed without a reason"
        assert finding.fix
        assert finding.fix.words == remedy

    def test_there_is_one(self) -> None:
        assert annotated("ignore.policy.kubectl.dev/GWP4001: why", require_reason=True).check() == []
        assert annotated(comment="ignore GWP4001 why", line=10, require_reason=True).check() == []


class TestUnknownRules:
    @staticmethod
    def check(world: World) -> list[Finding]:
        return [finding for finding in world.judged().findings if finding.rule == "GWP0008"]

    @pytest.mark.parametrize(
        ("name", "remedy"),
        [
            ("parent-not-fond", "did you mean parent-not-found?"),
            ("parent_not_found", "did you mean parent-not-found?"),
            ("gwp4001", "did you mean GWP4001?"),
            ("GWP400l", "did you mean GWP4001?"),
            ("nonsense", "docs/rules.md lists all rules"),
        ],
    )
    def test_in_a_suppression(self, name: str, remedy: str) -> None:
        """It is said which one may be meant."""
        (finding,) = self.check(annotated(f"policy.kubectl.dev/ignore: {name}"))
        assert finding.message == f'there is no rule "{name}"'
        assert finding.field == 'metadata.annotations["policy.kubectl.dev/ignore"]'
        assert finding.fix
        assert finding.fix.words == remedy
        (finding,) = self.check(annotated(comment=f"ignore {name}", line=10))
        assert (finding.origin, finding.subject) == (Origin("<stdin>", 10), None)

    def test_in_settings(self) -> None:
        """What would be selected by it is not checked: that is an error."""
        written = {"GWP9999": Origin("config.yaml", 3)}
        world = annotated(selected=("GWP9999", "no-rule"), ignored=("no-rule", "neither"), written=written)
        assert [(finding.severity, finding.message, finding.origin) for finding in self.check(world)] == [
            ("error", 'there is no rule "no-rule"', None),
            ("warning", 'there is no rule "neither"', None),
            ("error", 'there is no rule "GWP9999"', Origin("config.yaml", 3)),
        ]

    def test_a_long_one(self) -> None:
        (finding,) = self.check(annotated(f"policy.kubectl.dev/ignore: {'x' * 1000}"))
        assert finding.message == f'there is no rule "{"x" * 40}…"'
