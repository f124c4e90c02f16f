"""Hostile objects and repositories: an answer or a clear refusal, soon, and never a traceback."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Final

import pytest

from tests.cli.conftest import MANIFESTS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Command, Result

FORMATS = ("tree", "table", "wide", "csv", "yaml", "json", "name")
ASK = ("describe", "httproute/r", "-n", "app", "--offline")
COLOR = "apiVersion: example.com/v1\nkind: ColorPolicy\n"
HEAD = "apiVersion: gateway.networking.k8s.io/v1\nkind: {}\nmetadata: {{name: {}, namespace: app}}\n"


def _refused(result: Result, message: str) -> None:
    assert (result.code, result.out) == (3, "")
    assert result.err.startswith("error: ")
    assert message in result.err
    assert "Traceback" not in result.err


def test_an_empty_folder(command: Command, tmp_path: Path) -> None:
    _refused(command(*ASK, tmp_path), "it contains no manifests")


def test_a_missing_path(command: Command, tmp_path: Path) -> None:
    _refused(command(*ASK, tmp_path / "nowhere"), "nowhere")


def test_a_folder_without_permission(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason is given; root may read everything, so for root the system's answer is played."""
    closed = tmp_path / "closed"
    closed.mkdir()
    closed.chmod(0)
    if os.access(closed, os.R_OK):

        def refuse(path: object) -> object:
            raise PermissionError(13, "Permission denied", str(path))

        monkeypatch.setattr(os, "listdir", refuse)
        monkeypatch.setattr(os, "scandir", refuse)
    _refused(command(*ASK, closed), "ermission denied")
    closed.chmod(0o700)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("binary.yaml", b"\x00\x01\x02\xff\xfe" * 50),
        ("brackets.yaml", b"a: " + b"[" * 100_000),
        ("brackets.json", b"[" * 100_000 + b"]" * 100_000),
        ("dashes.yaml", b"- " * 100_000),
        (
            "bomb.yaml",
            b"a0: &a0 [x]\n"
            + b"".join(b"a%d: &a%d [%s]\n" % (n, n, b",".join([b"*a%d" % (n - 1)] * 9)) for n in range(1, 12)),
        ),
        ("loop.yaml", b"a: &a [*a]\n"),
        ("template.yaml", b"kind: {{ .Values.kind }}\n"),
        ("tag.yaml", b"a: !!int [true]\nb: !!int true\n"),
    ],
)
def test_a_file_that_cannot_be_read_is_a_gap(command: Command, manifests: Path, name: str, content: bytes) -> None:
    path = manifests / name
    # Without an object in it, broken as it may be, it would be no manifest.
    path.write_bytes(b"apiVersion: v1\nkind: List\nitems: []\n---\n" + content)
    code, out, err = command(*ASK, manifests)
    assert code == 0
    assert "as far as could be read: 1 file may hold more." in " ".join(out.split())
    assert name in out
    assert "Traceback" not in out + err
    _refused(command(*ASK, path), name)


