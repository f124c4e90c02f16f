"""What refers to an object without its name, or from where nothing says so, is found without reading all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.text.readings import says_the_same

if TYPE_CHECKING:
    from pathlib import Path

_SERVICE = """\
apiVersion: v1
kind: Service
metadata: {name: web, namespace: apps}
spec: {ports: [{port: 80}]}
"""
_GATEWAY = """\
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: main, namespace: infra}
spec: {gatewayClassName: public, listeners: [{name: http, port: 80, protocol: HTTP}]}
"""
_KEY = """\
apiVersion: v1
kind: Secret
metadata: {name: key, namespace: apps, labels: {for: us}}
"""
_PROFILE = """\
group: example.com
kinds:
  Color:
    class: direct
    evidence: ["https://example.com"]
"""


def _thing(kind: str, name: str, spec: str) -> str:
    return f"apiVersion: example.com/v1\nkind: {kind}\nmetadata: {{name: {name}, namespace: apps}}\nspec: {spec}\n"


def _asked(folder: Path, *documents: str, profile: str = "", **options: str) -> list[str]:
    """What is said of objects in some documents; each option is a command and the object."""
    (folder / "world").mkdir()
    (folder / "world" / "all.yaml").write_text("---\n".join(documents), "utf-8")
    (folder / "profile.yaml").write_text(_PROFILE + profile, "utf-8")
    more = ["--offline", str(folder / "world"), "--profiles", str(folder / "profile.yaml"), "-o", "json"]
    return [says_the_same([command.replace("_", "-"), *named.split(), *more]) for command, named in options.items()]


def test_a_target_that_a_default_names(tmp_path: Path) -> None:
    """The definition of a kind fills in which object its policies are about."""
    definition = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: colors.example.com}
spec:
  group: example.com
  names: {kind: Color, plural: colors}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        properties:
          spec:
            properties:
              targetRef:
                default: {}
                properties:
                  group: {default: gateway.networking.k8s.io}
                  kind: {default: Gateway}
                  name: {default: main}
                  namespace: {default: infra}
                anyOf: [{required: [name]}, {required: [kind]}]
"""
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
    policy = """\
apiVersion: kuadrant.io/v1
kind: TLSPolicy
metadata: {name: certs, namespace: infra}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: main}
  issuerRef: {group: cert-manager.io, kind: ClusterIssuer, name: letters}
"""
    issuer = "apiVersion: cert-manager.io/v1\nkind: ClusterIssuer\nmetadata: {name: letters}\n"
    (message,) = _asked(
        tmp_path, _GATEWAY, policy, issuer, blast_radius="clusterissuer.cert-manager.io/letters -n default"
    )
    assert '"certs"' in message


_NAMED_BY_OTHERS = """\
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: public}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: main, namespace: apps}
spec:
  gatewayClassName: public
  listeners: [{name: http, port: 80, protocol: HTTP}]
  infrastructure:
    parametersRef: {group: gateway.envoyproxy.io, kind: EnvoyProxy, name: proxy}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop, namespace: apps}
spec:
  parentRefs: [{name: main}]
  rules:
  - filters:
    - type: ExtensionRef
      extensionRef: {group: gateway.envoyproxy.io, kind: HTTPRouteFilter, name: rewrite}
    backendRefs:
    - name: web
      port: 80
      filters:
      - type: ExtensionRef
        extensionRef: {group: gateway.envoyproxy.io, kind: HTTPRouteFilter, name: answer}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: HTTPRouteFilter
metadata: {name: rewrite, namespace: apps}
spec: {urlRewrite: {hostname: {type: Backend}}}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: HTTPRouteFilter
metadata: {name: answer, namespace: apps}
spec: {directResponse: {statusCode: 503}}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: EnvoyProxy
metadata: {name: proxy, namespace: apps}
spec: {concurrency: 2}
"""


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
        for message in _asked(folder, _SERVICE, _NAMED_BY_OTHERS, describe=named + where, blast_radius=named + where):
            assert all(f'"{argument}"' in message for argument in arguments)


def test_labels_that_select_in_one_namespace(tmp_path: Path) -> None:
    """In its own, in those that a policy lets in, and in all where its namespace is the one for that."""
    color = """\
apiVersion: example.com/v1
kind: Color
metadata: {name: NAME, namespace: HOME}
spec: {targetSelectors: [{group: "", kind: Service, matchLabels: {tier: front}, namespaces: {from: FROM}}], a: 1}
"""
    named = {"red": ("apps", "Same"), "green": ("away", "All"), "blue": ("away", "Same"), "white": ("global", "Same")}
    colors = [
        color.replace("NAME", name).replace("HOME", home).replace("FROM", source)
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
    public = _NAMED_BY_OTHERS.partition("---\n")[0].replace("name: public", "name: public, labels: {tier: front}")
    (message,) = _asked(
        tmp_path, public, *classes, profile=profile.replace("TARGETS", targets), describe="gatewayclass/public"
    )
    assert '"red"' in message


def test_a_target_of_which_it_is_not_known_whether_it_is_there(tmp_path: Path) -> None:
    """No path ends there in either of two states."""
    route = """\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop, namespace: apps}
spec: {rules: [{backendRefs: [{group: example.com, kind: Pool, name: deep}]}]}
"""
    pool = "apiVersion: example.com/v1\nkind: Pool\nmetadata: {name: deep, namespace: apps}\nspec: {}\n"
    policy = """\
apiVersion: example.com/v1
kind: DyePolicy
metadata: {name: red, namespace: apps}
spec:
  targetRefs: [{group: example.com, kind: Pool, name: deep, sectionName: end}]
  color: red
"""
    other = (
        policy.replace("name: red", "name: blue")
        .replace("color: red", "color: blue")
        .replace(
            "group: example.com, kind: Pool, name: deep, sectionName: end",
            "group: gateway.networking.k8s.io, kind: HTTPRoute, name: shop",
        )
    )
    (tmp_path / "change.yaml").write_text(policy.replace(", sectionName: end", ""), "utf-8")
    change = f"-f {tmp_path / 'change.yaml'} --allow-incomplete"
    (message,) = _asked(tmp_path, _GATEWAY, route, pool, policy, other, diff=change)
    assert '"deep"' in message
