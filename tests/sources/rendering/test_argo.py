"""Applications and ApplicationSets of Argo CD: which there are, and what each of their sources asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.sources.rendering.trees import SERVICE, helm, kubectl, refs, rendered, write

if TYPE_CHECKING:
    from pathlib import Path

    from kubectl_policy.model import Snapshot

SET = """\
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {{name: set, namespace: argocd}}
spec:
  goTemplate: {go}
  generators: [{generators}]
  template:
    metadata: {{name: "{name}"}}
    spec: {{source: {{repoURL: r, path: "{path}"}}, destination: {{namespace: "{namespace}"}}}}
"""
APPLICATION = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: app, namespace: argocd}
spec: {sources: [%s], destination: {namespace: x}}
"""
CHART = {
    "chart/Chart.yaml": "apiVersion: v2\nname: c\nversion: 1.0.0\n",
    "chart/templates/a.yaml": (
        "apiVersion: v1\nkind: Service\nmetadata: {name: '{{ .Values.name }}'}\n"
        "spec: {ports: [{port: {{ .Values.port }}}]}\n"
    ),
    "chart/values.yaml": "name: own\nport: 1\n",
}


def _set(generators: str, name: str, path: str, namespace: str, *, go: bool = False) -> str:
    return SET.format(generators=generators, name=name, path=path, namespace=namespace, go=str(go).lower())


def _services(snapshot: Snapshot) -> list[str]:
    return [ref.removeprefix("Service ") for ref in refs(snapshot) if ref.startswith("Service")]


@pytest.fixture
def apps(tmp_path: Path) -> Path:
    """Three folders of manifests, of which one is deeper than the others."""
    return write(tmp_path, {f"apps/{name}/a.yaml": SERVICE % "s" for name in ("one", "two", "deep/three")})


@pytest.mark.parametrize(
    ("generators", "name", "path", "namespace", "go", "found"),
    [
        (
            "{list: {elements: [{app: one, to: east}, {app: two, to: west}]}}",
            "{{app}}",
            "apps/{{app}}",
            "{{to}}",
            False,
            "east west",
        ),
        ("{list: {elements: [{app: one}]}}", "{{ .app }}", "apps/{{ .app }}", "{{- .app -}}", True, "one"),
        ("{git: {directories: [{path: apps/*}]}}", "{{path.basename}}", "{{path}}", "{{path[1]}}", False, "one two"),
        (
            "{git: {directories: [{path: apps/*}, {path: apps/two, exclude: true}]}}",
            "{{.path.basename}}",
            "{{.path.path}}",
            "{{index .path.segments 1}}",
            True,
            "one",
        ),
        ("{git: {files: [{path: apps/**/config.yaml}]}}", "{{ns}}", "{{path}}", "{{ns}}-{{size.max}}", False, "q-3"),
        (
            "{matrix: {generators: [{clusters: {}}, {git: {directories: [{path: apps/*}]}}]}}",
            "{{name}}-{{path.basename}}",
            "{{path}}",
            "{{path.basename}}",
            False,
            "one two",
        ),
    ],
)
def test_application_sets(  # noqa: PLR0913 (a row of the table)
    apps: Path, generators: str, name: str, path: str, namespace: str, *, go: bool, found: str
) -> None:
    """What generators give is put in the places of the template, in either notation."""
    write(apps, {"apps/deep/three/config.yaml": "ns: q\nsize: {max: 3}\n"})
    write(apps, {"set.yaml": _set(generators, name, path, namespace, go=go)})
    expected = {f"{each}/s" for each in found.split()}
    assert expected <= set(_services(rendered(apps)))
    assert ("two/s" in _services(rendered(apps))) == ("two/s" in expected)


@pytest.mark.parametrize(
    "generators",
    [
        "{scmProvider: {}}",
        "{list: {elements: [{app: one}]}, selector: {}}",
        "{list: {elements: [{app: one}], template: {metadata: {}}}}",
        "{list: {elementsYaml: '[]'}}",
        "{matrix: {generators: [{list: {elements: [{app: one}]}}, {git: {directories: [{path: 'apps/{{app}}'}]}}]}}",
        "{matrix: {generators: [{scmProvider: {}}]}}",
    ],
)
def test_generators_that_nobody_here_can_follow(apps: Path, generators: str) -> None:
    """Are said once; what they make may be anywhere."""
    write(apps, {"set.yaml": _set(generators, "{{app}}", "apps/{{app}}", "{{app}}")})
    assert any("what its generators give is not known here" in gap.reason for gap in rendered(apps).gaps)


