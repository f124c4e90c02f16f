"""Settings in a few short phrases: what parts say, what follows by name, and what the built-in profiles say."""

from collections.abc import Mapping
from typing import Any

import pytest

from kubectl_policy.model import GroupKind
from kubectl_policy.profiles.load import built_in_profiles
from kubectl_policy.profiles.summary import SummaryPart, summarize


def phrases(spec: Mapping[str, Any], *parts: SummaryPart) -> tuple[str, ...]:
    return summarize(parts, spec)


def part(field: str, words: str, **more: Any) -> SummaryPart:  # noqa: ANN401 (as the value has them)
    return SummaryPart(field=field, words=words, **more)


def test_what_no_part_is_about_is_named() -> None:
    """With its value if that is plain, or all that it holds; nulls set nothing."""
    spec = {"attempts": 5, "on": True, "backOff": {"base": "1s", "most": "2s"}, "a": {"b": {"c": 0.5}}, "gone": None}
    assert phrases(spec) == ("attempts 5", "on true", "backOff", "a.b.c 0.5")


def test_a_phrase_needs_a_value_for_each_placeholder() -> None:
    """Otherwise the next part for the same field counts, and then its name."""
    parts = (part("issuer", "from {kind} {name}"), part("issuer", "from {name}"))
    assert phrases({"issuer": {"kind": "Issuer", "name": "x"}}, *parts) == ("from Issuer x",)
    assert phrases({"issuer": {"name": "x"}}, *parts) == ("from x",)
    assert phrases({"issuer": {"other": [1, 2]}}, *parts) == ("issuer.other",)
    assert phrases({"issuer": None}, *parts) == ()


def test_items_and_entries_have_a_phrase_each() -> None:
    """Entries also have a name; the same phrase is said once."""
    spec = {"limits": {"a": {"rates": [{"n": 5, "unit": "Second"}, {"n": 9, "unit": "Year"}]}, "b": {}}}
    rates = part("limits.*.rates[]", "{n}/{unit} ({*})", terms={"Second": "s"})
    assert phrases(spec, rates) == ("5/s (a)", "9/Year (a)")
    assert phrases({"rules": [{"name": "x"}, {"name": "x"}, "y"]}, part("rules[]", "rule {name}")) == ("rule x",)


def test_numbers_have_nouns() -> None:
    assert phrases({"filters": [{}]}, part("filters", "{# filter}")) == ("1 filter",)
    assert phrases({"limits": {"a": 1, "b": 2}}, part("limits", "{#} of them")) == ("2 of them",)
    assert phrases({"retries": 3}, part("retries", "{# retry}")) == ("3 retries",)
    assert phrases({"retries": 0, "filters": []}, part("retries", "{# retry}"), part("filters", "{# filter}")) == (
        "0 retries",
    )


def test_many_values_in_one_phrase_are_cut() -> None:
    """The rest is a number: a summary is no place to look them up."""
    spec = {"hosts": [{"name": name} for name in "abcde"]}
    assert phrases(spec, part("hosts", "for {[].name}")) == ("for a, b, c and 2 more",)
    assert phrases({"codes": [502, 503, 504]}, part("codes", "on {}")) == ("on 502, 503, 504",)
    assert phrases(spec, part("hosts[]", "for {name}")) == ("for a", "for b", "for c", "2 more")


def test_a_part_may_depend_on_other_fields_and_say_nothing() -> None:
    parts = (part("local.n", "{} here", when={"type": ("Local",)}), part("local", ""), part("type", ""))
    assert phrases({"type": "Local", "local": {"n": 1}}, *parts) == ("1 here",)
    assert phrases({"type": "Global", "local": {"n": 1}}, *parts) == ()


