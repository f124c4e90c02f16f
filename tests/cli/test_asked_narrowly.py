"""What refers to an object without its name, or from where nothing says so, is found without reading all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.lint.rule_worlds import document
from tests.text.readings import says_the_same

if TYPE_CHECKING:
    from pathlib import Path

_SERVICE = document("Service", "web", "{ports: [{port: 80}]}", version="v1", namespace="apps")
_LISTENERS = "listeners: [{name: http, port: 80, protocol: HTTP}]"
_GATEWAY = document("Gateway", "main", f"{{gatewayClassName: public, {_LISTENERS}}}", namespace="infra")
_KEY = document("Secret", "key", "{}", version="v1", namespace="apps", meta=", labels: {for: us}")
_PROFILE = """\
group: example.com
kinds:
  Color:
    class: direct
    evidence: ["https://example.com"]
"""


def _thing(kind: str, name: str, spec: str, namespace: str = "apps") -> str:
    return document(kind, name, spec, version="example.com/v1", namespace=namespace)


def _asked(folder: Path, *documents: str, profile: str = "", **options: str) -> list[str]:
    """What is said of objects in some documents; each option is a command and the object."""
    (folder / "world").mkdir()
    (folder / "world" / "all.yaml").write_text("".join(documents), "utf-8")
    (folder / "profile.yaml").write_text(_PROFILE + profile, "utf-8")
    more = ["--offline", str(folder / "world"), "--profiles", str(folder / "profile.yaml"), "-o", "json"]
    return [says_the_same([command.replace("_", "-"), *named.split(), *more]) for command, named in options.items()]


def test_a_target_that_a_default_names(tmp_path: Path) -> None:
    """The definition of a kind fills in which object its policies are about."""
    reference = (
        "{group: {default: gateway.networking.k8s.io}, kind: {default: Gateway}, name: {default: main}, "
        "namespace: {default: infra}}"
    )
    target = f"{{default: {{}}, properties: {reference}, anyOf: [{{required: [name]}}, {{required: [kind]}}]}}"
    schema = f"openAPIV3Schema: {{properties: {{spec: {{properties: {{targetRef: {target}}}}}}}}}"
    definition = document(
        "CustomResourceDefinition",
        "colors.example.com",
        "{group: example.com, names: {kind: Color, plural: colors}, scope: Namespaced, "
        f"versions: [{{name: v1, served: true, storage: true, schema: {{{schema}}}}}]}}",
        version="apiextensions.k8s.io/v1",
        namespace="",
    )
    color = _thing("Color", "red", "{color: red}")
    message = _asked(
        tmp_path, definition, _GATEWAY, color, describe="gateway/main -n infra", blast_radius="color/red -n apps"
    )
    assert all("Color" in item and "main" in item for item in message)


def test_a_target_field_that_selects_by_its_name(tmp_path: Path) -> None:
    """A selector without any label selects every object of the kind."""
    color = _thing("Color", "red", '{podSelector: {group: "", kind: Service}, color: red}')
    (message,) = _asked(
        tmp_path, _SERVICE, color, profile="    targetFields: [spec.podSelector]\n", describe="service/web -n apps"
    )
    assert '"red"' in message


def test_settings_that_select_by_a_field_of_any_name(tmp_path: Path) -> None:
    """Nor does what selects nothing in particular say `matchLabels`."""
    color = _thing("Color", "red", '{targetRef: {group: "", kind: Service, name: web}, keys: {}}')
    needs = "    needs: [{field: spec.keys, by: labels, group: '', kinds: [Secret]}]\n"
    (message,) = _asked(tmp_path, _SERVICE, _KEY, color, profile=needs, blast_radius="secret/key -n apps")
    assert '"red"' in message


def test_what_is_named_through_others(tmp_path: Path) -> None:
    """A policy names an object, which names another one, which names a third one."""
    documents = (
        _thing("Color", "red", '{targetRef: {group: "", kind: Service, name: web}, paintRef: {name: paint}}'),
        _thing("Paint", "paint", "{canRef: {name: can}}"),
        _thing("Can", "can", "{keyRef: {name: key}}"),
    )
    key = "{field: spec.keyRef, group: '', kinds: [Secret]}"
    can = f"{{field: spec.canRef, group: example.com, kinds: [Can], through: [{key}]}}"
    needs = f"    needs: [{{field: spec.paintRef, group: example.com, kinds: [Paint], through: [{can}]}}]\n"
    (message,) = _asked(tmp_path, _SERVICE, _KEY, *documents, profile=needs, blast_radius="secret/key -n apps")
    assert '"red"' in message


def test_what_has_no_namespace_and_was_read_into_one(tmp_path: Path) -> None:
    """Where nothing defines a kind, only a profile knows that its objects have none."""
    spec = (
        "{targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: main}, "
        "issuerRef: {group: cert-manager.io, kind: ClusterIssuer, name: letters}}"
    )
    policy = document("TLSPolicy", "certs", spec, version="kuadrant.io/v1", namespace="infra")
    issuer = document("ClusterIssuer", "letters", "{}", version="cert-manager.io/v1", namespace="")
    (message,) = _asked(
        tmp_path, _GATEWAY, policy, issuer, blast_radius="clusterissuer.cert-manager.io/letters -n default"
    )
    assert '"certs"' in message


_ENVOY = "gateway.envoyproxy.io"
_PUBLIC = document("GatewayClass", "public", f"{{controllerName: {_ENVOY}/gatewayclass-controller}}", namespace="")


def _of_envoy(kind: str, name: str, spec: str) -> str:
    return document(kind, name, spec, version=f"{_ENVOY}/v1alpha1", namespace="apps")


def _filter(name: str) -> str:
    return f"filters: [{{type: ExtensionRef, extensionRef: {{group: {_ENVOY}, kind: HTTPRouteFilter, name: {name}}}}}]"


_PARAMETERS = f"infrastructure: {{parametersRef: {{group: {_ENVOY}, kind: EnvoyProxy, name: proxy}}}}"
_BACKEND = f"{{name: web, port: 80, {_filter('answer')}}}"
_NAMED_BY_OTHERS = (
    _PUBLIC,
    document("Gateway", "main", f"{{gatewayClassName: public, {_LISTENERS}, {_PARAMETERS}}}", namespace="apps"),
    document(
        "HTTPRoute",
        "shop",
        f"{{parentRefs: [{{name: main}}], rules: [{{{_filter('rewrite')}, backendRefs: [{_BACKEND}]}}]}}",
        namespace="apps",
    ),
    _of_envoy("HTTPRouteFilter", "rewrite", "{urlRewrite: {hostname: {type: Backend}}}"),
    _of_envoy("HTTPRouteFilter", "answer", "{directResponse: {statusCode: 503}}"),
    _of_envoy("EnvoyProxy", "proxy", "{concurrency: 2}"),
)


def test_what_is_named_by_what_it_affects(tmp_path: Path) -> None:
    """Filters name no route, nor do parameters name a Gateway."""
    every = {
        "httproute/shop": {"rewrite"},
        "gateway/main": {"proxy"},
        "service/web": {"rewrite"},
        "httproutefilter/rewrite": {"shop"},
        "envoyproxy/proxy": {"main"},
        "gatewayclass/public": {"public"},
    }
    for place, (named, arguments) in enumerate(every.items()):
        folder = tmp_path / str(place)
        folder.mkdir()
        where = "" if named.startswith("gatewayclass") else " -n apps"
        for message in _asked(folder, _SERVICE, *_NAMED_BY_OTHERS, describe=named + where, blast_radius=named + where):
            assert all(f'"{argument}"' in message for argument in arguments)


def test_labels_that_select_in_one_namespace(tmp_path: Path) -> None:
    """In its own, in those that a policy lets in, and in all where its namespace is the one for that."""
    selector = '{group: "", kind: Service, matchLabels: {tier: front}, namespaces: {from: FROM}}'
    named = {"red": ("apps", "Same"), "green": ("away", "All"), "blue": ("away", "Same"), "white": ("global", "Same")}
    colors = [
        _thing("Color", name, f"{{targetSelectors: [{selector.replace('FROM', source)}], a: 1}}", home)
        for name, (home, source) in named.items()
    ]
    service = _SERVICE.replace("namespace: apps", "namespace: apps, labels: {tier: front}")
    profile = "    targetFields: [spec.targetSelectors]\n    globalNamespace: global\n    declaredTargets: [TARGETS]\n"
    targets = '{group: "", kind: Service}, {group: gateway.networking.k8s.io, kind: GatewayClass}'
    (tmp_path / "services").mkdir()
    (message,) = _asked(
        tmp_path / "services",
        service,
        *colors,
        profile=profile.replace("TARGETS", targets),
        describe="service/web -n apps",
    )
    assert [name for name in named if f'"{name}"' in message] == ["red", "green", "white"]
    classes = [
        item.replace('group: "", kind: Service', "group: gateway.networking.k8s.io, kind: GatewayClass")
        for item in colors
    ]
    public = _PUBLIC.replace("name: public", "name: public, labels: {tier: front}")
    (message,) = _asked(
        tmp_path, public, *classes, profile=profile.replace("TARGETS", targets), describe="gatewayclass/public"
    )
    assert '"red"' in message


def test_a_target_of_which_it_is_not_known_whether_it_is_there(tmp_path: Path) -> None:
    """No path ends there in either of two states."""
    spec = "{rules: [{backendRefs: [{group: example.com, kind: Pool, name: deep}]}]}"
    route = document("HTTPRoute", "shop", spec, namespace="apps")
    pool = _thing("Pool", "deep", "{}")
    deep = "group: example.com, kind: Pool, name: deep"
    shop = "group: gateway.networking.k8s.io, kind: HTTPRoute, name: shop"
    policy = _thing("DyePolicy", "red", f"{{targetRefs: [{{{deep}, sectionName: end}}], color: red}}")
    other = _thing("DyePolicy", "blue", f"{{targetRefs: [{{{shop}}}], color: blue}}")
    (tmp_path / "change.yaml").write_text(policy.replace(", sectionName: end", ""), "utf-8")
    change = f"-f {tmp_path / 'change.yaml'} --allow-incomplete"
    (message,) = _asked(tmp_path, _GATEWAY, route, pool, policy, other, diff=change)
    assert '"deep"' in message
