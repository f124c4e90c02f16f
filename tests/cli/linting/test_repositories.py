"""`lint` on repositories for Flux, Argo CD, Kustomize and Helm: nothing that rendering disproves, and every mistake."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, Final, NamedTuple

import pytest

from kubectl_policy.cli import terminal
from tests.sources.rendering.trees import helm, kubectl, write

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Sequence

    from kubectl_policy.sources import Progress
    from tests.cli.linting.conftest import Lint, LintWorld

REPOSITORIES = Path(__file__).parents[3] / "fixtures" / "repositories"


class Mistake(NamedTuple):
    """A text that is written once in a file, or nothing for a new one, what is written instead, and what is found then.

    What is `found` is `FILE:LINE SEVERITY RULE OBJECT`, with ` in WORLD` where it is not in all worlds.
    """

    file: str
    right: str
    wrong: str
    found: tuple[str, ...]


def written(text: str) -> Sequence[Mistake]:
    """Mistakes, each as `FILE: RIGHT -> WRONG`, with what is found then indented below it."""
    mistakes: list[Mistake] = []
    for line in dedent(text).splitlines():
        if line.startswith(" "):
            mistakes[-1] = mistakes[-1]._replace(found=(*mistakes[-1].found, line.strip()))
        elif line and not line.startswith("#"):
            file, _, change = line.partition(": ")
            right, _, wrong = change.replace(r"\n", "\n").partition(" -> ")
            mistakes.append(Mistake(file, right, wrong, ()))
    return mistakes


def planted(name: str, folder: Path, mistakes: Iterable[Mistake] = ()) -> Path:
    """A copy of a repository, with mistakes."""
    tree = folder / name
    shutil.copytree(REPOSITORIES / name, tree)
    for mistake in mistakes:
        path = tree / mistake.file
        text = path.read_text("utf-8") if mistake.right else ""
        assert text.count(mistake.right) == 1 or not mistake.right, mistake
        path.write_text(text.replace(mistake.right, mistake.wrong) if mistake.right else mistake.wrong, "utf-8")
    return tree


def said(linted: LintWorld, *severities: str) -> list[str]:
    """What counts of these severities, of any if none is given; sorted."""
    findings = zip(linted.findings, linted.document["findings"], strict=True)
    return sorted(
        f"{line} in {' and '.join(each['worlds'])}" if each["worlds"] else line
        for line, each in findings
        if not severities or each["severity"] in severities
    )


def in_each_world(linted: LintWorld) -> set[tuple[str, str]]:
    """What counts, by world: the rule, the object and its field, and the file in which it is found."""
    everywhere: Sequence[str] = linted.document["worlds"] or [""]
    return {
        (world, f"{finding['rule']} {finding['object']} {finding['field']} {finding['origin']['source']}")
        for finding in linted.document["findings"]
        for world in finding["worlds"] or everywhere
    }


ROUTE: Final = """\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: %s, namespace: live}
spec:
  parentRefs: [{name: %s, namespace: platform%s}]
  rules: [{backendRefs: [{name: stream, port: 8000}]}]
