"""Hostile repositories: whatever Kustomize, Flux, Argo CD and Helm are told, there is an answer or a refusal, soon."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Final

import pytest

from tests.cli.conftest import MANIFESTS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Command

ASK: Final = ("describe", "httproute/r", "-n", "app", "--offline")
QUESTIONS: Final = (
    ASK,
    ("get", "policies", "-A", "--offline"),
    ("blast-radius", "gateway/g", "-n", "app", "--offline"),
)
# What a machine with much else to do needs for any of these is far below that; what never ends is above it.
SECONDS: Final = 20
HEAD: Final = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
FLUX: Final = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {{name: apps, namespace: flux-system}}
spec: {{sourceRef: {{kind: GitRepository, name: home}}, {}}}
"""
APPLICATION: Final = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: app, namespace: argocd}}
spec: {{source: {{repoURL: x, {}}}, destination: {{namespace: app}}}}
"""
RELEASE: Final = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: app, namespace: app}}
spec: {}
"""
# Each file with its text; `all.yaml` is there as well, in the same folder.
TREES: Final[dict[str, dict[str, str]]] = {
    "itself": {"kustomization.yaml": f"{HEAD}resources: [., all.yaml]\n"},
    "circle": {
        "a/kustomization.yaml": f"{HEAD}resources: [../b]\n",
        "b/kustomization.yaml": f"{HEAD}resources: [../a]\n",
    },
    "component-circle": {
        "kustomization.yaml": f"{HEAD}resources: [all.yaml]\ncomponents: [c]\n",
        "c/kustomization.yaml": "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\ncomponents: [., ..]\n",
    },
    "above": {"kustomization.yaml": f"{HEAD}resources: [../../../../../../../../../../etc, all.yaml]\n"},
    "root": {"kustomization.yaml": f"{HEAD}resources: [/, /etc/passwd, all.yaml]\n"},
    "many": {"kustomization.yaml": f"{HEAD}resources:\n" + "".join(f"- {n}.yaml\n" for n in range(2_000))},
    "same-many-times": {"kustomization.yaml": f"{HEAD}resources:\n" + "- all.yaml\n" * 1_000},
    "doubling": {
        f"d{n}/kustomization.yaml": f"{HEAD}resources: [../d{n + 1}, ../d{n + 1}/]\n" if n < 30 else HEAD
        for n in range(31)
    },
    "deep": {
        "/".join(["d"] * n) + "/kustomization.yaml": f"{HEAD}resources: [d]\nnamePrefix: a\n" for n in range(1, 60)
    },
    "list": {"kustomization.yaml": "- resources: [all.yaml]\n"},
    "text": {"kustomization.yaml": "resources\n"},
    "empty": {"kustomization.yaml": ""},
    "two-documents": {"kustomization.yaml": f"{HEAD}resources: [all.yaml]\n---\n{HEAD}namespace: other\n"},
    "wrong-types": {
        "kustomization.yaml": "resources: {a: b}\npatches: 7\ncomponents: [[1], {a: b}, null]\nnamespace: [x]\n"
        "namePrefix: {a: b}\npatchesStrategicMerge: yes\nconfigMapGenerator: [1, {files: 3}]\nreplacements: text\n"
    },
    "wrong-items": {
        "kustomization.yaml": f"{HEAD}resources: [1, null, [all.yaml], {{a: b}}]\npatches: [1, null, {{path: [x]}}]\n"
    },
    "patch-is-no-yaml": {
        "kustomization.yaml": f"{HEAD}resources: [all.yaml]\npatches: [{{path: p.yaml}}, {{patch: '{{{{['}}]\n",
        "p.yaml": "{{ [ not: yaml",
    },
    "patch-of-everything": {
        "kustomization.yaml": f"{HEAD}resources: [all.yaml]\npatches:\n- target: {{kind: .*, name: '(a+)+$'}}\n"
        "  patch: '[]'\n"
    },
    "regular-expression": {
        "kustomization.yaml": f"{HEAD}resources: [all.yaml]\npatches:\n- target: {{kind: HTTPRoute, name: '((((('}}\n"
        "  patch: '[{op: remove, path: /spec}]'\n"
    },
    "namespace-with-a-newline": {"kustomization.yaml": f'{HEAD}namespace: "a\\nb\\e[2J"\nresources: [all.yaml]\n'},
    "path-with-a-newline": {"kustomization.yaml": f'{HEAD}resources: ["a\\nb", "::error::x", all.yaml]\n'},
    "remote": {
        "kustomization.yaml": f"{HEAD}resources:\n- https://127.0.0.1:9/x.yaml\n- git@127.0.0.1:x/y\n"
        "- github.com/x/y?ref=z\n- all.yaml\n"
    },
    "plugins": {
        "kustomization.yaml": f"{HEAD}resources: [all.yaml]\ngenerators: [g.yaml]\ntransformers: [g.yaml]\n"
        "helmCharts: [{name: x, repo: 'https://127.0.0.1:9'}]\n",
        "g.yaml": "apiVersion: x/v1\nkind: Exec\nmetadata:\n  name: x\n  annotations:\n"
        "    config.kubernetes.io/function: '{exec: {path: /bin/touch}}'\n",
    },
    "flux-path-of-the-machine": {"flux.yaml": FLUX.format("path: /etc")},
    "flux-path-above": {"flux.yaml": FLUX.format("path: ../../../../../../..")},
    "flux-path-of-itself": {"flux.yaml": FLUX.format("path: ./, targetNamespace: '${{x}}'")},
    "flux-path-nowhere": {"flux.yaml": FLUX.format("path: ./nowhere")},
    "flux-wrong-types": {
        "flux.yaml": FLUX.format("path: [x], targetNamespace: {a: b}, components: 3, patches: [1], postBuild: [x]")
    },
    "flux-without-spec": {"flux.yaml": FLUX.partition("spec")[0].format()},
    "flux-newline": {"flux.yaml": FLUX.format(r'path: "a\nb", targetNamespace: "x\e[2J"')},
    "flux-many": {
        "flux.yaml": "---\n".join(FLUX.format(f"path: ./d, targetNamespace: n{n}") for n in range(20)),
        "d/all.yaml": MANIFESTS.replace(", namespace: app", ""),
    },
    "flux-variables": {
        "flux.yaml": FLUX.format("path: ./d, postBuild: {substitute: {A: '${B}${B}', B: '${A}${A}'}}"),
        "d/x.yaml": MANIFESTS.replace("name: r", "name: '${A}'"),
    },
    "argo-path-above": {"app.yaml": APPLICATION.format("path: ../../../../../../../etc")},
    "argo-wrong-types": {"app.yaml": APPLICATION.format("path: 7, helm: [x], directory: text, kustomize: 3")},
    "argo-sets": {
        "app.yaml": "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: a, namespace: argocd}\n"
        "spec:\n  generators:\n  - matrix: {generators: [{git: {directories: [{path: '**/**/**/*'}]}}, {list: 7}]}\n"
        "  - git: {directories: [{path: '[[['}, {path: 3}], files: [{path: '**'}]}\n  - 7\n"
        "  template: {spec: '{{.x}}'}\n"
    },
    "chart": {
        "chart/Chart.yaml": "apiVersion: v2\nname: x\nversion: 0.0.0\n",
        "chart/templates/a.yaml": '{{- define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}',
    },
    "chart-loops": {
        "chart/Chart.yaml": "apiVersion: v2\nname: x\nversion: 0.0.0\n",
        "chart/templates/a.yaml": "{{ range $i := until 100000000 }}{{ end }}",
    },
    "chart-is-a-list": {"chart/Chart.yaml": "[1, 2]\n", "chart/templates/a.yaml": "{{ x }}"},
    "release": {
        "r.yaml": RELEASE.format("{chart: {spec: {chart: ../../../../../../etc, sourceRef: {kind: GitRepository}}}}")
    },
    "release-wrong-types": {
        "r.yaml": RELEASE.format("{chart: [x], values: text, valuesFrom: 3, targetNamespace: [1]}")
    },
    "ignore-file": {".gitignore": "[\n!\n**/**/**/**/\n\\\n" + "*a" * 200 + "\n", ".kubectl-policyignore": "\0\n!\n"},
}
# What no program comes to an end with before it is stopped, which takes its time; another test is about that.
ENDLESS: Final = {"doubling", "chart-loops", "root"}