@pytest.mark.parametrize(
    ("pattern", "namespaces"),
    [
        ("apps/**", ["deep", "one", "three", "two"]),
        ("**/three", ["three"]),
        ("apps/**/three/**", ["three"]),
        ("apps/*/three", ["three"]),
        ("**/x" * 12, []),
        ("**/" * 12 + "x", []),
    ],
)
def test_patterns_of_folders(apps: Path, pattern: str, namespaces: list[str]) -> None:
    """Two stars stand for any number of folders, however many there are of them."""
    directories = f"{{git: {{directories: [{{path: '{pattern}'}}]}}}}"
    write(apps, {"set.yaml": _set(directories, "{{path.basename}}", "{{path}}", "{{path.basename}}")})
    applied = [name for name in _services(rendered(apps)) if not name.startswith("default/")]
    assert applied == [f"{namespace}/s" for namespace in namespaces if namespace != "deep"]


def test_functions_in_templates_stay(apps: Path) -> None:
    """A namespace that one makes is not known."""
    write(apps, {"set.yaml": _set("{list: {elements: [{app: One}]}}", "a", "apps/one", "{{ lower .app }}", go=True)})
    assert "<unknown>/s" in _services(rendered(apps))


@helm
@pytest.mark.parametrize(
    ("source", "service", "port"),
    [
        ("{path: chart}", "x/own", 1),
        ("{path: chart, helm: {valueFiles: [more.yaml], parameters: [{name: name, value: p}]}}", "x/p", 2),
        ("{path: chart, helm: {values: 'port: 4', parameters: [{name: port, value: '5'}]}}", "x/own", 5),
        ("{path: chart, helm: {values: 'port: 4', valuesObject: {port: 6}}}", "x/own", 6),
        ("{path: chart, helm: {valueFiles: [none.yaml], ignoreMissingValueFiles: true}}", "x/own", 1),
        ("{path: chart, helm: {valueFiles: [$v/values/v.yaml]}}, {repoURL: r, ref: v}", "x/own", 7),
    ],
)
def test_charts(tmp_path: Path, source: str, service: str, port: int) -> None:
    """Their values come from files, also of other sources, from the Application, and from single parameters."""
    write(tmp_path, {**CHART, "chart/more.yaml": "port: 2\n", "values/v.yaml": "port: 7\n"})
    write(tmp_path, {"app.yaml": APPLICATION % source})
    snapshot = rendered(tmp_path)
    (found,) = [resource for resource in snapshot.resources if resource.ref.group_kind.kind == "Service"]
    assert found.ref.qualified_name == service
    assert found.raw["spec"] == {"ports": [{"port": port}]}
    assert snapshot.gaps == ()


@helm
@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("{path: chart, helm: {valueFiles: [none.yaml]}}", "values none.yaml not here"),
        ("{path: chart, helm: {valueFiles: [../../../etc/hostname]}}", "values ../../../etc/hostname not here"),
        (
            "{path: chart, helm: {valueFiles: ['https://example.com/v.yaml']}}",
            "values https://example.com/v.yaml not here",
        ),
        ("{path: ../../etc}", "../../etc not here"),
        ("{path: none}", "none not here"),
        ("{chart: c}", "chart not here"),
        ("{path: apps, plugin: {name: p}}", "a plugin makes its objects"),
        ("{path: apps, directory: {jsonnet: {tlas: []}}}", "Jsonnet makes its objects"),
    ],
)
def test_what_is_not_rendered(tmp_path: Path, source: str, why: str) -> None:
    """Each reason is said, with the namespace that it is for."""
    write(tmp_path, {**CHART, "app.yaml": APPLICATION % source, "apps/a.yaml": SERVICE % "a"})
    reasons = [gap.reason for gap in rendered(tmp_path).gaps]
    assert f"Application app ({why}) may create objects in namespace x" in reasons


@kubectl
def test_options_of_kustomize(tmp_path: Path) -> None:
    """Are those of the kustomization; so is its namespace, before that of the destination."""
    options = "{namePrefix: p-, namespace: ns, commonLabels: {a: b}, labelWithoutSelector: true, components: [../part]}"
    write(
        tmp_path,
        {
            "app.yaml": APPLICATION % f"{{path: over, kustomize: {options}}}",
            "over/kustomization.yaml": "resources: [a.yaml]",
            "over/a.yaml": SERVICE % "a",
            "part/kustomization.yaml": (
                "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\nnameSuffix: -s\n"
            ),
        },
    )
    (found,) = [resource for resource in rendered(tmp_path).resources if resource.ref.group_kind.kind == "Service"]
    assert found.ref.qualified_name == "ns/p-a-s"
    assert found.raw["spec"] == {"ports": [{"port": 80}]}


def test_choices_in_a_folder(tmp_path: Path) -> None:
    """Files are chosen by patterns, in which a star stands for slashes as well."""
    write(tmp_path, {f"apps/{name}.yaml": SERVICE % name.replace("/", "-") for name in ("a", "b", "deep/c", "deep/d")})
    directory = "{recurse: true, include: '{a.yaml,deep/*}', exclude: '*d.yaml'}"
    write(tmp_path, {"app.yaml": APPLICATION % f"{{path: apps, directory: {directory}}}"})
    assert _services(rendered(tmp_path)) == ["x/a", "x/deep-c"]
