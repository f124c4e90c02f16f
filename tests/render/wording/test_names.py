"""Names, numbers, hedges, paths and reasons in text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from msgspec.structs import replace

from kubectl_policy import NodeRef, analyze
from kubectl_policy.model import Gap, GroupKind, Json, Origin, Permission
from kubectl_policy.model.fields import mapping_at, mappings_at
from kubectl_policy.model.kind_roles import GATEWAY_API, GATEWAY_API_EXPERIMENTAL
from kubectl_policy.model.kinds import listed
from kubectl_policy.questions.blind_spots.unknowns import FILL_IN, SAY_NAMESPACE, BlindSpot
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy
from kubectl_policy.questions.explain import explain
from kubectl_policy.render.explain.statements import explanation_text
from kubectl_policy.render.output.text import View, to_text
from kubectl_policy.render.wording import names as words
from kubectl_policy.render.wording.blind_spots import remedy_phrase, unread_hedge
from kubectl_policy.render.wording.names import at_origin
from kubectl_policy.render.wording.paths import path_lines
from kubectl_policy.resolution import Source
from kubectl_policy.topology.references import section_words
from tests import build
from tests.build import node, ref
from tests.implementations import manifests, places, policy_ref, without
from tests.render.schema import VALIDATOR
from tests.render.shown import document_of, shown

if TYPE_CHECKING:
    from kubectl_policy import Analysis, ObjectRef
    from kubectl_policy.topology import Path


@pytest.mark.parametrize(
    ("number", "noun", "expected"),
    [
        (0, "policy", "0 policies"),
        (1, "policy", "1 policy"),
        (2, "RetryPolicy", "2 RetryPolicies"),
        (2, "Gateway", "2 Gateways"),
        (2, "GatewayClass", "2 GatewayClasses"),
    ],
)
def test_nouns_are_counted(number: int, noun: str, expected: str) -> None:
    assert words.count(number, noun) == expected


@pytest.mark.parametrize(
    ("names_", "expected"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_words_are_listed(names_: list[str], expected: str) -> None:
    assert listed(names_) == expected


@pytest.mark.parametrize(
    ("letters", "expected"),
    [("ab", "a and b"), ("abc", "a, b and c"), ("abcd", "a, b and 2 more"), ("abcdefg", "a, b and 5 more")],
)
def test_of_many_words_the_first_ones_are_listed(letters: str, expected: str) -> None:
    assert listed([*letters], 3) == expected


@pytest.mark.parametrize(
    ("number", "total", "expected"),
    [(1, 1, "its only path"), (2, 2, "both of its paths"), (4, 4, "all 4 of its paths"), (1, 4, "1 of its 4 paths")],
)
def test_paths_are_counted_out_of_all(number: int, total: int, expected: str) -> None:
    assert words.of_all(number, total) == expected


@pytest.mark.parametrize(
    ("kind", "section", "expected"),
    [
        ("Gateway", "https", "listener https"),
        ("XListenerSet", "https", "listener https"),
        ("HTTPRoute", "api", "rule api"),
        ("HTTPRoute", "rule[2]", "rule[2]"),
        ("Service", "8080", "port 8080"),
        ("Widget", "part", "section part"),
    ],
)
def test_sections_are_called_what_they_are(kind: str, section: str, expected: str) -> None:
    """Listeners, rules and ports; anything else is a section."""
    group = {"Service": "", "XListenerSet": GATEWAY_API_EXPERIMENTAL}.get(kind, GATEWAY_API)
    assert section_words(node(kind, "x", section, group=group)) == expected


def test_a_kind_of_the_same_name_in_another_group_is_another_kind() -> None:
    """Knative has a Service without ports of its own."""
    assert section_words(node("Service", "x", "8080", group="serving.knative.dev")) == "section 8080"


def test_a_node_is_its_object_and_section() -> None:
    assert words.node_label(node("Gateway", "edge", "https", "infra")) == "Gateway infra/edge, listener https"
    assert words.node_label(node("GatewayClass", "public")) == "GatewayClass public"


def test_the_most_frequent_kind_comes_first() -> None:
    kinds = [
        GroupKind("", "Service"),
        GroupKind("x", "HTTPRoute"),
        GroupKind("", "Service"),
        GroupKind("x", "GRPCRoute"),
    ]
    assert words.kind_counts(kinds) == "2 Services, 1 GRPCRoute, 1 HTTPRoute"


def test_a_source_is_a_policy_on_its_target() -> None:
    target = node("HTTPRoute", "r")
    assert (
        words.source_phrase(Source(ref("ColorPolicy", "p", group="x"), target))
        == "ColorPolicy default/p → HTTPRoute default/r"
    )
    assert words.source_phrase(Source(target.object, target)) == "HTTPRoute default/r itself"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("10s", "10s"),
        ("", '""'),
        (" padded", '" padded"'),
        ("5", '"5"'),
        ("-1.5", '"-1.5"'),
        ("true", '"true"'),
        ("[x", '"[x"'),
        (5, "5"),
        (None, "null"),
        (["5xx", 1], '["5xx", 1]'),
        ({"a": {"b": True}}, '{"a": {"b": true}}'),
        # What a CI or a terminal obeys is written as JSON writes it.
        (["x##[add-mask]y"], r'["x\u0023#[add-mask]y"]'),
        (["\x7f\u202e"], r'["\u007f\u202e"]'),
    ],
)
def test_a_value_is_written_in_one_line(value: Json, expected: str) -> None:
    """Text bare unless it could be taken for something else; the rest as JSON."""
    assert words.flow(value) == expected


def test_what_is_in_no_file_has_no_place() -> None:
    """The name of a context says nothing that the reader did not ask for."""
    assert at_origin(None, " ({})") == ""
    assert at_origin(Origin("production"), " ({})") == ""


def test_a_file_and_a_line() -> None:
    assert at_origin(Origin("a.yaml", 3)) == "a.yaml:3"
    assert at_origin(Origin("a.yaml", 3), " ({})") == " (a.yaml:3)"


FILE = BlindSpot(what="objects of any kind", reason="x", origin=Origin("a.yaml", 1))
OBJECT = BlindSpot(what="Gateway default/g", reason="x")
UNFILLED = BlindSpot(what="HTTPRoute default/r", reason="a name contains a placeholder", remedy=FILL_IN)
HOMELESS = BlindSpot(what="the namespace of HTTPRoute default/r", reason="x", remedy=SAY_NAMESPACE)
ONE_OBJECT = ", as far as could be read: 1 object is not in the input"
PATCHED = BlindSpot(what="HTTPRoute default/r", reason="x", origin=Origin("a.yaml", 9), is_there=True)


def gap(kind: str, namespace: str = "", *, forbidden: bool = True, verb: str = "list") -> Gap:
    needs = Permission(verb, f"{kind.lower()}s.io", namespace) if forbidden else None
    return Gap(kind, namespace, "x", group="io", needs=needs)


def hidden(*gaps: Gap) -> BlindSpot:
    return BlindSpot(what="x", reason="x", remedy="ask again", gaps=gaps)


POLICY = BlindSpot(what="ColorPolicy default/p", reason="x", policies=(build.ref("ColorPolicy", "p"),))


@pytest.mark.parametrize(
    ("unseen", "expected"),
    [
        ([], ""),
        ([FILE, FILE], ", as far as could be read: 1 file may hold more"),
        ([FILE, OBJECT], ", as far as could be read: 1 object is not in the input and 1 file may hold more"),
        ([PATCHED], ", as far as could be read: 1 object may be different"),
        ([FILE, PATCHED], ", as far as could be read: 1 file may hold more and 1 object may be different"),
        ([UNFILLED, UNFILLED], ", as far as could be read: placeholders are to be filled in"),
        ([HOMELESS], ", as far as could be read: not every namespace is known"),
        ([OBJECT, UNFILLED], f"{ONE_OBJECT} and placeholders are to be filled in"),
        ([POLICY], "; how 1 policy attaches is not computed"),
        ([hidden(gap("Fee", "a"), gap("Fee", "b"))], ", as far as could be read: Fees are hidden from you"),
        (
            [hidden(gap("Fee")), hidden(gap("Foe")), hidden(gap("Fie", forbidden=False))],
            ", as far as could be read: Fees and Foes are hidden from you and Fies could not be read",
        ),
        ([hidden(*map(gap, "ABCD"))], ", as far as could be read: objects of 4 kinds are hidden from you"),
    ],
)
def test_what_could_not_be_seen_is_counted(unseen: list[BlindSpot], expected: str) -> None:
    """Files, objects that are not there, and those that may not be as they were read."""
    assert unread_hedge(unseen) == expected


@pytest.mark.parametrize(
    ("spot", "expected"),
    [
        (OBJECT, "To do: add the manifest that contains it"),
        (hidden(gap("Fee", forbidden=False)), "To do: ask again"),
        (hidden(gap("Fee", "a")), "Needs: list fees.io in namespace a"),
        (hidden(gap("Fee", "a"), gap("Fee", "b")), "Needs: list fees.io in namespaces a and b"),
        (hidden(gap("Fee", "a"), gap("Fee")), "Needs: list fees.io in all namespaces"),
        (
            hidden(gap("Fee", "a"), gap("Foe", verb="get")),
            "Needs: list fees.io in namespace a and get foes.io in all namespaces",
        ),
    ],
)
def test_what_to_do_is_a_permission_where_that_is_missing(spot: BlindSpot, expected: str) -> None:
    assert remedy_phrase(spot) == expected


ROUTE = node("HTTPRoute", "r")


def _path(listener: str, rule: str = "rule[0]", gateway: str = "g") -> Path:
    return (
        node("Namespace", "default", group=""),
        node("Gateway", gateway),
        node("Gateway", gateway, listener),
        ROUTE,
        node("HTTPRoute", "r", rule),
        node("Service", "s", group=""),
        node("Service", "s", "8080", group=""),
    )


def _shown(paths: tuple[Path, ...], view: View, *, numbered: bool = False) -> str:
    return to_text(path_lines(paths, ROUTE, view, numbered=numbered), view.width)


def test_a_path_leaves_out_what_goes_without_saying() -> None:
    """Namespaces, and the owner of a section that follows its owner."""
    assert (
        _shown((_path("http"),), View(200)).strip()
        == "Gateway default/g ▸ listener http ▸ HTTPRoute default/r ▸ rule[0] ▸ Service default/s:8080"
    )


def test_a_section_without_its_owner_before_it_is_named_in_full() -> None:
    """A port that a path enters by itself."""
    assert (
        _shown(((node("Service", "s", "8080", group=""), ROUTE),), View(200)).strip()
        == "Service default/s:8080 ▸ HTTPRoute default/r"
    )


def test_a_path_of_a_namespace_alone_shows_it() -> None:
    assert _shown(((node("Namespace", "default", group=""),),), View(200)).strip() == "Namespace default"


def test_paths_of_one_shape_stand_in_columns() -> None:
    assert _shown((_path("http"), _path("https")), View(100)).splitlines() == [
        "  Gateway default/g ▸ listener http  ▸ HTTPRoute default/r ▸ rule[0] ▸ Service default/s:8080",
        "  Gateway default/g ▸ listener https ▸ HTTPRoute default/r ▸ rule[0] ▸ Service default/s:8080",
    ]


def test_a_common_beginning_stands_once_where_lines_are_too_long() -> None:
    assert _shown((_path("http"), _path("https")), View(80)).splitlines() == [
        "  Gateway default/g",
        "    ▸ listener http  ▸ HTTPRoute default/r ▸ rule[0] ▸ Service default/s:8080",
        "    ▸ listener https ▸ HTTPRoute default/r ▸ rule[0] ▸ Service default/s:8080",
    ]


def test_a_common_beginning_that_is_too_long_itself_goes_on_below() -> None:
    """And what follows stands further in than its continuation."""
    assert _shown((_path("http", "api"), _path("http", "web")), View(50)).splitlines() == [
        "  Gateway default/g ▸ listener http",
        "    ▸ HTTPRoute default/r",
        "      ▸ rule api ▸ Service default/s:8080",
        "      ▸ rule web ▸ Service default/s:8080",
    ]


def test_a_long_path_that_is_alone_is_continued() -> None:
    assert _shown((_path("http"),), View(60)).splitlines() == [
        "  Gateway default/g ▸ listener http ▸ HTTPRoute default/r",
        "    ▸ rule[0] ▸ Service default/s:8080",
    ]


def test_paths_of_different_shapes_have_no_columns() -> None:
    assert _shown((_path("http"), (ROUTE,)), View(100)).splitlines() == [
        "  Gateway default/g ▸ listener http ▸ HTTPRoute default/r ▸ rule[0] ▸ Service default/s:8080",
        "  HTTPRoute default/r",
    ]


def test_numbered_paths_are_never_put_together() -> None:
    """Each number names one path."""
    shown = _shown(tuple(_path(f"l{number}") for number in range(1, 8)), View(80), numbered=True).splitlines()
    assert shown[0] == "      Gateway default/g"
    assert shown[1] == "   1    ▸ listener l1 ▸ HTTPRoute default/r ▸ rule[0] ▸ Service default/s:8080"
    assert len(shown) == 8


def test_many_paths_that_differ_in_one_place_share_a_line() -> None:
    paths = tuple(_path(listener, rule) for listener in ("a", "b") for rule in ("p", "q", "r", "s"))
    assert _shown(paths, View(120)) == (
        "  Gateway default/g ▸ listeners a, b ▸ HTTPRoute default/r ▸ 4 rules ▸ Service default/s:8080\n"
    )


def test_unnamed_rules_share_a_line_by_their_numbers() -> None:
    """`rules [0], [1]`; a path of another length is left as it is."""
    gateways = tuple(_path("a", f"rule[{rule}]", gateway) for gateway in ("g", "h", "i") for rule in range(2))
    shown = _shown((*gateways, (ROUTE,)), View(120)).splitlines()
    assert shown == [
        *(
            f"  Gateway default/{name} ▸ listener a ▸ HTTPRoute default/r ▸ rules [0], [1] ▸ Service default/s:8080"
            for name in "ghi"
        ),
        "  HTTPRoute default/r",
    ]
    former = tuple(_path("a", f"former rule[{rule}]", gateway) for gateway in ("g", "h", "i") for rule in range(2))
    assert "▸ former rules [0], [1] ▸" in _shown((*former, (ROUTE,)), View(120))


def test_more_than_a_dozen_lines_are_cut_at_a_terminal_only() -> None:
    paths = tuple((node("Gateway", f"g{number}"), node("HTTPRoute", f"r{number}")) for number in range(14))
    assert len(_shown(paths, View(100)).splitlines()) == 14
    shown = _shown(paths, View(100, terminal=True)).splitlines()
    assert shown[12] == "  and 2 more lines of paths; --show-all shows all 14"
    assert len(shown) == 13
    assert len(_shown(paths, View(100, terminal=True, everything=True)).splitlines()) == 14


def test_the_subject_is_marked() -> None:
    spans = [span for line in path_lines((_path("http"),), ROUTE, View(100)) for span in line.spans]
    assert [span.text.strip(" ▸") for span in spans if span.style == "subject"] == ["HTTPRoute default/r"]


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
    """However many rules have an outcome of their own, and only where a policy sets the field that it is about."""
    world = manifests("kgateway")
    text = about(analyze(world), route("tickets", "sailings"))
    assert text.count("  TrafficPolicy  ") == 3
    assert "about TrafficPolicy is computed" not in text
    profile = analyze(world).registry.profile(GroupKind("gateway.kgateway.dev", "TrafficPolicy"))
    noted = replace(
        profile, notes_on={"buffer": "It is not read.", "headerModifiers": "So they are.", "cors": "Nor these."}
    )
    text = about(analyze(world, profiles=[noted]), route("tickets", "sailings"))
    assert text.count("not everything about TrafficPolicy is computed: buffer: It is not read.") == 1
    assert text.count("headerModifiers: So they are.") == 1
    assert "cors" not in text


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