def test_a_document_of_fifty_megabytes(command: Command, manifests: Path) -> None:
    """It is refused before it can fill the memory; the rest is answered."""
    line = b"- some text that goes on and on and on and on and on and on\n"
    start = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: huge}\nlines:\n"
    (manifests / "huge.yaml").write_bytes(start + line * (50_000_000 // len(line)))
    code, _, remarks = command(*ASK, manifests)
    assert code == 0
    assert "huge.yaml:1: a YAML document of more than 32 MiB" in remarks


@pytest.mark.parametrize(
    "document",
    [
        HEAD.format("Gateway", "g") + "spec: {gatewayClassName: x, listeners: http}\n",
        HEAD.format("Gateway", "g") + "spec: [1, 2]\n",
        HEAD.format("Gateway", "g") + "spec: {listeners: [1, {name: [x]}, null]}\n",
        HEAD.format("HTTPRoute", "q") + "spec: {parentRefs: 7, rules: {a: b}, hostnames: [1]}\n",
        f"{COLOR}metadata: {{name: p, namespace: app}}\nspec: {{targetRefs: 7}}\n",
        f"{COLOR}metadata: {{name: p, namespace: app}}\nspec: {{targetRefs: [7, {{kind: [1]}}]}}\n",
        f"{COLOR}metadata: {{name: 7, namespace: [1], labels: x}}\nspec: text\n",
        "apiVersion: v1\nkind: Service\nmetadata: {name: s2, namespace: app}\nspec: {ports: {a: 1}}\n",
        "apiVersion: v1\nkind: [Service]\nmetadata: 3\n",
    ],
)
def test_a_field_of_the_wrong_type(command: Command, manifests: Path, document: str) -> None:
    (manifests / "odd.yaml").write_text(document, "utf-8")
    for name in ("httproute/r", "gateway/g", "service/s", "colorpolicy/red"):
        code, out, err = command("describe", name, "-n", "app", "--offline", manifests, "-o", "json")
        assert code == 0, (name, out, err)
        assert "Traceback" not in err


def test_a_gateway_with_listeners_as_text_is_a_problem(command: Command, manifests: Path) -> None:
    head = HEAD.format("Gateway", "bad")
    (manifests / "odd.yaml").write_text(f"{head}spec:\n  gatewayClassName: x\n  listeners: http\n", "utf-8")
    out = command("describe", "gateway/bad", "-n", "app", "--offline", manifests).out
    line = head.count("\n") + 3
    assert f"odd.yaml:{line}:" in out
    assert "spec.listeners is a string, must be a list" in " ".join(out.split())


@pytest.mark.parametrize("name", FORMATS)
def test_names_cannot_control_the_terminal(command: Command, tmp_path: Path, name: str) -> None:
    evil = "\\e[2J\\n[bold]x[/bold]\\u202e"
    text = MANIFESTS.replace("name: red", f'name: "{evil}"').replace("color: red", f'"{evil}": "{evil}"')
    lost = text.split("---\n")[-1].replace("name: r}", f'name: "{evil}"}}').replace("name: ", "name: x", 1)
    folder = tmp_path / "[red]folder[red]"
    folder.mkdir()
    (folder / "all.yaml").write_text(f"{text}---\n{lost}---\nkind: {{{{ x }}}}\n", "utf-8")
    for arguments in ((), ("--color", "never")):
        code, out, err = command(*ASK, folder, "-o", name, *arguments)
        assert code == 0
        assert all(line.isprintable() for line in (out + err).splitlines())
        assert out.count("[bold]") or name == "name"


def test_markup_is_not_obeyed_in_colour(command: Command, manifests: Path) -> None:
    (manifests / "all.yaml").write_text(MANIFESTS.replace("color: red", 'color: "[bold]x[/bold] :smile:"'), "utf-8")
    assert "[bold]x[/bold] :smile:" in command(*ASK, manifests, "--color", "always").out


def test_a_value_nested_deeply_is_answered_or_refused(command: Command, manifests: Path) -> None:
    deep = '{"a": ' * 190 + "1" + "}" * 190
    (manifests / "all.yaml").write_text(MANIFESTS.replace("color: red", f"color: {deep}"), "utf-8")
    for name in FORMATS:
        assert command(*ASK, manifests, "-o", name).code == 0


@pytest.mark.parametrize("name", FORMATS)
def test_names_are_no_commands_to_a_ci(command: Command, manifests: Path, name: str) -> None:
    """No line begins with `::`, on either stream, where objects and kinds are called so."""
    text = MANIFESTS.replace("kind: ColorPolicy", 'kind: "::add-mask::x"')
    text = text.replace("name: red", 'name: "::stop-commands::y"')
    broken = '---\napiVersion: v1\nkind: "::error::z"\nmetadata: 3\n'
    (manifests / "all.yaml").write_text(text + broken, "utf-8")
    for arguments in (ASK, ("get", "policies", "-A", "--offline"), ("status", "-A", "--offline")):
        code, out, err = command(*arguments, manifests, *(("-o", name) if name != "tree" else ()))
        assert code in {0, 3}
        assert not any(line.lstrip().startswith("::") for line in (out + err).splitlines())


QUESTIONS: Final = (
    ASK,
    ("get", "policies", "-A", "--offline"),
    ("blast-radius", "gateway/g", "-n", "app", "--offline"),
)
# What a machine with much else to do needs for any of these is far below that; what never ends is above it.
SECONDS: Final = 20
HEADER: Final = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
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
    "itself": {"kustomization.yaml": f"{HEADER}resources: [., all.yaml]\n"},
    "circle": {
        "a/kustomization.yaml": f"{HEADER}resources: [../b]\n",
        "b/kustomization.yaml": f"{HEADER}resources: [../a]\n",
    },
    "component-circle": {
        "kustomization.yaml": f"{HEADER}resources: [all.yaml]\ncomponents: [c]\n",
        "c/kustomization.yaml": "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\ncomponents: [., ..]\n",
    },
    "above": {"kustomization.yaml": f"{HEADER}resources: [../../../../../../../../../../etc, all.yaml]\n"},
    "root": {"kustomization.yaml": f"{HEADER}resources: [/, /etc/passwd, all.yaml]\n"},
    "many": {"kustomization.yaml": f"{HEADER}resources:\n" + "".join(f"- {n}.yaml\n" for n in range(2_000))},
    "same-many-times": {"kustomization.yaml": f"{HEADER}resources:\n" + "- all.yaml\n" * 1_000},
    "doubling": {
        f"d{n}/kustomization.yaml": f"{HEADER}resources: [../d{n + 1}, ../d{n + 1}/]\n" if n < 30 else HEADER
        for n in range(31)
    },
    "deep": {
        "/".join(["d"] * n) + "/kustomization.yaml": f"{HEADER}resources: [d]\nnamePrefix: a\n" for n in range(1, 60)
    },
    "list": {"kustomization.yaml": "- resources: [all.yaml]\n"},
    "text": {"kustomization.yaml": "resources\n"},
    "empty": {"kustomization.yaml": ""},
    "two-documents": {"kustomization.yaml": f"{HEADER}resources: [all.yaml]\n---\n{HEADER}namespace: other\n"},
    "wrong-types": {
        "kustomization.yaml": "resources: {a: b}\npatches: 7\ncomponents: [[1], {a: b}, null]\nnamespace: [x]\n"
        "namePrefix: {a: b}\npatchesStrategicMerge: yes\nconfigMapGenerator: [1, {files: 3}]\nreplacements: text\n"
    },
    "wrong-items": {
        "kustomization.yaml": f"{HEADER}resources: [1, null, [all.yaml], {{a: b}}]\npatches: [1, null, {{path: [x]}}]\n"
    },
    "patch-is-no-yaml": {
        "kustomization.yaml": f"{HEADER}resources: [all.yaml]\npatches: [{{path: p.yaml}}, {{patch: '{{{{['}}]\n",
        "p.yaml": "{{ [ not: yaml",
    },
    "patch-of-everything": {
        "kustomization.yaml": f"{HEADER}resources: [all.yaml]\npatches:\n- target: {{kind: .*, name: '(a+)+$'}}\n"
        "  patch: '[]'\n"
    },
    "regular-expression": {
        "kustomization.yaml": f"{HEADER}resources: [all.yaml]\npatches:\n- target: {{kind: HTTPRoute, name: '((((('}}\n"
        "  patch: '[{op: remove, path: /spec}]'\n"
    },
    "namespace-with-a-newline": {"kustomization.yaml": f'{HEADER}namespace: "a\\nb\\e[2J"\nresources: [all.yaml]\n'},
    "path-with-a-newline": {"kustomization.yaml": f'{HEADER}resources: ["a\\nb", "::error::x", all.yaml]\n'},
    "remote": {
        "kustomization.yaml": f"{HEADER}resources:\n- https://127.0.0.1:9/x.yaml\n- git@127.0.0.1:x/y\n"
        "- github.com/x/y?ref=z\n- all.yaml\n"
    },
    "plugins": {
        "kustomization.yaml": f"{HEADER}resources: [all.yaml]\ngenerators: [g.yaml]\ntransformers: [g.yaml]\n"
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
        for question in QUESTIONS[: 1 if "--render" in arguments else None]:
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
    answered(tmp_path, "--no-render")


@pytest.mark.parametrize("name", sorted(TREES.keys() - ENDLESS))
def test_a_tree_that_is_not_meant_well_is_rendered(answered: Callable[..., None], tmp_path: Path, name: str) -> None:
    write(tmp_path, TREES[name])
    answered(tmp_path, "--render")


@pytest.mark.parametrize("arguments", [("--no-render",), ("--render",)], ids=["raw", "rendered"])
def test_links_that_lead_in_circles(answered: Callable[..., None], tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """And out of the folder, and to nothing."""
    write(tmp_path, {"kustomization.yaml": f"{HEADER}resources: [loop, out, all.yaml, dead.yaml]\n"})
    for name, to in (("loop", "."), ("out", "/etc"), ("dead.yaml", "nowhere"), ("self.yaml", "self.yaml")):
        (tmp_path / name).symlink_to(to)
    answered(tmp_path, *arguments)


@pytest.mark.parametrize("arguments", [("--no-render",), ("--render",)], ids=["raw", "rendered"])
def test_a_kustomization_that_is_a_folder_or_a_pipe(
    answered: Callable[..., None], tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    """Neither is read, and neither blocks."""
    write(tmp_path, {"a/kustomization.yaml/x.yaml": "a: b\n"})
    (tmp_path / "b").mkdir()
    os.mkfifo(tmp_path / "b" / "kustomization.yaml")
    answered(tmp_path, *arguments)
