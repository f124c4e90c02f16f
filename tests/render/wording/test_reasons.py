"""Phrases for fields that controllers ignore, refuse or take from elsewhere; no reason names a wrong winner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from msgspec.structs import replace

from kubectl_policy import NodeRef, analyze
from kubectl_policy.model.fields import mapping_at, mappings_at
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy
from kubectl_policy.questions.explain import explain
from kubectl_policy.render.explain.statements import explanation_text
from kubectl_policy.render.output.text import View, to_text
from tests import build
from tests.implementations import manifests, places, policy_ref, without
from tests.render.schema import VALIDATOR
from tests.render.shown import document_of, shown

if TYPE_CHECKING:
    from kubectl_policy import Analysis, ObjectRef

WIDE: Final = 400
NGINX: Final = "nginx-gateway-fabric"
NGINX_GROUP: Final = "gateway.nginx.org"
KGATEWAY: Final = "gateway.kgateway.dev"


def about(analysis: Analysis, node: NodeRef) -> str:
    return shown(describe(analysis, node), "tree", View(WIDE))


def about_policy(analysis: Analysis, name: str) -> str:
    return shown(describe_policy(analysis, policy_ref(analysis, name)), "tree", View(WIDE))


def route(name: str, namespace: str) -> NodeRef:
    return build.node("HTTPRoute", name, namespace=namespace)


HARBOUR: Final = build.node("Gateway", "harbour", namespace="platform")


@pytest.mark.parametrize(
    ("world", "node", "expected"),
    [
        (
            "kgateway",
            route("tickets", "sailings"),
            ('instead of {"maxRequestSize": "16Ki"}, sailings/selling (the heavier policy goes first)'),
        ),
        (
            "kgateway",
            route("north", "islands"),
            ("instead of 20s, islands/north (the route above wins, by its annotation)"),
        ),
        ("kgateway", route("north", "islands"), "instead of 30s, platform/house (the nearer policy wins)"),
        (
            "kgateway",
            HARBOUR,
            (
                "platform/old-clients → listener http has no effect: default.httpSettings.streamIdleTimeout 5s "
                "(controllers ignore it here)"
            ),
        ),
        (
            "kgateway",
            HARBOUR,
            ("https only, no effect: perPort[80].listener.httpSettings.serverName (it is for another port)"),
        ),
        (
            "kgateway",
            HARBOUR,
            (
                "platform/names has no effect: default.httpSettings.xffNumTrustedHops 2, "
                "default.httpSettings.serverName harbour "
                "(perPort has an entry for this port, which is used instead)"
            ),
        ),
        ("kgateway", HARBOUR, "instead of 2, platform/names (the older policy wins)"),
        (NGINX, route("comments", "newsroom"), ("instead of false, newsroom/writers (controllers ignore it here)")),
        (
            NGINX,
            route("articles", "newsroom"),
            (
                "newsroom/pages → HTTPRoute newsroom/articles has no effect: "
                "buffering.disable false, buffering.bufferSize 16k "
                "(refused on all of its targets, for ProxySettingsPolicy newsroom/live "
                "→ HTTPRoute newsroom/comments)"
            ),
        ),
    ],
)
def test_an_object_says_why_not(world: str, node: NodeRef, expected: str) -> None:
    """A reader on call looks for who has won, and for why the others have not."""
    assert expected in about(analyze(manifests(world)), node)


@pytest.mark.parametrize(
    ("world", "name", "expected"),
    [
        (
            "kgateway",
            "ListenerPolicy platform/old-clients",
            "listener http has no effect: controllers ignore everything that it sets there.\n",
        ),
        ("kgateway", "ListenerPolicy platform/house", "is for another port on listener https only\n"),
        ("kgateway", "ListenerPolicy platform/house", "an entry of perPort is used instead on listener http only\n"),
        (
            "kgateway",
            "ListenerPolicy platform/house",
            "Attached True (Merged: fields that are merged there are set by others)\n",
        ),
        ("kgateway", "TrafficPolicy platform/house", "Gateway platform/harbour: Accepted True, Attached True\n"),
        (NGINX, "RateLimitPolicy newsroom/writers", "is enforced in part, on its only path; it affects 1 HTTPRoute.\n"),
        (NGINX, "RateLimitPolicy newsroom/writers", "controllers ignore it\n"),
        (
            NGINX,
            "ClientSettingsPolicy newsroom/long",
            (
                "Accepted False (Conflicted: ClientSettingsPolicy newsroom/short sets body.maxSize of HTTPRoute "
                "newsroom/comments already), Programmed False (Overridden)\n"
            ),
        ),
        (
            NGINX,
            "ProxySettingsPolicy newsroom/pages",
            "refused on all of its targets, for ProxySettingsPolicy newsroom/live → HTTPRoute newsroom/comments",
        ),
        (NGINX, "ProxySettingsPolicy newsroom/pages", "conflicts with ProxySettingsPolicy newsroom/live → HTTPRoute"),
        (NGINX, "ClientSettingsPolicy newsroom/short", "comments: Accepted True, Programmed True\n"),
    ],
)
def test_a_policy_says_why_not(world: str, name: str, expected: str) -> None:
    """What is passed over is not called replaced, and what has been said is not said again."""
    assert expected in about_policy(analyze(manifests(world)), name)


def test_the_key_of_an_element_is_no_setting_that_somebody_loses() -> None:
    """It is in the name of the element already."""
    assert "perPort[80].port" not in about_policy(analyze(manifests("kgateway")), "ListenerPolicy platform/names")


def test_a_note_on_a_kind_stands_once_in_an_answer() -> None:
    """However many rules have an outcome of their own."""
    text = about(analyze(manifests("kgateway")), route("tickets", "sailings"))
    assert text.count("  TrafficPolicy  ") == 3
    assert text.count("not everything about TrafficPolicy is computed") == 1


def test_nothing_is_missing_where_everything_is_passed_over() -> None:
    """What is below the target was read; the answer does not ask for more."""
    answer = describe_policy(
        analyze(manifests("kgateway")),
        policy_ref(analyze(manifests("kgateway")), "ListenerPolicy platform/old-clients"),
    )
    assert answer.unseen == ()


def test_an_equal_weight_leaves_the_older_policy_first() -> None:
    """As if neither had any."""
    world = manifests("kgateway")
    (summer,) = (policy for policy in world.resources if str(policy.ref) == "TrafficPolicy sailings/summer")
    metadata = {key: value for key, value in mapping_at(summer.raw, "metadata").items() if key != "annotations"}
    light = replace(summer, raw={**summer.raw, "metadata": metadata})
    remaining = without(world, str(summer.ref))
    analysis = analyze(replace(remaining, resources=(*remaining.resources, light)))
    text = about(analysis, route("tickets", "sailings"))
    assert "sailings/summer (the older policy wins)" in text
    assert "the heavier policy" not in text


@pytest.mark.parametrize("world", [NGINX, "kgateway"])
def test_the_documents_are_as_their_schema_says(world: str) -> None:
    analysis = analyze(manifests(world))
    nodes: dict[ObjectRef, None] = dict.fromkeys(node.object for node in places(analysis))
    documents = [document_of(describe(analysis, NodeRef(ref))) for ref in nodes]
    documents += [document_of(describe_policy(analysis, policy.ref)) for policy in analysis.policies]
    assert [VALIDATOR.is_valid(policy) for policy in documents] == [True] * len(documents)


def test_a_document_says_where_a_field_is_passed_over() -> None:
    analysis = analyze(manifests("kgateway"))
    policy = document_of(describe_policy(analysis, policy_ref(analysis, "ListenerPolicy platform/old-clients")))
    (field,) = mappings_at(policy, "fields")
    assert (field["unheededOn"], field["effectiveOn"], field["superseded"]) == ([1], [], [])


@pytest.mark.parametrize(
    ("world", "kind", "expected"),
    [
        (
            NGINX,
            f"RateLimitPolicy.{NGINX_GROUP}",
            "rateLimit.dryRun with the value false on a Gateway, an HTTPRoute or a",
        ),
        (NGINX, f"ObservabilityPolicy.{NGINX_GROUP}", "; a Gateway without parameters enables the policy, too"),
        (NGINX, f"UpstreamSettingsPolicy.{NGINX_GROUP}", "one entry per parent Gateway of a route to the target"),
        (NGINX, f"SnippetsPolicy.{NGINX_GROUP}", "snippetspolicies, snippetspolicy\n"),
        ("kgateway", f"TrafficPolicy.{KGATEWAY}", "field by field, the heavier or else the older policy wins"),
        ("kgateway", f"ListenerPolicy.{KGATEWAY}", "field by field, the older policy wins"),
        ("kgateway", f"ListenerPolicy.{KGATEWAY}", "kgateway.globalPolicyNamespace (default: nothing): KGW"),
    ],
)
def test_a_kind_is_explained_as_it_is(world: str, kind: str, expected: str) -> None:
    policy = explain(analyze(manifests(world)), kind)
    assert expected in to_text(explanation_text(policy, View(WIDE * 10)), WIDE * 10)