"""
LISTENER: Final = "    - {name: %s, protocol: HTTP, port: 80, hostname: '*.example'}\n"
FORGOTTEN: Final = """\
apiVersion: rental.example/v1
kind: PacePolicy
metadata: {name: forgotten}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: boking}]
"""


class Tree(NamedTuple):
    """A repository, and what a person who knows it says of it: what is there, and what is not linted."""

    name: str
    options: tuple[str, ...] = ()
    # What is wrong with it as it is.
    errors: tuple[str, ...] = ()


# The chart of a HelmRelease makes a route; a policy of the minerals is on a misspelt one, as its comment says.
FLUX: Final = Tree("flux", ("--assume-exists", "httproute/archive/archive"))
ARGO: Final = Tree(
    "argo-cd",
    ("--exclude", "exhibits/storage/"),
    ("exhibits/minerals/policy.yaml:6 error GWP1001 BackendTrafficPolicy minerals/gems",),
)
KUSTOMIZE: Final = Tree("kustomize", ("--exclude", "spare/", "--assume-exists", "gatewayclass/shared"))
HELM: Final = Tree("helm")
TREES: Final = [
    pytest.param(tree, marks=mark, id=tree.name)
    for tree, mark in ((FLUX, kubectl), (ARGO, kubectl), (KUSTOMIZE, kubectl), (HELM, helm))
]
# Mistakes that do not hide each other are in one copy. Each is found where it is written, but for these:
# - what a patch sets stands where the object that is patched has the field, as that is what is known of it;
# - what a value of a chart, or of a cluster, sets stands where the template, or the manifest, takes it in.
SCENES: Final = {
    "names in Flux": (
        FLUX,
        (
            *written(r"""
                # In a base.
                apps/live/route.yaml: {name: stream, port: 8000} -> {name: steam, port: 8000}
                  apps/live/route.yaml:9 error GWP5001 HTTPRoute live/stream
                platform/policies.yaml: name: mast}]\n  timeout -> name: mats}]\n  timeout
                  platform/policies.yaml:6 error GWP1001 BackendTrafficPolicy platform/house
                platform/policies.yaml: name: mast}]\n  tls -> name: mast, sectionName: htps}]\n  tls
                  platform/policies.yaml:14 error GWP1002 ClientTrafficPolicy platform/clients
                platform/gateway.yaml: {name: certificate} -> {name: certficate}
                  platform/gateway.yaml:19 error GWP6004 Gateway platform/mast
            """),
            Mistake(
                "platform/gateway.yaml",
                "    - name: https\n",
                f"{LISTENER % 'plain'}{LISTENER % 'again'}    - name: https\n",
                ("platform/gateway.yaml:14 error GWP6001 Gateway platform/mast",),
            ),
            *written(r"""
                # In a component that one cluster includes.
                components/login/login.yaml: name: stream} -> name: steam}
                  components/login/login.yaml:6 error GWP1001 SecurityPolicy live/login in harbour
            """),
            # In a patch of a cluster, of a policy that is in order.
            Mistake(
                "clusters/harbour/flux.yaml",
                "          retry: {numRetries: 5}\n",
                "          retry: {numRetries: 5}\n"
                "          targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: steam}]\n",
                ("apps/live/policy.yaml:6 error GWP1001 BackendTrafficPolicy live/stream in harbour",),
            ),
            # In the folder of one cluster.
            Mistake(
                "clusters/island/beach.yaml",
                "",
                ROUTE % ("beach", "mats", ""),
                ("clusters/island/beach.yaml:5 error GWP4001 HTTPRoute live/beach in island",),
            ),
        ),
    ),
    "values in Flux": (
        FLUX,
        (
            # What a cluster fills in does not fit its Gateway.
            Mistake(
                "clusters/island/flux.yaml",
                "  path: ./apps/live\n",
                "  path: ./apps/live\n  postBuild: {substitute: {DOMAIN: isle.radio.example}}\n",
                (),
            ),
            Mistake(
                "clusters/island/flux.yaml",
                "  targetNamespace: live\n  dependsOn: [{name: platform}]\n"
                "  sourceRef: {kind: GitRepository, name: station}\n"
                "  postBuild:\n    substituteFrom: [{kind: ConfigMap, name: settings}]\n",
                "  targetNamespace: live\n  dependsOn: [{name: platform}]\n"
                "  sourceRef: {kind: GitRepository, name: station}\n",
                ("apps/live/route.yaml:7 error GWP4006 HTTPRoute live/stream in island",),
            ),
            *written(r"""
                apps/live/service.yaml: port: 8000 -> port: 8001
                  apps/live/route.yaml:9 error GWP5002 HTTPRoute live/stream
                  clusters/harbour/tide.yaml:6 error GWP5002 HTTPRoute live/tide in harbour
            """),
            Mistake(
                "clusters/harbour/tide.yaml",
                "",
                ROUTE % ("tide", "mast", ", sectionName: htps"),
                ("clusters/harbour/tide.yaml:5 error GWP4002 HTTPRoute live/tide in harbour",),
            ),
        ),
    ),
    "a label in Flux": (
        FLUX,
        (
            *written(r"""
                platform/namespaces.yaml: name: live, labels: {on-air: "true"} -> name: live, labels: {on-air: maybe}
                  apps/live/route.yaml:6 error GWP4004 HTTPRoute live/stream
            """),
        ),
    ),
    "listeners in Flux": (
        FLUX,
        (
            # The hostname is another one in each cluster, and so is what is said of it.
            Mistake(
                "platform/gateway.yaml",
                "    - name: https\n",
                "    - name: again\n      protocol: HTTPS\n      port: 443\n"
                '      hostname: "*.${DOMAIN}"\n      tls: {certificateRefs: [{name: certificate}]}\n'
                "    - name: https\n",
                (
                    "platform/gateway.yaml:21 error GWP6001 Gateway platform/mast in harbour",
                    "platform/gateway.yaml:21 error GWP6001 Gateway platform/mast in island",
                ),
            ),
        ),
    ),
    "names in Argo CD": (
        ARGO,
        (
            *written(r"""
                # In what an Application takes in, in what an ApplicationSet makes one of, and in what neither does.
                shop/shop.yaml: name: shop}]\n  cors -> name: shpo}]\n  cors
                  shop/shop.yaml:19 error GWP1001 SecurityPolicy shop/shop
                shop/shop.yaml: {name: till, port: 8080} -> {name: till, port: 80}
                  shop/shop.yaml:8 error GWP5002 HTTPRoute shop/shop
                exhibits/dinosaurs/guide.yaml: {name: entrance, -> {name: entrnce,
                  exhibits/dinosaurs/guide.yaml:5 error GWP4001 HTTPRoute dinosaurs/guide
                platform/gateway.yaml: kind: Gateway, name: entrance -> kind: Gateway, name: entrnce
                  platform/gateway.yaml:18 error GWP1001 BackendTrafficPolicy platform/house
                shop/drafts/sale.yaml: name: shop}] -> name: shpo}]
            """),
        ),
    ),
    "a hostname in Argo CD": (
        ARGO,
        (
            Mistake(
                "platform/gateway.yaml",
                "port: 80, ",
                "port: 80, hostname: '*.museum.test', ",
                (
                    "exhibits/dinosaurs/guide.yaml:6 error GWP4006 HTTPRoute dinosaurs/guide",
                    "exhibits/minerals/guide.yaml:6 error GWP4006 HTTPRoute minerals/guide",
                    "shop/shop.yaml:6 error GWP4006 HTTPRoute shop/shop",
                ),
            ),
        ),
    ),
    "names in Kustomize": (
        KUSTOMIZE,
        (
            *written(r"""
                # In a base: each overlay makes another object of it.
                base/route.yaml: {name: booking, port: 8080} -> {name: bookings, port: 8080}
                  base/route.yaml:9 error GWP5001 HTTPRoute bikes-dev/dev-booking in dev
                  base/route.yaml:9 error GWP5001 HTTPRoute bikes/booking in prod
                base/policies.yaml: kind: Gateway, name: counter -> kind: Gateway, name: conter
                  base/policies.yaml:6 error GWP1001 PacePolicy bikes-dev/dev-house in dev
                  base/policies.yaml:6 error GWP1001 PacePolicy bikes/house in prod
                # In an overlay, and in a patch of it.
                overlays/prod/night.yaml: sectionName: book} -> sectionName: bok}
                  overlays/prod/night.yaml:6 error GWP1002 PacePolicy bikes/night in prod
            """),
            Mistake(
                "overlays/prod/timeout.yaml",
                "spec:\n",
                "spec:\n  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: bokking}]\n",
                ("base/policies.yaml:14 error GWP1001 PacePolicy bikes/booking in prod",),
            ),
            # In a file that nothing lists.
            Mistake("base/forgotten.yaml", "", FORGOTTEN, ()),
        ),
    ),
    "listeners in Kustomize": (
        KUSTOMIZE,
        (
            Mistake(
                "base/gateway.yaml",
                "  listeners:\n",
                f"  listeners:\n{LISTENER % 'plain'}{LISTENER % 'again'}",
                (
                    "base/gateway.yaml:8 error GWP6001 Gateway bikes-dev/dev-counter in dev",
                    "base/gateway.yaml:8 error GWP6001 Gateway bikes/counter in prod",
                ),
            ),
            # In a patch in JSON.
            Mistake(
                "overlays/prod/kustomization.yaml",
                "      - op: add\n        path: /spec/hostnames/-\n        value: book.bikes.example",
                "      - op: replace\n        path: /spec/rules/0/backendRefs/0/port\n        value: 80",
                ("base/route.yaml:9 error GWP5002 HTTPRoute bikes/booking in prod",),
            ),
        ),
    ),
    "names in Helm": (
        HELM,
        (
            # In a template, in the values of the chart, and beside it.
            Mistake(
                "chart/templates/policy.yaml",
                'name: {{ include "parcels.name" . }}}',
                'name: {{ include "parcels.name" . }}-old}',
                ("chart/templates/policy.yaml:8 error GWP1001 BackendTrafficPolicy default/tracking",),
            ),
            *written(r"""
                chart/templates/route.yaml: ports: [{port: {{ .Values.port }}}] -> ports: [{port: 80}]
                  chart/templates/route.yaml:11 error GWP5002 HTTPRoute default/parcels-tracking
                chart/values.yaml: gateway: {name: door, -> gateway: {name: door, sectionName: htp,
                  chart/templates/route.yaml:8 error GWP4002 HTTPRoute default/parcels-tracking
                gateway.yaml: kind: Gateway, name: door -> kind: Gateway, name: dor
                  gateway.yaml:18 error GWP1001 BackendTrafficPolicy platform/house
            """),
        ),
    ),
    "a hostname in Helm": (
        HELM,
        (
            *written(r"""
                chart/values.yaml: parcels.post.example -> parcels.mail.example
                  chart/templates/route.yaml:9 error GWP4006 HTTPRoute default/parcels-tracking
            """),
            Mistake("gateway.yaml", "port: 80, ", "port: 80, hostname: '*.post.example', ", ()),
        ),
    ),
}


def _certain(plain: LintWorld) -> set[tuple[str, str]]:
    """What is found in each world of a tree that was not rendered, but for that."""
    return {each for each in in_each_world(plain) if not each[1].startswith("GWP0010 ")}


def _unrendered(lint: Lint, monkeypatch: pytest.MonkeyPatch, tree: Path, *options: str) -> LintWorld:
    """What is found where no program is installed that renders."""
    with monkeypatch.context() as alone:
        alone.setenv("PATH", str(tree))
        return lint(".", *options)


@pytest.mark.parametrize("tree", TREES)
def test_as_they_are(tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lint: Lint) -> None:
    """Nothing is wrong but what is meant to be; and what is found without rendering is found with it, too."""
    folder = planted(tree.name, tmp_path)
    monkeypatch.chdir(folder)
    for options, errors in ((tree.options, []), (("--complete", *tree.options), [*tree.errors])):
        rendered, plain = lint(".", *options), _unrendered(lint, monkeypatch, folder, *options)
        assert _certain(plain) <= in_each_world(rendered)
        assert rendered.document["worlds"] == plain.document["worlds"]
        assert said(rendered, "error") == errors


@pytest.mark.parametrize(
    ("tree", "mistakes"),
    [pytest.param(*scene, id=name, marks=helm if scene[0] is HELM else kubectl) for name, scene in SCENES.items()],
)
def test_mistakes(
    tree: Tree, mistakes: tuple[Mistake, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lint: Lint
) -> None:
    """Each is found once in each world that has it, at its file and line, and no other error is.

    What is found without rendering is among that: it is what no patch could put right.
    """
    folder = planted(tree.name, tmp_path, mistakes)
    monkeypatch.chdir(folder)
    rendered = lint(".", "--complete", *tree.options)
    assert said(rendered, "error") == sorted([*tree.errors, *(line for each in mistakes for line in each.found)])
    assert rendered.code == 1
    plain = _unrendered(lint, monkeypatch, folder, "--complete", *tree.options)
    assert _certain(plain) <= in_each_world(rendered)


@kubectl
def test_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lint: Lint) -> None:
    """Somebody at a terminal sees what is rendered, though nobody asked for that."""
    told: list[str] = []

    @contextmanager
    def progress(doing: str) -> Generator[Progress]:
        yield lambda begun, total, name: told.append(f"{doing} {begun} of {total}: {name}")

    monkeypatch.setattr(terminal, "progress", progress)
    monkeypatch.chdir(planted("kustomize", tmp_path))
    assert lint("overlays").code == 0
    assert told == ["rendering 1 of 1: overlays/dev", "rendering 1 of 1: overlays/prod"]


# Everything in the base is wrong, and the overlay puts all of it right.
PUT_RIGHT: Final = {
    "base/kustomization.yaml": "resources: [shop.yaml]\n",
    "base/shop.yaml": """\
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: envoy}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: door, namespace: shop}
spec:
  gatewayClassName: envoy
  listeners:
    - {name: http, protocol: HTTP, port: 80, hostname: "*.shop.example"}
    - {name: other, protocol: HTTP, port: 80, hostname: "*.shop.example"}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: checkout, namespace: shop}
