"""Statements on policies about connections of Pods."""

from __future__ import annotations

from typing import Final

import pytest

from kubectl_policy import analyze
from kubectl_policy.questions.explain import explain
from kubectl_policy.render.explain.statements import explanation_headline, statements
from tests import build


def said(kind: str) -> dict[str, str]:
    """The statements about a built-in kind by their labels."""
    return {statement.label: statement.text for statement in statements(explain(analyze(build.snapshot()), kind))}


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("networkpolicy", "a policy changes connections of the Pods to which it applies."),
        ("ccnp", "a policy changes connections of the Pods to which it applies; its rules are not evaluated."),
        ("sgnp", "a policy is a draft, and changes nothing."),
    ],
)
def test_the_headline_says_whether_rules_are_evaluated(kind: str, sentence: str) -> None:
    headline = explanation_headline(explain(analyze(build.snapshot()), kind))
    assert headline.partition(": ")[2] == sentence


ISOLATING: Final = (
    "NetworkPolicy: asked about connections that no policy of tier Admin allows or denies; if any policy applies to a"
    " Pod in a direction, what none of these policies allows is denied"
)


@pytest.mark.parametrize(
    ("kind", "label", "text"),
    [
        ("networkpolicy", "named in", "spec.podSelector"),
        ("networkpolicy", "reach", "connections of the Pods to which it applies"),
        ("networkpolicy", "decides about", "connections that these Pods open and accept"),
        (
            "networkpolicy",
            "tier",
            ISOLATING,
        ),
        ("networkpolicy", "order", "none: policies add up, and a connection is allowed if one of them allows it"),
        ("networkpolicy", "evaluated", "yes, with the other policies of the tiers Admin, NetworkPolicy and Baseline"),
        (
            "adminnetworkpolicy",
            "tier",
            "Admin: asked first; a rule allows or denies a connection for good, or passes it on to the next tier",
        ),
        (
            "adminnetworkpolicy",
            "order",
            "by spec.priority, the lowest number first; the first rule that matches decides",
        ),
        (
            "banp",
            "tier",
            "Baseline: asked about connections that no earlier tier decides; what no policy decides is allowed",
        ),
        ("clusternetworkpolicy.policy.networking.k8s.io", "tier", "the one in spec.tier"),
        ("egressfirewall", "named in", "no field: a policy applies to all Pods in the namespace of the policy"),
        (
            "egressfirewall",
            "decides about",
            "connections that these Pods open with addresses outside of the cluster",
        ),
        ("fqdnnetworkpolicy", "decides about", "connections that these Pods open"),
        (
            "ccnp",
            "evaluated",
            "no: answers about connections name the policies that apply to a Pod, or may, as these can change verdicts",
        ),
        ("sgnp", "reach", "nothing"),
        ("sgnp", "evaluated", "no: policies of the kind are only staged, and change no connection"),
    ],
)
def test_statements(kind: str, label: str, text: str) -> None:
    assert said(kind)[label] == text


def test_what_has_no_order_and_no_tier_says_nothing_of_these() -> None:
    assert {"tier", "order"}.isdisjoint(said("egressfirewall"))
    assert "decides about" not in said("backendtlspolicy.gateway.networking.k8s.io")
