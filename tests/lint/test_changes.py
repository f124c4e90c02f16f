"""What a change makes worse: what is about security, traffic, and policies that are left without effect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.comparison import compare
from kubectl_policy.lint.settings import LintSettings
from tests.lint.rule_worlds import lint, snapshot_of
from tests.lint.test_requirements import HEAD, JWT, TIMED, envoy_policy

if TYPE_CHECKING:
    from kubectl_policy.lint.finding import Finding

SECURED = HEAD + envoy_policy("SecurityPolicy", f"jwt: {JWT}")
CORS = envoy_policy("SecurityPolicy", "cors: {allowOrigins: ['https://shop.example.com']}", "HTTPRoute", "cart")


def check(before: str, after: str) -> list[tuple[str, str, str, bool]]:
    """What the rules about changes find: the rule, the subject, the message, and whether that is certain."""
    return [
        (finding.rule, str(finding.subject or ""), finding.message, finding.certain)
        for finding in findings(before, after)
    ]


def findings(before: str, after: str) -> list[Finding]:
    comparison = compare(snapshot_of(before), snapshot_of(after))
    every = lint(comparison.after, LintSettings(selected=("GWP91",)), comparison=comparison)
    return [finding for finding in every if finding.rule.startswith("GWP91")]


def test_what_is_the_same_is_no_worse() -> None:
    assert check(SECURED, SECURED) == []
    assert check(HEAD, SECURED) == []
    assert check(TIMED, HEAD) == []


def test_without_a_state_before_nothing_is_worse() -> None:
    assert lint(compare(snapshot_of(HEAD), snapshot_of(HEAD)).after, LintSettings(selected=("GWP91",))) == ()


def test_a_nearer_policy_that_takes_a_token_away() -> None:
    first, second = findings(SECURED, SECURED + CORS)
    assert (first.rule, first.certain) == ("GWP9101", True)
    assert str(first.subject) == "HTTPRoute shop/cart"
    assert first.message.startswith("jwt.providers")
    assert "of SecurityPolicy is lost for " in first.message
    assert [(str(related.object), related.words, related.origin is not None) for related in first.related] == [
        ("SecurityPolicy shop/gateway-public", "set it before", True)
    ]
    assert (second.rule, str(second.subject)) == ("GWP9103", "SecurityPolicy shop/gateway-public")
    assert second.message == (
        "had an effect before (Enforced) and no longer has one (Overridden): "
        "SecurityPolicy shop/httproute-cart now overrides it"
    )


def test_a_token_of_somebody_else() -> None:
    other = SECURED.replace("https://login.example.com/keys", "https://evil.example.net/keys")
    ((rule, subject, message, certain),) = check(SECURED, other)
    assert (rule, subject, certain) == ("GWP9101", "SecurityPolicy shop/gateway-public", True)
    assert "has another value for " in message


def test_a_policy_that_is_deleted() -> None:
    assert [(rule, subject) for rule, subject, *_ in check(SECURED, HEAD)] == [("GWP9101", "HTTPRoute shop/cart")]


def test_a_route_that_gets_no_requests_any_more() -> None:
    elsewhere = HEAD.replace("port: 80}", "port: 80, hostname: '*.example.org'}")
    assert check(HEAD, elsewhere) == [
        ("GWP9102", "HTTPRoute shop/cart", "gets fewer requests than before (hostnames shop.example.com)", True)
    ]
    nowhere = elsewhere.replace("port: 81}", "port: 81, hostname: '*.example.org'}")
    assert check(HEAD, nowhere) == [
        ("GWP9102", "HTTPRoute shop/cart", "no longer gets requests (hostnames shop.example.com)", True)
    ]


def test_a_route_that_is_deleted() -> None:
    before = HEAD
    after = "---".join(part for part in HEAD.split("---") if "HTTPRoute" not in part)
    (finding,) = findings(before, after)
    assert (finding.rule, finding.severity, finding.subject) == ("GWP9102", "warning", None)
    assert finding.message == "HTTPRoute shop/cart is gone (hostnames shop.example.com)"
    assert finding.origin


def test_a_policy_that_still_has_an_effect_is_no_worse_off() -> None:
    both = SECURED + envoy_policy(
        "SecurityPolicy", "cors: {allowOrigins: ['https://shop.example.com']}", section="http"
    )
    assert [finding.rule for finding in findings(SECURED, both)] == ["GWP9101"]


def test_what_is_not_linted_is_not_gone() -> None:
    elsewhere = HEAD.replace("port: 80}", "port: 80, hostname: '*.example.org'}")
    deleted = "---".join(part for part in HEAD.split("---") if "HTTPRoute" not in part)
    for before, after in ((HEAD, elsewhere), (HEAD, deleted), (SECURED, HEAD)):
        comparison = compare(snapshot_of(before), snapshot_of(after))
        settings = LintSettings(selected=("GWP91",))
        findings = lint(comparison.after, settings, lambda each: each.ref.namespace == "other", comparison)
        assert [finding.rule for finding in findings if finding.rule.startswith("GWP91")] == []