spec:
  parentRefs: [{name: door, sectionName: https}]
  hostnames: [checkout.shop.example]
  rules: [{backendRefs: [{name: checkout, port: 8080}]}]
---
apiVersion: v1
kind: Service
metadata: {name: checkout, namespace: shop}
spec: {ports: [{port: 80}]}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata: {name: checkout, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRout, name: checkout}]
  timeout: {http: {requestTimeout: 15s}}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: ClientTrafficPolicy
metadata: {name: clients, namespace: shop}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: door, sectionName: htp}]
  timeout: {http: {requestReceivedTimeout: 15s}}
""",
    "overlay/kustomization.yaml": """\
resources: [../base]
patches:
  - {target: {kind: HTTPRoute}, patch: "- {op: replace, path: /spec/parentRefs/0/sectionName, value: http}"}
  - {target: {kind: Gateway}, patch: "- {op: replace, path: /spec/listeners/1/port, value: 8080}"}
  - {target: {kind: Service}, patch: "- {op: replace, path: /spec/ports/0/port, value: 8080}"}
  - {target: {kind: BackendTrafficPolicy}, patch: "- {op: replace, path: /spec/targetRefs/0/kind, value: HTTPRoute}"}
  - {target: {kind: ClientTrafficPolicy}, patch: "- {op: replace, path: /spec/targetRefs/0/sectionName, value: http}"}
