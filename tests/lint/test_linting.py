"""Findings in one or several worlds, and those that are in doubt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from msgspec.structs import replace

from kubectl_policy import analyze
from kubectl_policy.comparison import compare
from kubectl_policy.lint.checking import LintFindings, lint_worlds
from kubectl_policy.lint.finding import Finding, Fix
from kubectl_policy.lint.lint_world import LintWorld
from kubectl_policy.lint.settings import LintSettings
from kubectl_policy.model import Gap, Origin
from kubectl_policy.model.snapshot import Comment
from tests.lint.policy_manifests import CORS, gateway, policy, route, service
from tests.lint.rule_worlds import lint, snapshot_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


# No route here has a Gateway, unless one is given.
CART: Final = route("cart")
MENU: Final = route("menu")
ACCEPTED: Final = MENU.replace("labels: {}", "annotations: {ignore.policy.kubectl.dev/GWP4001: later}")
NO_GATEWAY: Final = "Gateway infra/public does not exist"
SETTINGS: Final = LintSettings(selected=("GWP4001", "GWP0007"))
NOT_READ: Final = "Gateway infra/public is not in the input"


def world(
    *manifests: str,
    name: str = "",
    complete: bool = True,
    settings: LintSettings = SETTINGS,
    comments_of: Callable[[str], Iterable[Comment]] = lambda _: (),
) -> LintWorld:
    """A world of manifests, all of which are linted."""
    analysis = analyze(snapshot_of("".join(manifests), complete=complete))
    return LintWorld(analysis, settings, lambda _: True, None, comments_of, name)


def as_it_is(origin: Origin | None, _: str) -> Origin | None:
    """Of no field it is known where it is written."""
    return origin


def by_field(origin: Origin | None, field: str) -> Origin | None:
    """Where a field is written, as if each had a file of its own."""
    return Origin(field, origin.line) if origin else None


def check(*worlds: LintWorld) -> LintFindings:
    """What is found in some worlds of routes without Gateways, and of what suppresses that."""
    return lint_worlds(worlds, SETTINGS, as_it_is)


def told(findings: Sequence[Finding]) -> list[tuple[str, str, tuple[str, ...]]]:
    """Of what each finding is, what it says, and in which worlds that is so, if not in all."""
    return [(finding.subject.name if finding.subject else "", finding.message, finding.worlds) for finding in findings]


class TestLinted:
    def test_of_what_is_around_nothing_is_found(self) -> None:
        routes = world(CART, MENU)
        (cart,) = (route.ref for route in routes.resources if route.ref.name == "cart")
        some = LintWorld(routes.analysis, SETTINGS, lambda resource: resource.ref != cart)
        assert told(check(some).findings) == [("menu", NO_GATEWAY, ())]


class TestTogether:
    def test_in_all_of_them(self) -> None:
        result = check(world(CART, MENU, name="east"), world(CART, name="west"), world(CART, MENU, name="north"))
        assert told(result.findings) == [("cart", NO_GATEWAY, ()), ("menu", NO_GATEWAY, ("east", "north"))]
        assert (result.suppressed, result.every) == ((), result.findings)

    def test_in_one_alone(self) -> None:
        """As the others have what is missing there; where nothing is wrong, there is nothing."""
        fine = world(CART, gateway(), name="fine")
        assert told(check(fine, world(CART, name="bare")).findings) == [("cart", NO_GATEWAY, ("bare",))]
        assert check(fine) == check() == LintFindings(findings=(), suppressed=())

    def test_otherwise_in_another_one(self) -> None:
        result = check(world(CART, name="closed"), world(CART, name="open", complete=False))
        assert told(result.findings) == [("cart", NO_GATEWAY, ("closed",)), ("cart", NOT_READ, ("open",))]

    def test_they_are_in_the_order_of_their_lines(self) -> None:
        result = check(world(CART, name="one"), world(service(), MENU, name="two"))
        assert told(result.findings) == [("cart", NO_GATEWAY, ("one",)), ("menu", NO_GATEWAY, ("two",))]
        other = check(world(service(), MENU, name="two"), world(CART, name="one"))
        assert other.findings == result.findings

    def test_what_a_change_makes_worse(self) -> None:
        before, after = (snapshot_of("".join(each)) for each in ((gateway(), CART, service()), (gateway(), service())))
        comparison = compare(before, after)
        settings = LintSettings(selected=("GWP9102",))
        later = LintWorld(comparison.after, settings, lambda _: True, comparison)
        alone = LintWorld(comparison.after, settings, lambda _: True)
        assert [finding.rule for finding in lint_worlds([later], settings, as_it_is).findings] == ["GWP9102"]
        assert lint_worlds([alone], settings, as_it_is).findings == ()


class TestSuppressed:
    def test_it_is_told_apart(self) -> None:
        result = check(world(CART, ACCEPTED, name="east"), world(CART, ACCEPTED, name="west"), world(CART, name="far"))
        assert told(result.findings) == [("cart", NO_GATEWAY, ())]
        ((finding, how, reason),) = (
            (suppression.finding, suppression.how, suppression.reason) for suppression in result.suppressed
        )
        assert told([finding]) == [("menu", NO_GATEWAY, ("east", "west"))]
        assert (how, reason) == ("annotation", "later")
        assert result.every == (*result.findings, finding)

    def test_the_others_are_known_by_the_same_as_before(self) -> None:
        twice = CART.replace("parentRefs: [{", "parentRefs: [{name: public, namespace: infra}, {")
        first, second = check(world(twice)).findings
        assert len({first.fingerprint, second.fingerprint, ""}) == 3

        def comments(source: str) -> list[Comment]:
            return [Comment(line=1, says="ignore GWP4001", lines=range(2, 3))] if source == "<stdin>" else []

        def line_of(origin: Origin | None, field: str) -> Origin | None:
            return Origin("<stdin>", 2 if "[0]" in field else 3) if origin else None

        settings = LintSettings(selected=("GWP4001",))
        result = lint_worlds([world(twice, settings=settings, comments_of=comments)], settings, line_of)
        assert [suppression.finding.fingerprint for suppression in result.suppressed] == [first.fingerprint]
        assert [finding.fingerprint for finding in result.findings] == [second.fingerprint]
        assert lint_worlds([world(twice, settings=settings)], settings, line_of).suppressed == ()

    def test_what_suppresses_nothing_in_any_world(self) -> None:
        fine = world(ACCEPTED, gateway(), name="fine")
        (finding,) = check(fine).findings
        assert (finding.rule, finding.message) == (
            "GWP0007",
            "GWP4001 is not found here, so nothing is suppressed",
        )
        assert finding.fingerprint
        assert check(fine, world(ACCEPTED, name="bare")).findings == ()


class TestLines:
    def test_they_are_those_of_fields(self) -> None:
        one, two = (
            policy("SecurityPolicy", "HTTPRoute/cart", CORS, name=name, created=f"2026-01-{day}T00:00:00Z")
            for day, name in ((10, "one"), (11, "two"))
        )
        settings = LintSettings(selected=("GWP2001",))
        (finding,) = lint_worlds(
            [world(gateway(), CART, one, two, service(), settings=settings)], settings, by_field
        ).findings
        target = "spec.targetRefs[0]"
        assert finding.origin == Origin(target, 28)
        assert [(related.object.name, related.origin) for related in finding.related] == [("one", Origin(target, 23))]

    def test_of_what_is_not_certain_they_are_those_of_objects(self) -> None:
        settings = LintSettings(selected=("GWP4001",))
        (finding,) = lint_worlds([world(CART, complete=False, settings=settings)], settings, by_field).findings
        assert not finding.certain
        assert finding.origin == Origin("", 2)


def test_findings_are_known_by_the_names_of_items() -> None:
    other = "{name: inner, namespace: infra}"
    one = world(CART.replace("parentRefs: [{", f"parentRefs: [{other}, {{"), name="one")
    two = world(MENU, CART.replace("infra}]", f"infra}}, {other}]"), name="two")
    fingerprints = [
        {
            finding.message: finding.fingerprint
            for finding in check(world_).findings
            if finding.subject and finding.subject.name == "cart"
        }
        for world_ in (one, two)
    ]
    assert len(fingerprints[0]) == 2
    assert fingerprints[0] == fingerprints[1]
    assert {finding.fingerprint for finding in check(one, two).findings} >= {*fingerprints[0].values()}


PATCHED: Final = "overlays/prod/patch.yaml patches it"
ELSEWHERE: Final = Origin("overlays/prod/patch.yaml", 1)


def _found(manifests: str, rule: str, gaps: Sequence[Gap] = (), *, complete: bool = True) -> Finding:
    """The one thing that a rule finds."""
    snapshot = replace(snapshot_of(manifests, complete=complete), gaps=tuple(gaps))
    findings = [finding for finding in lint(analyze(snapshot), LintSettings()) if finding.rule == rule]
    assert len(findings) == 1
    return findings[0]


class TestDoubt:
    WRONG: Final = gateway() + route(section="htp") + service()

    @pytest.mark.parametrize(
        "gap",
        [
            Gap("HTTPRoute", "infra", PATCHED, ELSEWHERE, name="cart"),
            Gap("HTTPRoute", "shop", PATCHED, ELSEWHERE, name="other"),
            Gap("Service", "shop", PATCHED, ELSEWHERE, name="cart"),
        ],
    )
    def test_what_does_not_matter(self, gap: Gap) -> None:
        assert _found(self.WRONG, "GWP4002", [gap]).certain

    def test_versions(self) -> None:
        """The one that was read is wrong; what is said of it for another object may be so of that one alone."""
        here = {resource.ref.kind: resource.origin for resource in snapshot_of(self.WRONG).resources}
        of_route, of_gateway = (
            Gap(kind, namespace, "it is different in b.yaml", here[kind], name=name)
            for kind, namespace, name in (("HTTPRoute", "shop", "cart"), ("Gateway", "infra", "public"))
        )
        assert _found(self.WRONG, "GWP4002", [of_route]).certain
        assert not _found(self.WRONG, "GWP4002", [of_gateway]).certain

    @pytest.mark.parametrize(("kind", "name"), [("HTTPRoute", "shop/cart"), ("Gateway", "infra/public")])
    def test_what_matters(self, kind: str, name: str) -> None:
        """The object, and another one that it is about."""
        namespace, _, own = name.partition("/")
        findings = _found(self.WRONG, "GWP4002", [Gap(kind, namespace, PATCHED, ELSEWHERE, name=own)])
        assert not findings.certain
        assert findings.message.endswith(f"; {kind} {name} may be different: {PATCHED}")

    def test_what_is_about_no_object(self) -> None:
        first, second = (Gap("HTTPRoute", "shop", PATCHED, ELSEWHERE, name=name) for name in ("cart", "orders"))
        manifests = route() + service() + route("orders")
        assert _found(manifests, "GWP0001", complete=False).certain
        assert _found(manifests, "GWP0001", [first], complete=False).certain
        assert not _found(manifests, "GWP0001", [first, second], complete=False).certain


class TestSuggestions:
    @pytest.mark.parametrize(
        ("listener", "section", "words"),
        [
            ("https", "htps", "did you mean https?"),
            ("web", "wbe", "did you mean web?"),
            ("web", "we", "did you mean web?"),
        ],
    )
    def test_names(self, listener: str, section: str, words: str) -> None:
        """Of few letters, two that are swapped are much."""
        findings = _found(gateway(listeners=[listener]) + route(section=section), "GWP4002")
        assert findings.fix
        assert (findings.fix.words, findings.fix.value) == (words, listener)

    def test_nothing_like_it(self) -> None:
        assert _found(gateway(listeners=["web"]) + route(section="api"), "GWP4002").fix is None

    def test_another_namespace(self) -> None:
        """Where nothing near has such a name."""
        findings = _found(gateway() + route() + service(namespace="checkout"), "GWP5001")
        assert findings.fix == Fix(words="there is Service checkout/cart", value="")
