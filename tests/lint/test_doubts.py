"""What all rules have in common: what is not certain where objects may be otherwise, and what else may be meant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from msgspec.structs import replace

from kubectl_policy import analyze
from kubectl_policy.lint.settings import LintSettings
from kubectl_policy.model import Gap, Origin
from tests.lint.examples import lint, snapshot_of
from tests.lint.shop import gateway, route, service

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.lint.finding import Finding

PATCHED: Final = "overlays/prod/patch.yaml patches it"
ELSEWHERE: Final = Origin("overlays/prod/patch.yaml", 1)


def _found(manifests: str, rule: str, gaps: Sequence[Gap] = (), *, complete: bool = True) -> Finding:
    """The one thing that a rule finds."""
    snapshot = replace(snapshot_of(manifests, complete=complete), gaps=tuple(gaps))
    found = [each for each in lint(analyze(snapshot), LintSettings()) if each.rule == rule]
    assert len(found) == 1
    return found[0]


class TestDoubt:
    """What may be different once it is rendered."""

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
        """Something else."""
        assert _found(self.WRONG, "GWP4002", [gap]).certain

    def test_versions(self) -> None:
        """The one that was read is wrong; what is said of it for another object may be so of that one alone."""
        here = {each.ref.kind: each.origin for each in snapshot_of(self.WRONG).resources}
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
        found = _found(self.WRONG, "GWP4002", [Gap(kind, namespace, PATCHED, ELSEWHERE, name=own)])
        assert not found.certain
        assert found.message.endswith(f"; {kind} {name} may be otherwise: {PATCHED}")

    def test_what_is_about_no_object(self) -> None:
        """One of several that say it is enough."""
        first, second = (Gap("HTTPRoute", "shop", PATCHED, ELSEWHERE, name=name) for name in ("cart", "orders"))
        manifests = route() + service() + route("orders")
        assert _found(manifests, "GWP0001", complete=False).certain
        assert _found(manifests, "GWP0001", [first], complete=False).certain
        assert not _found(manifests, "GWP0001", [first, second], complete=False).certain


class TestSuggestions:
    """A name that may be meant."""

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
        found = _found(gateway(listeners=[listener]) + route(section=section), "GWP4002")
        assert found.fix
        assert (found.fix.words, found.fix.value) == (words, listener)

    def test_nothing_like_it(self) -> None:
        """Then none is suggested."""
        assert _found(gateway(listeners=["web"]) + route(section="api"), "GWP4002").fix is None

    def test_another_namespace(self) -> None:
        """Where nothing near has such a name."""
        found = _found(gateway() + route() + service(namespace="checkout"), "GWP5001")
        assert found.fix
        assert (found.fix.words, found.fix.value) == ("there is Service checkout/cart", "")