""",
}


class TestWithoutPrograms:
    """What no program is there for is read as it is written, and said."""

    @kubectl
    def test_what_patches_put_right(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lint: Lint) -> None:
        monkeypatch.chdir(write(tmp_path, PUT_RIGHT))
        for options in ((), ("--complete",)):
            assert said(lint(".", *options), "error", "warning") == []
            plain = _unrendered(lint, monkeypatch, tmp_path, *options)
            # Nobody can tell what is wrong where nothing was rendered.
            assert plain.code == 4
            assert all("GWP0010" in each for each in said(plain))
            assert plain.err == "5 patches were not applied: install kubectl or kustomize\n"
            unknown = [each["rule"] for each in plain.document["unknown"]]
            assert {"GWP1002", "GWP1003", "GWP4002", "GWP5002", "GWP6001"} <= set(unknown)
        (listeners,) = (each for each in plain.document["unknown"] if each["rule"] == "GWP6001")
        assert listeners["message"].endswith(
            "; Gateway shop/door may be different: changed by overlay/kustomization.yaml"
        )
        # The base is wrong by itself.
        assert len(said(lint("base", "--complete"), "error")) == 5

    def test_versions_of_an_object(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lint: Lint) -> None:
        """The one that is read is judged; what another object is to one of several is not known."""
        gateway = (
            "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: door, namespace: shop}\n"
            "spec: {gatewayClassName: envoy, listeners: [{name: %s, protocol: HTTP, port: 80}]}\n"
        )
        route = (
            "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: %s, namespace: shop}\n"
            "spec: {parentRefs: [{name: %s, sectionName: %s}]}\n"
        )
        files = {
            "dev/gateway.yaml": gateway % "dev",
            "prod/gateway.yaml": gateway % "prod",
            "prod/route.yaml": route % ("cart", "door", "prod"),
            "dev/shop.yaml": route % ("shop", "hall", "htp"),
            "prod/shop.yaml": route % ("shop", "hall", "http"),
            "hall.yaml": (gateway % "http").replace("door", "hall"),
        }
        monkeypatch.chdir(write(tmp_path, files))
        assert said(lint("."), "error") == ["dev/shop.yaml:4 error GWP4002 HTTPRoute shop/shop"]

    def test_a_chart(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lint: Lint) -> None:
        """What it makes is not known, whoever says that there is nothing else."""
        folder = planted("helm", tmp_path)
        policy = (folder / "gateway.yaml").read_text("utf-8").rpartition("---\n")[2]
        on_route = policy.replace("kind: Gateway, name: door", "kind: HTTPRoute, name: parcels-tracking")
        write(
            folder,
            {"policy.yaml": on_route.replace("name: house, namespace: platform", "name: chart, namespace: default")},
        )
        monkeypatch.chdir(folder)
        plain = _unrendered(lint, monkeypatch, folder, "--complete")
        assert said(plain, "error", "warning") == ["chart/Chart.yaml:1 warning GWP0010"]
        unknown = [(each["rule"], each["object"]["name"]) for each in plain.document["unknown"]]
        assert ("GWP1001", "chart") in unknown
        assert plain.err == "2 Helm templates were not applied: install helm\n"


def _printed(*command: str) -> str:
    return subprocess.run(command, capture_output=True, check=True, text=True, timeout=60).stdout  # noqa: S603 (our own words)


class TestPipes:
    WRONG: Final = Mistake("chart/values.yaml", "name: door", "name: dor", ())

    @helm
    def test_helm(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lint: Lint) -> None:
        """From wherever the chart is below, with the rest of the world beside it or around it."""
        monkeypatch.chdir(planted("helm", tmp_path, [self.WRONG]))
        findings = "{}templates/route.yaml:8 error GWP4001 HTTPRoute default/parcels-tracking"
        text = _printed("helm", "template", "parcels", "chart")
        assert said(lint("-", stdin=text), "error") == []
        assert said(lint("-", "gateway.yaml", "--complete", stdin=text), "error") == [findings.format("chart/")]
        both = text + "---\n" + (tmp_path / "helm" / "gateway.yaml").read_text("utf-8")
        assert said(lint("-", "--complete", stdin=both), "error") == [findings.format("chart/")]
        monkeypatch.chdir(tmp_path / "helm" / "chart")
        around = ("--context-from", "../gateway.yaml")
        assert said(lint("-", "--complete", *around, stdin=text), "error") == [findings.format("")]

    @helm
    def test_a_folder_of_what_was_rendered(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lint: Lint) -> None:
        """Helm says in it where each file comes from, and --path-map says it where nothing else does."""
        folder = planted("helm", tmp_path, [self.WRONG])
        monkeypatch.chdir(folder)
        _printed("helm", "template", "parcels", "chart", "--output-dir", "out")
        findings = "chart/templates/route.yaml:8 error GWP4001 HTTPRoute default/parcels-tracking"
        words = ("out", "gateway.yaml", "--complete")
        assert said(lint(*words), "error") == [findings]
        # Beside a chart of the same name, it is not known which one is meant.
        shutil.copytree(folder / "chart", folder / "old")
        assert said(lint(*words), "error") == [
            "parcels/templates/route.yaml:1 error GWP4001 HTTPRoute default/parcels-tracking"
        ]
        assert said(lint(*words, "--path-map", "parcels/=chart/"), "error") == [findings]
        # Without a word of Helm's.
        for path in (folder / "out").rglob("*.yaml"):
            path.write_text(path.read_text("utf-8").replace("# Source: ", "# "), "utf-8")
        assert said(lint(*words, "--path-map", "out/parcels/=chart/"), "error") == [findings]

    @kubectl
    def test_kustomize(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lint: Lint) -> None:
        """By the annotations that it makes if it is told to; else everything is where it was read."""
        folder = planted(
            "kustomize",
            tmp_path,
            (
                Mistake("overlays/prod/night.yaml", "sectionName: book}", "sectionName: bok}", ()),
                Mistake("base/route.yaml", "port: 8080}]\n---", "port: 80}]\n---", ()),
            ),
        )
        monkeypatch.chdir(folder)
        objects = ("PacePolicy bikes/night", "HTTPRoute bikes/booking")
        findings = lint("-", stdin=_printed("kubectl", "kustomize", "overlays/prod"))
        assert sorted(line.partition(":")[0] for line in said(findings, "error")) == ["<stdin>", "<stdin>"]
        overlay = folder / "overlays" / "prod"
        with (overlay / "kustomization.yaml").open("a", encoding="utf-8") as file:
            file.write("buildMetadata: [originAnnotations]\n")
        text = _printed("kubectl", "kustomize", "overlays/prod")
        assert said(lint("-", stdin=text), "error") == [
            f"base/route.yaml:9 error GWP5002 {objects[1]}",
            f"overlays/prod/night.yaml:6 error GWP1002 {objects[0]}",
        ]
        # From the folder itself, what is above it cannot be looked up.
        monkeypatch.chdir(overlay)
        assert said(lint("-", stdin=text), "error") == [
            f"base/route.yaml:1 error GWP5002 {objects[1]}",
            f"night.yaml:6 error GWP1002 {objects[0]}",
        ]
