"""Which objects are meant: one by type and name, or those of a type that are selected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pytest
from msgspec.structs import replace

from kubectl_policy import analyze
from kubectl_policy.errors import NotFoundError, UsageError
from kubectl_policy.model import Gap, GroupKind, ObjectRef, Resource
from kubectl_policy.model.kinds import plural
from kubectl_policy.model.selectors import parse_field_query, parse_label_query
from kubectl_policy.model.snapshot import Permission
from kubectl_policy.model.world import World, world_of
from kubectl_policy.questions.lists import list_type
from kubectl_policy.questions.shared.selection import Selection, find, kinds_named, select, type_named
from tests import build
from tests.build import crd, gateway, namespace, policy, ref, resource, route, service, snapshot, target
from tests.fakes import RecordingWorld
from tests.questions.build import COLOR, analyzed, color_kind
from tests.render.worlds import world

LISTING: Final = Permission("list", "colorpolicies.example.com")
EMPTY = analyzed(build.namespace("default"))


def names(word: str, selection: Selection, *resources: Resource) -> list[str]:
    """The objects that are selected, as `namespace/name`."""
    return [found.ref.qualified_name for found in select(analyzed(*resources), word, selection).resources]


def test_an_unknown_type_is_refused() -> None:
    with pytest.raises(UsageError) as error:
        type_named(EMPTY, "polices")
    assert error.value.message == 'there is no resource type "polices" in the input'
    assert error.value.hint.startswith("did you mean policies")
    with pytest.raises(UsageError, match="workloadz") as error:
        type_named(EMPTY, "workloadz")
    assert error.value.hint.startswith("did you mean workload")
    with pytest.raises(UsageError):
        type_named(EMPTY, "policies.example.com")


@pytest.mark.parametrize(
    ("word", "rows", "noun", "namespaced"),
    [
        ("policies", "policies", "policy", True),
        ("Policy", "policies", "policy", True),
        ("policykinds", "policy kinds", "policy kind", False),
        ("policykind", "policy kinds", "policy kind", False),
        ("routes", "routes", "route", True),
        ("route", "routes", "route", True),
        ("grpcroutes", "routes", "GRPCRoute", True),
        ("gtw", "gateways", "Gateway", True),
        ("gateways.v1.gateway.networking.k8s.io", "gateways", "Gateway", True),
        ("lset", "listener sets", "ListenerSet", True),
        ("gc", "gateway classes", "GatewayClass", False),
        ("workloads", "workloads", "workload", True),
        ("Workload", "workloads", "workload", True),
        ("po", "pods", "Pod", True),
        ("pods", "pods", "Pod", True),
        ("deploy", "workloads", "Deployment", True),
        ("cronjobs", "workloads", "CronJob", True),
        ("svc", "backends", "Service", True),
        ("configmaps", "backends", "ConfigMap", True),
        ("ns", "namespaces", "Namespace", False),
        ("btlspolicy", "policies", "BackendTLSPolicy", True),
    ],
)
def test_a_type_has_the_names_that_kubectl_knows(word: str, rows: str, noun: str, namespaced: bool) -> None:  # noqa: FBT001 (a parameter)
    found = type_named(EMPTY, word)
    assert (found.rows, found.noun, found.namespaced) == (rows, noun, namespaced)


def test_of_kinds_with_one_name_those_of_the_hierarchy_are_meant() -> None:
    istio = build.resource("Gateway", "i", group="networking.istio.io")
    assert type_named(analyzed(istio, build.gateway()), "gateway").kinds == (build.ref("Gateway", "g").group_kind,)
    assert type_named(analyzed(istio), "gateway").kinds == (istio.ref.group_kind,)
    one = build.policy("a", build.ON_GATEWAY)
    two = build.policy("b", build.ON_GATEWAY, group="example.net")
    analysis = analyzed(build.resource("ColorPolicy", "c", {}, group="a.example.org"), two, one)
    assert type_named(analysis, "colorpolicies").kinds == (one.ref.group_kind, two.ref.group_kind)
    assert type_named(analysis, "colorpolicies.a.example.org").rows == "backends"


def test_a_policy_kind_that_is_only_defined_can_be_listed() -> None:
    selected = select(world(), "limitpolicy", Selection("default"))
    assert (selected.type.rows, selected.resources) == ("policies", ())


def test_a_namespace_limits_what_is_in_one() -> None:
    gateways = (build.gateway("b"), build.gateway("a"), build.gateway("c", namespace="far"))
    assert names("gateways", Selection("default"), *gateways) == ["default/a", "default/b"]
    assert names("gateways", Selection(), *gateways) == ["default/a", "default/b", "far/c"]
    assert names("gc", Selection("far"), build.gateway_class()) == ["public"]
    cluster_scoped = build.crd("ColorPolicy", cluster_scoped=True)
    policy = build.policy("p", build.target("public", "GatewayClass"), namespace="")
    assert names("policies", Selection("far"), cluster_scoped, policy) == ["p"]


def test_fields_select_what_an_api_server_selects_by_them() -> None:
    gateways = (build.gateway("b"), build.gateway("a"), build.gateway("${NAME}"))

    def by(query: str, word: str = "gateways") -> list[str]:
        return names(word, Selection(fields=parse_field_query(query)), *gateways, build.crd("ColorPolicy"))

    assert by("metadata.name!=b") == ["default/a"]
    assert by("metadata.namespace=default,metadata.name=b") == ["default/b"]
    assert by("metadata.namespace=far") == []
    undecided = select(analyzed(*gateways), "gateways", Selection(fields=parse_field_query("metadata.name=c")))
    assert [resource.ref.name for resource in undecided.undecided] == ["${NAME}"]
    one = Selection(fields=parse_field_query("metadata.name=colorpolicys.example.com"))
    label = {"gateway.networking.k8s.io/policy": "direct"}
    crds = (build.crd(kind, labels=label) for kind in ("ColorPolicy", "SizePolicy"))
    kinds = list_type(analyzed(*crds), "policykinds", one)
    assert [row.ref.name for row in kinds.rows] == ["colorpolicys.example.com"]


def test_a_name_that_nothing_has_can_be_ignored() -> None:
    assert names("gateways", Selection("default", ("a", "none"), lenient=True), build.gateway("a")) == ["default/a"]
    nothing = list_type(analyzed(build.gateway()), "policykinds", Selection(names=("none",), lenient=True))
    assert nothing.rows == ()


@pytest.mark.parametrize(
    ("word", "query", "selectable"),
    [
        (
            "gateways",
            "spec.class=public",
            "gateways can be selected by metadata.name and metadata.namespace",
        ),
        ("namespaces", "metadata.namespace=a", "namespaces can be selected by metadata.name and status.phase"),
        ("policykinds", "spec.group=a", "customresourcedefinitions can be selected by metadata.name"),
    ],
)
def test_fields_of_which_an_api_server_knows_nothing_are_refused(word: str, query: str, selectable: str) -> None:
    with pytest.raises(UsageError) as error:
        list_type(analyzed(build.gateway()), word, Selection(fields=parse_field_query(query)))
    assert error.value.message == f"field label not supported: {query.partition('=')[0]}"
    assert error.value.hint == selectable


def test_objects_of_several_kinds_are_sorted_together() -> None:
    routes = (build.route("b"), build.route("a", kind="GRPCRoute"), build.route("a"), build.route("z", namespace="a"))
    selected = select(analyzed(*routes), "routes", Selection())
    assert [str(found.ref) for found in selected.resources] == [
        "HTTPRoute a/z",
        "GRPCRoute default/a",
        "HTTPRoute default/a",
        "HTTPRoute default/b",
    ]


def test_what_is_elsewhere_is_said_where_nothing_is_here() -> None:
    """One namespace for each object; not if something was found, and not for what has no namespace."""
    analysis = analyzed(build.gateway("a", namespace="x"), build.gateway("b", namespace="x"))
    assert select(analysis, "gateways", Selection("default")).elsewhere == ("x", "x")
    assert select(analysis, "gateways", Selection("default", (), parse_label_query("a=b"))).elsewhere == ()
    assert select(analysis, "gateways", Selection("x")).elsewhere == ()
    empty = select(analysis, "gatewayclasses", Selection("x"))
    assert (empty.elsewhere, empty.namespace) == ((), "")


def test_a_name_that_is_not_there_has_no_answer() -> None:
    analysis = analyzed(build.gateway("edge"), build.gateway("inner", namespace="far"))
    with pytest.raises(NotFoundError) as error:
        select(analysis, "gtw", Selection("default", ("edge", "inner")))
    assert (error.value.message, error.value.hint) == (
        'gtw "inner" not found in namespace default',
        "it exists in namespace far: use gtw/far/inner",
    )
    with pytest.raises(NotFoundError, match=r'^gc "x" not found$'):
        select(analysis, "gc", Selection("default", ("x",)))


def test_names_select_what_has_one_of_them() -> None:
    routes = (build.route("a"), build.route("b"), build.route("a", kind="GRPCRoute"))
    assert names("routes", Selection("default", ("a",)), *routes) == ["default/a", "default/a"]


def test_a_name_with_a_namespace_is_looked_for_there() -> None:
    routes = (build.route("a"), build.route("a", namespace="far"), build.route("b", namespace="far"))
    assert names("routes", Selection("default", ("a", "far/b")), *routes) == ["default/a", "far/b"]
    with pytest.raises(NotFoundError, match='routes "c" not found in namespace far'):
        names("routes", Selection("default", ("far/c",)), *routes)


def test_labels_select_what_has_them() -> None:
    """As for kubectl."""
    routes = (build.route("a", labels={"tier": "web"}), build.route("b"))
    assert names("routes", Selection("default", (), parse_label_query("tier in (web)")), *routes) == ["default/a"]
    assert names("routes", Selection("default", (), parse_label_query("!tier")), *routes) == ["default/b"]


WORLD: Final = snapshot(
    namespace("default"),
    gateway("edge"),
    route("shop"),
    route("shop", namespace="far"),
    service("till"),
    crd("ColorPolicy"),
    policy("red", target("edge")),
    resource("Odd", "x", {}, group="a.example"),
    resource("Odd", "x", {}, group="b.example"),
    resource("Odd", "y", {}, group="b.example"),
)


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("httprote", "did you mean httproute, httproutes"),
        ("zzz", "the input has: namespace, service, odd.a.example, customresourcedefinition."),
        ("httproute.wrong.example", "the input has: namespace"),
    ],
)
def test_a_type_that_no_object_has_is_refused(words: str, hint: str) -> None:
    with pytest.raises(UsageError) as error:
        find(analyze(WORLD), words, "shop", "default")
    assert error.value.message == f'there is no resource type "{words}" in the input'
    assert error.value.hint.startswith(hint)
    assert error.value.exit_code == 2


def test_an_ambiguous_name_is_refused() -> None:
    with pytest.raises(UsageError) as error:
        find(analyze(WORLD), "odd", "x", "default")
    assert (error.value.message, error.value.hint) == (
        '"odd" names several kinds',
        "say which one: odd.a.example/x, odd.b.example/x",
    )
    assert find(analyze(WORLD), "odd", "y", "default") == ref("Odd", "y", group="b.example")


@pytest.mark.parametrize(
    ("kind", "name", "home", "message", "hint"),
    [
        (
            "httproute",
            "shop",
            "near",
            " in namespace near",
            "it exists in namespace default, far: use httproute/default/shop",
        ),
        ("gateway", "edgy", "default", " in namespace default", "did you mean edge?"),
        ("gateway", "zzz", "default", " in namespace default", "there are: default/edge"),
        ("gatewayclass", "zzz", "default", "", "the input has no gatewayclass at all"),
    ],
)
def test_what_is_not_there_is_not_found(kind: str, name: str, home: str, message: str, hint: str) -> None:
    with pytest.raises(NotFoundError) as error:
        find(analyze(WORLD), kind, name, home)
    assert (error.value.message, error.value.hint) == (f'{kind} "{name}" not found{message}', hint)
    assert error.value.exit_code == 3


@pytest.mark.parametrize(
    ("word", "message", "hint"),
    [
        ("httproute", "the name of the httproute is missing", "httproute/default/shop, httproute/far/shop"),
        ("gtw", "the name of the gtw is missing", "for example: gtw/default/edge"),
        ("odds", "the name of the odds is missing", "for example: odds/default/x, odds/default/x, odds/default/y"),
        ("grpcroute", "the name of the grpcroute is missing", "for example: grpcroute/NAME"),
        ("red", 'there is no resource type "red" in the input', "did you mean colorpolicy/default/red?"),
        ("shop", 'there is no resource type "shop" in the input', "httproute/default/shop or httproute/far/shop?"),
        ("till", 'there is no resource type "till" in the input', "did you mean service/default/till?"),
        ("zzz", 'there is no resource type "zzz" in the input', "write TYPE/NAME, such as gateway/edge"),
    ],
)
def test_one_word_is_a_type_or_a_name(word: str, message: str, hint: str) -> None:
    """Of a type some objects are named, for a name the types that have one of it; no more than three."""
    with pytest.raises(UsageError) as error:
        find(analyze(WORLD), word, "", "default")
    assert error.value.message == message
    assert error.value.hint.endswith(hint)


def test_of_one_name_what_is_in_the_hierarchy_comes_first() -> None:
    called = [route("cart"), service("cart"), policy("cart", target("edge")), resource("Odd", "cart", {}, group="a.b")]
    with pytest.raises(UsageError) as error:
        find(analyzed(*called), "cart", "", "default")
    kinds = ("service", "httproute", "odd")
    assert error.value.hint == f"did you mean {' or '.join(f'{kind}/default/cart' for kind in kinds)}?"
    with pytest.raises(UsageError) as error:
        find(analyzed(*called[2:]), "cart", "", "default")
    assert error.value.hint == "did you mean odd/default/cart or colorpolicy/default/cart?"


def test_a_name_with_a_namespace_counts_wherever_one_looks() -> None:
    assert find(analyze(WORLD), "httproute", "far/shop", "default") == ref("HTTPRoute", "shop", "far")
    assert find(analyze(WORLD), "httproute", "shop", "far") == ref("HTTPRoute", "shop", "far")
    public = snapshot(build.gateway_class())
    assert find(analyze(public), "gatewayclass", "public", "far") == ref("GatewayClass", "public")
    with pytest.raises(UsageError) as error:
        find(analyze(public), "gatewayclass", "far/public", "far")
    assert (error.value.message, error.value.hint) == ("a GatewayClass is in no namespace", "write gatewayclass/public")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("httproute", ref("HTTPRoute", "shop")),
        ("HTTPRoutes", ref("HTTPRoute", "shop")),
        ("httproute.gateway.networking.k8s.io", ref("HTTPRoute", "shop")),
        ("httproutes.v1.gateway.networking.k8s.io", ref("HTTPRoute", "shop")),
        ("ns", ref("Namespace", "shop", "", "")),
    ],
)
def test_a_type_has_many_names(words: str, expected: ObjectRef) -> None:
    """As for kubectl: kind, plural, short name, with group, with version and group."""
    assert find(analyze(snapshot(route("shop"), namespace("shop"))), words, "shop", "default") == expected


def test_kinds_with_objects_come_first() -> None:
    """Then by group and kind; a kind of which nothing is known has its own name and a regular plural."""
    assert [kind.group for kind in kinds_named(analyze(WORLD), "odds")] == ["a.example", "b.example"]
    assert kinds_named(analyze(WORLD), "lset")[0].kind == "ListenerSet"
    experimental = snapshot(resource("XListenerSet", "x", {}, group="gateway.networking.x-k8s.io"))
    assert kinds_named(analyze(experimental), "lset")[0].kind == "XListenerSet"


@pytest.mark.parametrize(
    ("singular", "expected"),
    [
        ("gateway", "gateways"),
        ("policy", "policies"),
        ("gatewayclass", "gatewayclasses"),
        ("box", "boxes"),
        ("switch", "switches"),
        ("mesh", "meshes"),
        ("y", "ys"),
    ],
)
def test_the_plural_is_that_of_the_code_generators(singular: str, expected: str) -> None:
    assert plural(singular) == expected


def test_an_object_of_unknown_namespace_is_found_by_its_name() -> None:
    """Whatever namespace is asked for, if there is none of that name; of several, none is meant more than others."""
    echo, other = route("echo", namespace="?apps.echo"), route("echo", namespace="?apps.other")
    for where in ("media", "default", "?apps.echo"):
        assert find(analyzed(echo), "httproute", "echo", where) == echo.ref
    exact = route("echo", namespace="media")
    assert find(analyzed(echo, exact), "httproute", "echo", "media") == exact.ref
    with pytest.raises(UsageError) as error:
        find(analyzed(echo, other), "httproute", "echo", "media")
    assert error.value.hint == "set metadata.namespace, or ask with --render: test.yaml:1 and test.yaml:1"
    written = route("echo", namespace="${A}"), route("echo", namespace="${B}")
    with pytest.raises(UsageError) as error:
        find(analyzed(*written), "httproute", "echo", "media")
    assert error.value.hint == "say which one: -n '${A}' or -n '${B}'"
    with pytest.raises(NotFoundError):
        find(analyzed(route("${NAME}", namespace="media")), "httproute", "echo", "media")


class ListedNamespaces(RecordingWorld):
    """World that notes the kinds that it lists, and the namespaces; None for all."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.lists: list[tuple[GroupKind, str | None]] = []

    def refs_of(self, kind: GroupKind, namespace: str | None = None) -> Sequence[ObjectRef]:
        self.lists.append((kind, namespace))
        return super().refs_of(kind, namespace)


@pytest.mark.parametrize(
    ("word", "gap", "asked"),
    [
        ("colorpolicies", {"needs": LISTING}, ["a", "b"]),
        ("policies", {"needs": LISTING}, ["a", "b"]),
        ("policies", {}, []),
        ("policies", {"needs": LISTING, "name": "p"}, []),
        ("colorpolicies", {"needs": LISTING, "namespace": "a"}, []),
        ("httproutes", {"needs": LISTING}, []),
    ],
)
def test_kinds_that_may_not_be_listed_in_all_namespaces(word: str, gap: dict[str, Any], asked: list[str]) -> None:
    """They are listed in each Namespace, which a smaller permission may allow."""
    hidden = replace(Gap("ColorPolicy", "", "forbidden", group=COLOR.group), **gap)
    read = snapshot(namespace("a"), namespace("b"), policy("p", namespace="b"), gaps=[hidden])
    for place, expected in (("", asked), ("a", [])):
        listed = ListedNamespaces(world_of(read.resources))
        select(analyze(replace(read, resources=listed), profiles=[color_kind()]), word, Selection(place))
        assert [where for kind, where in listed.lists if kind == COLOR and where] == expected