def write(folder: Path, files: dict[str, str]) -> None:
    """The files of a tree, and beside them the world that is asked about."""
    for path, text in {"all.yaml": MANIFESTS, **files}.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")


@pytest.fixture
def answered(command: Command) -> Callable[..., None]:
    """Ask everything of a folder: each time an answer or a refusal, in time, in lines that can be printed."""

    def ask(folder: Path, *arguments: str) -> None:
        for question in QUESTIONS[: 1 if arguments else None]:
            begun = time.monotonic()
            code, out, err = command(*question, folder, *arguments)
            assert time.monotonic() - begun < SECONDS
            assert code in {0, 3, 4}, err
            assert "Traceback" not in out + err
            lines = (out + err).splitlines()
            assert all(line.isprintable() for line in lines)
            assert not any(line.lstrip().startswith("::") for line in lines)

    return ask


@pytest.mark.parametrize("files", TREES.values(), ids=TREES)
def test_a_tree_that_is_not_meant_well(answered: Callable[..., None], tmp_path: Path, files: dict[str, str]) -> None:
    write(tmp_path, files)
    answered(tmp_path)


@pytest.mark.parametrize("name", sorted(TREES.keys() - ENDLESS))
def test_a_tree_that_is_not_meant_well_is_rendered(answered: Callable[..., None], tmp_path: Path, name: str) -> None:
    write(tmp_path, TREES[name])
    answered(tmp_path, "--render")


@pytest.mark.parametrize("arguments", [(), ("--render",)], ids=["raw", "rendered"])
def test_links_that_lead_in_circles(answered: Callable[..., None], tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """And out of the folder, and to nothing."""
    write(tmp_path, {"kustomization.yaml": f"{HEAD}resources: [loop, out, all.yaml, dead.yaml]\n"})
    for name, to in (("loop", "."), ("out", "/etc"), ("dead.yaml", "nowhere"), ("self.yaml", "self.yaml")):
        (tmp_path / name).symlink_to(to)
    answered(tmp_path, *arguments)


@pytest.mark.parametrize("arguments", [(), ("--render",)], ids=["raw", "rendered"])
def test_a_kustomization_that_is_a_folder_or_a_pipe(
    answered: Callable[..., None], tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    """Neither is read, and neither blocks."""
    write(tmp_path, {"a/kustomization.yaml/x.yaml": "a: b\n"})
    (tmp_path / "b").mkdir()
    os.mkfifo(tmp_path / "b" / "kustomization.yaml")
    answered(tmp_path, *arguments)