def test_what_is_said_once_is_not_said_of_what_is_in_it_or_around_it() -> None:
    assert phrases({"oidc": {"issuer": "x"}}, part("oidc.issuer", "OIDC by {}"), part("oidc", "OIDC")) == ("OIDC by x",)
    assert phrases({"oidc": {"id": "x"}}, part("oidc.issuer", "OIDC by {}"), part("oidc", "OIDC")) == ("OIDC",)
    options = {"options": {"cors": {"a": 1}, "csrf": {}}}
    assert phrases(options, part("options.cors", "CORS"), part("options.*", "{*}")) == ("CORS", "csrf")


@pytest.mark.parametrize(
    ("group", "kind", "spec", "expected"),
    [
        (
            "gateway.envoyproxy.io",
            "SecurityPolicy",
            {"cors": {"allowOrigins": ["*"]}, "jwt": {"providers": [{"name": "acme"}, {"name": "b"}]}},
            ("JWT from acme", "JWT from b", "CORS"),
        ),
        (
            "gateway.envoyproxy.io",
            "BackendTrafficPolicy",
            {
                "rateLimit": {
                    "type": "Local",
                    "local": {"rules": [{"limit": {"requests": 10, "unit": "Second"}}]},
                    "global": {"rules": [{"limit": {"requests": 600, "unit": "Minute"}}]},
                },
                "timeout": {"http": {"requestTimeout": "5s"}},
                "retry": {"numRetries": 2},
                "proxyProtocol": {"version": "V2"},
            },
            ("10 requests/s", "5s timeout", "2 retries", "proxyProtocol.version V2"),
        ),
        (
            "gateway.envoyproxy.io",
            "ClientTrafficPolicy",
            {"tls": {"minVersion": "1.2"}, "clientIPDetection": {"xForwardedFor": {"numTrustedHops": 2}}},
            ("TLS ≥ 1.2", "2 trusted hops"),
        ),
        ("gateway.envoyproxy.io", "EnvoyExtensionPolicy", {"lua": [{"type": "Inline"}]}, ("1 Lua filter",)),
        (
            "kuadrant.io",
            "RateLimitPolicy",
            {"limits": {"global": {"rates": [{"limit": 5, "window": "10s"}]}}},
            ("5 requests/10s (global)",),
        ),
        (
            "kuadrant.io",
            "AuthPolicy",
            {"rules": {"authentication": {"keycloak": {"jwt": {}}}, "authorization": {"deny": {"opa": {}}}}},
            ("authentication keycloak", "authorization deny"),
        ),
        ("kuadrant.io", "TLSPolicy", {"issuerRef": {"name": "ca"}}, ("certificates from ca",)),
        ("gateway.kgateway.dev", "TrafficPolicy", {"csrf": {}, "retry": {"attempts": 2}}, ("CSRF", "2 retries")),
        ("gateway.nginx.org", "ClientSettingsPolicy", {"body": {"maxSize": "1m"}}, ("bodies up to 1m",)),
        ("security.istio.io", "PeerAuthentication", {"mtls": {"mode": "STRICT"}}, ("mTLS required",)),
        ("gateway.solo.io", "RouteOption", {"options": {"cors": {}, "faults": {}}}, ("CORS", "faults")),
        ("gateway.networking.k8s.io", "BackendTLSPolicy", {"validation": {"hostname": "x"}}, ("TLS to x",)),
    ],
)  # fmt: skip
def test_built_in_words(group: str, kind: str, spec: Mapping[str, Any], expected: tuple[str, ...]) -> None:
    assert built_in_profiles(group)[GroupKind(group, kind)].summary_of(spec) == expected


def test_all_fields_of_built_in_summaries_are_used() -> None:
    """A part that another one before it always comes before would never be seen."""
    for group in ("gateway.envoyproxy.io", "gateway.kgateway.dev", "kuadrant.io", "gateway.solo.io"):
        for profile in built_in_profiles(group).values():
            plain = [each for each in profile.summary if not each.when and "{" not in each.words]
            for later in plain:
                before = profile.summary[: profile.summary.index(later)]
                assert not any(each in plain and f"{later.field}.".startswith(f"{each.field}.") for each in before)
