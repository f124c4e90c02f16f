"""Where objects are written that were rendered before they were read."""

import io
import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from kubectl_policy.model import FieldPath, Origin, Snapshot
from kubectl_policy.sources import InputOptions, Lines, load_manifests, load_state, rendered_origins
from kubectl_policy.sources.manifests import load_worlds
from tests.repository import alone
from tests.sources.rendering.trees import kubectl, write

SERVICE = "apiVersion: v1\nkind: Service\nmetadata:\n  name: %s\nspec:\n  clusterIP: None\n"
TEMPLATE = """\
{{- if .Values.enabled }}
apiVersion: v1
kind: Service
metadata:
  labels: {app.kubernetes.io/name: shop}
  name: {{ .Release.Name }}-web
spec:
  type: {{ .Values.type }}
---
# The administrator's.
apiVersion: v1
kind: Service
metadata: {name: {{ .Release.Name }}-admin}
{{- end }}
"""
CHART = {"Chart.yaml": "apiVersion: v2\nname: shop\nversion: 1.0.0\n", "templates/web.yaml": TEMPLATE}
ORIGIN = "config.kubernetes.io/origin"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is said is looked up below the current directory."""
    monkeypatch.chdir(tmp_path)


def _helm(path: str, *names: str) -> str:
    """What `helm template` prints of one template."""
    return "".join(f"---\n# Source: {path}\n{SERVICE % name}" for name in names)


def _annotated(name: str, value: str, service: str = "web") -> str:
    said = f"{name}: {json.dumps(value)}"
    return f"apiVersion: v1\nkind: Service\nmetadata:\n  name: {service}\n  annotations:\n    {said}\n"


def _read(text: str, *path_map: tuple[str, str], asked: bool = True, lines: Lines | None = None) -> Snapshot:
    options = InputOptions(map_origins=asked, path_map=path_map)
    return load_manifests("-", stdin=io.StringIO(text), options=options, lines=lines)


def _origins(snapshot: Snapshot) -> dict[str, str]:
    return {resource.ref.name: str(resource.origin) for resource in snapshot.resources}


KUSTOMIZED: Mapping[str, str] = {
    "base/kustomization.yaml": "resources: [web.yaml]\nnamePrefix: p-\n",
    "base/web.yaml": "# Mine.\n" + SERVICE % "other" + "---\n" + SERVICE % "web",
    "dev/kustomization.yaml": "resources: [../base]\nbuildMetadata: [originAnnotations]\n",
    "prod/kustomization.yaml": "resources: [../base, own.yaml]\n",
    "prod/own.yaml": SERVICE % "own",
    "test/own.yaml": SERVICE % "own",
    "test/kustomization.yaml": "resources: [own.yaml]\n",
}
WEB = "shop/templates/web.yaml"
TWO_CHARTS = {f"{chart}/{path}": text for chart in ("one", "two") for path, text in CHART.items()}
GENERATED = "configuredIn: kustomization.yaml\nconfiguredBy:\n  kind: ConfigMapGenerator\n"


@pytest.mark.parametrize(
    ("files", "text", "origin_of"),
    [
        # A chart that is not here: the path is kept, as a CI may know it.
        ({}, _helm(WEB, "a"), {"a": f"{WEB}:1"}),
        # Of two charts of one name, nobody knows which one it is, unless only one has the template.
        (
            {**TWO_CHARTS, "one/templates/more.yaml": TEMPLATE},
            _helm(WEB, "a-web") + _helm("shop/templates/more.yaml", "b-web"),
            {"a-web": f"{WEB}:1", "b-web": "one/templates/more.yaml:2"},
        ),
        # A chart in a chart is called by the outer one.
        (
            {**CHART, "charts/db/Chart.yaml": "name: db\n", "charts/db/templates/a.yaml": TEMPLATE},
            _helm("shop/charts/db/templates/a.yaml", "r-web"),
            {"r-web": "charts/db/templates/a.yaml:2"},
        ),
        # The next document has its own template, or none; lines may end as on Windows.
        (
            CHART,
            f"{_helm(WEB, 'r-web')}--- # more\n{SERVICE % 'plain'}".replace("\n", "\r\n"),
            {"r-web": "templates/web.yaml:2", "plain": "<stdin>:10"},
        ),
        # Where every folder that may have been built leads to one file, it is that.
        (KUSTOMIZED, _annotated(ORIGIN, "path: ../base/web.yaml\n", "p-web"), {"p-web": "base/web.yaml:9"}),
        # Of several files nobody knows which one it is; one that is there from here is taken.
        (KUSTOMIZED, _annotated(ORIGIN, "path: own.yaml\n", "own"), {"own": "own.yaml:1"}),
        (
            {**KUSTOMIZED, "own.yaml": "\n" + SERVICE % "own"},
            _annotated(ORIGIN, "path: own.yaml\n", "own"),
            {"own": "own.yaml:2"},
        ),
        (
            {"only/kustomization.yaml": "configMapGenerator: [{name: a}]"},
            _annotated(ORIGIN, GENERATED, "a"),
            {"a": "only/kustomization.yaml:1"},
        ),
    ],
)
def test_what_notes_say(tmp_path: Path, files: Mapping[str, str], text: str, origin_of: dict[str, str]) -> None:
    """`# Source: CHART/PATH` by Helm; `buildMetadata: [originAnnotations]`, from the folder that was built."""
    write(tmp_path, files)
    assert _origins(_read(text)) == origin_of


class TestNothingSaid:
    def test_where_nobody_asks(self, tmp_path: Path) -> None:
        write(tmp_path, CHART)
        text = (
            _helm("shop/templates/web.yaml", "a-web") + "---\n" + _annotated("policy.kubectl.dev/source", "x.yaml", "b")
        )
        assert _origins(_read(text, asked=False)) == {"a-web": "<stdin>:3", "b": "<stdin>:10"}

    @pytest.mark.parametrize(
        "text",
        [
            "# Source: https://example.com/templates/web.yaml\n" + SERVICE % "web",
            "# Source: web.yaml, by hand\n" + SERVICE % "web",
            _helm("shop/templates/web.yaml") + "---\n" + SERVICE % "web",
            _annotated("policy.kubectl.dev/source", ""),
            _annotated("policy.kubectl.dev/source", "."),
            _annotated("policy.kubectl.dev/source", "../.."),
            _annotated("policy.kubectl.dev/source", "/"),
            _annotated("policy.kubectl.dev/source", "a\x1b[2Jb.yaml"),
            _annotated("policy.kubectl.dev/source", "a" * 2000),
            _annotated("internal.config.kubernetes.io/path", "\n"),
            _annotated(ORIGIN, "path: a.yaml\nrepo: https://example.com/r"),
            _annotated(ORIGIN, "ref: v1"),
            "apiVersion: v1\nkind: Service\nmetadata: {name: web, annotations: {policy.kubectl.dev/source: [a]}}",
            "apiVersion: v1\nkind: Service\nmetadata: {name: web, annotations: policy.kubectl.dev/source}",
        ],
    )
    def test_or_nothing_that_counts(self, tmp_path: Path, text: str) -> None:
        """Comments of people, what is no path, what is in another repository."""
        write(tmp_path, {"a.yaml": SERVICE % "web", "web.yaml": SERVICE % "web"})
        (resource,) = _read(text).resources
        assert resource.origin.source == "<stdin>"


class TestStrangers:
    @pytest.mark.parametrize(
        ("path", "shown"),
        [
            ("../../secret.yaml", "secret.yaml:1"),
            ("a/../../secret.yaml", "secret.yaml:1"),
            ("link.yaml", "link.yaml:1"),
            ("folder/secret.yaml", "folder/secret.yaml:1"),
            ("pipe.yaml", "pipe.yaml:1"),
            ("sub", "sub:1"),
            ("HEAD:secret.yaml", "HEAD:secret.yaml:1"),
            ("a\0b.yaml", "<stdin>:1"),
        ],
    )
    def test_are_not_followed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, shown: str) -> None:
        """Neither now nor when a line is looked for; what is shown leads nowhere else."""
        (tmp_path / "secret.yaml").write_text("\n\n\n" + SERVICE % "web")
        here = tmp_path / "here"
        (here / "sub").mkdir(parents=True)
        (here / "link.yaml").symlink_to(tmp_path / "secret.yaml")
        (here / "folder").symlink_to(tmp_path)
        os.mkfifo(here / "pipe.yaml")
        monkeypatch.chdir(here)
        lines = Lines()
        (resource,) = _read(_annotated("policy.kubectl.dev/source", path), lines=lines).resources
        assert str(resource.origin) == shown
        if resource.origin.source != "<stdin>":
            assert lines.locate(resource.origin, FieldPath.parse("metadata.name")) is None

    def test_absolute_ones(self, tmp_path: Path) -> None:
        (tmp_path / "web.yaml").write_text(SERVICE % "web")
        (resource,) = _read(_annotated("policy.kubectl.dev/source", f"{tmp_path}/web.yaml")).resources
        assert str(resource.origin) == f"{str(tmp_path)[1:]}/web.yaml:1"

    def test_what_cannot_be_read(self, tmp_path: Path) -> None:
        (tmp_path / "a.yaml").write_bytes(b"\xff\xfe\xff")
        (tmp_path / "b.yaml").write_text("a: [\n")
        for name in "ab":
            (resource,) = _read(_annotated("policy.kubectl.dev/source", f"{name}.yaml")).resources
            assert str(resource.origin) == f"{name}.yaml:1"


class TestHelm:
    """`# Source: CHART/PATH` in front of each document, where the chart is called by its name."""

    @pytest.mark.parametrize("folder", ["", "shop", "charts/other"])
    def test_a_chart(self, tmp_path: Path, folder: str) -> None:
        """Wherever it is; its templates tell objects of one kind apart by what they write of the names."""
        write(tmp_path / folder, CHART)
        start = f"{folder}/" if folder else ""
        origin_of = _origins(_read(_helm("shop/templates/web.yaml", "r-admin", "r-web", "else")))
        assert origin_of == {
            "r-admin": f"{start}templates/web.yaml:11",
            "r-web": f"{start}templates/web.yaml:2",
            "else": f"{start}templates/web.yaml:1",
        }

    def test_many(self, tmp_path: Path) -> None:
        write(tmp_path, CHART)
        text = _helm("shop/templates/web.yaml", *(f"n{number}-web" for number in range(400)))
        origin_of = _origins(_read(text))
        assert len(origin_of) == 400
        assert set(origin_of.values()) == {"templates/web.yaml:2"}


class TestKustomize:
    """`buildMetadata: [originAnnotations]`, where paths start in the folder that was built."""

    def test_of_too_many(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(rendered_origins, "_MAX_FOLDERS", 0)
        monkeypatch.setattr(rendered_origins, "_MAX_ENTRIES", 9)
        write(tmp_path, KUSTOMIZED)
        text = "---\n".join(_annotated(ORIGIN, f"path: ../base/{name}.yaml", name) for name in ("a", "web", "b"))
        origin_of = _origins(_read(text))
        assert {name: origin.rpartition(":")[0] for name, origin in origin_of.items()} == {
            name: f"base/{name}.yaml" for name in ("a", "web", "b")
        }

    @kubectl
    def test_as_kustomize_says_it(self, tmp_path: Path) -> None:
        write(tmp_path, KUSTOMIZED)
        built = subprocess.run(["kubectl", "kustomize", "dev"], capture_output=True, check=True, text=True)  # noqa: S607 (whichever there is)
        assert _origins(_read(built.stdout)) == {"p-other": "base/web.yaml:2", "p-web": "base/web.yaml:9"}


class TestOthers:
    def test_paths(self, tmp_path: Path) -> None:
        """Are from here; with a line, that is it. What people say themselves counts before all else."""
        write(tmp_path, {"a/web.yaml": SERVICE % "x" + "---\n" + SERVICE % "web"})
        for name in ("internal.config.kubernetes.io/path", "config.kubernetes.io/path", "policy.kubectl.dev/source"):
            assert _origins(_read(_annotated(name, "./a/web.yaml"))) == {"web": "a/web.yaml:8"}
        assert _origins(_read(_annotated("policy.kubectl.dev/source", "src/app.ts:17"))) == {"web": "src/app.ts:17"}
        own = _annotated("policy.kubectl.dev/source", "mine.py")
        text = f"---\n# Source: shop/templates/web.yaml\n{own}    config.kubernetes.io/path: theirs.yaml\n"
        assert _origins(_read(text)) == {"web": "mine.py:1"}

    def test_a_list(self) -> None:
        said = {"a": {"policy.kubectl.dev/source": "a.py"}, "b": {"policy.kubectl.dev/source": "b.py"}, "c": {}}
        items = [
            {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "annotations": annotations}}
            for name, annotations in said.items()
        ]
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
        assert _origins(_read(text)) == {"a": "a.py:1", "b": "b.py:1", "c": "<stdin>:1"}


class TestProblems:
    def test_in_what_helm_made(self, tmp_path: Path) -> None:
        """A document that cannot be read, a key that is given twice, an object that is there twice."""
        write(tmp_path, CHART)
        text = (
            f"---\n# Source: shop/templates/web.yaml\n{SERVICE % 'r-web'}  clusterIP: None\n"
            "---\n# Source: shop/templates/broken.yaml\napiVersion: v1\nkind: [\n"
            + _helm("shop/templates/again.yaml", "r-web")
        )
        snapshot = _read(text)
        assert {(diagnostic.rule, str(diagnostic.origin)) for diagnostic in snapshot.diagnostics} == {
            ("repeated-key", "templates/web.yaml:2"),
            ("syntax-error", "shop/templates/broken.yaml:1"),
            ("duplicate-object", "shop/templates/again.yaml:1"),
        }
        assert [str(gap.origin) for gap in snapshot.gaps] == ["shop/templates/broken.yaml:1"]

    def test_beside_what_says_something(self) -> None:
        """A document that cannot be read says nothing, and is where it was read."""
        text = _annotated("policy.kubectl.dev/source", "mine.py") + "---\nkind: [\napiVersion: v1\n"
        (said,) = _read(text).diagnostics
        assert (said.rule, said.origin and said.origin.source) == ("syntax-error", "<stdin>")


class TestPathMap:
    def test_what_is_said(self, tmp_path: Path) -> None:
        """Gets another beginning before anything is looked up; the first one that fits counts."""
        write(tmp_path / "deploy", CHART)
        text = _helm("shop/templates/web.yaml", "r-web") + "---\n" + _annotated(ORIGIN, "path: ../x/a.yaml", "a")
        origin_of = _origins(_read(text, ("shop/", "deploy/"), ("../", "apps/"), ("shop/", "none/")))
        assert origin_of == {"r-web": "deploy/templates/web.yaml:2", "a": "apps/x/a.yaml:1"}

    def test_what_was_read(self, tmp_path: Path) -> None:
        """Also where nobody asks for anything else; the lines are those of the other file, if it is there."""
        rendered = {
            "out/a.yaml": "# Made.\n" + SERVICE % "a",
            "out/b.yaml": SERVICE % "b" + "---\nkind: [\napiVersion: v1",
        }
        write(tmp_path, {**rendered, "src/a.yaml": "\n\n" + SERVICE % "a", "c.yaml": SERVICE % "c"})
        lines = Lines()
        options = InputOptions(path_map=(("out/", "src/"),))
        snapshot = load_manifests(["out", "./c.yaml"], options=options, lines=lines)
        assert _origins(snapshot) == {"a": "src/a.yaml:3", "b": "src/b.yaml:1", "c": "./c.yaml:1"}
        assert [str(diagnostic.origin) for diagnostic in snapshot.diagnostics] == ["src/b.yaml:1"]
        assert lines.locate(Origin("src/a.yaml", 3), FieldPath.parse("spec.clusterIP")) == 8
        assert lines.locate(Origin("src/b.yaml", 1), FieldPath.parse("spec.clusterIP")) is None

    def test_what_leads_out(self, tmp_path: Path) -> None:
        (tmp_path.parent / "web.yaml").write_text(SERVICE % "web")
        origin_of = _origins(_read(_helm("shop/templates/web.yaml", "web"), ("shop/templates/", "../")))
        assert origin_of == {"web": "web.yaml:1"}


class TestLines:
    """The lines of fields, where an object is elsewhere than where it was read."""

    def test_in_manifests(self, tmp_path: Path) -> None:
        """Those in the file that it comes from; a value that was patched is not written there."""
        write(tmp_path, {"web.yaml": "# Mine.\n" + SERVICE % "web"})
        lines = Lines()
        text = _annotated("policy.kubectl.dev/source", "web.yaml") + "spec: {clusterIP: None, type: ClusterIP}\n"
        (resource,) = _read(text, lines=lines).resources
        assert lines.locate(resource.origin, FieldPath.parse("spec.clusterIP")) == 7
        assert lines.locate(resource.origin, FieldPath.parse("spec.clusterIP"), "1.2.3.4") is None
        assert lines.locate(resource.origin, FieldPath.parse("spec.type")) is None

    def test_in_a_template(self, tmp_path: Path) -> None:
        """It is YAML but for what is filled in, which may be fields; the line of the object does for these."""
        write(tmp_path, CHART)
        lines = Lines()
        (resource,) = _read(_helm("shop/templates/web.yaml", "r-web"), lines=lines).resources
        fields = ("kind", "metadata.labels", "metadata.name", "spec.type", "spec.clusterIP")
        assert [lines.locate(resource.origin, FieldPath.parse(field)) for field in fields] == [3, 5, 6, 8, None]


class TestFolders:
    def test_on_disk(self, tmp_path: Path) -> None:
        files = {"out/a.yaml": _helm("shop/templates/web.yaml", "r-web"), "out/b.yaml": SERVICE % "b"}
        write(tmp_path, {**files, **{f"charts/shop/{name}": text for name, text in CHART.items()}})
        (world,) = load_worlds("out", options=InputOptions(map_origins=True)).values()
        assert _origins(world) == {"r-web": "charts/shop/templates/web.yaml:2", "b": "out/b.yaml:1"}

    def test_in_a_revision(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Everything is in that revision, also what it comes from; paths are from the current directory."""
        repository = alone(tmp_path, monkeypatch)
        for name, text in CHART.items():
            repository.write(f"sub/charts/shop/{name}", text)
        repository.write("sub/out/a.yaml", _helm("shop/templates/web.yaml", "r-web", "r-admin"))
        repository.write("sub/out/b.yaml", _annotated("policy.kubectl.dev/source", "none.py:3", "b"))
        repository.commit()
        for name in CHART:
            (repository.folder / "sub/charts/shop" / name).unlink()
        monkeypatch.chdir(repository.folder / "sub")
        snapshot = load_state("HEAD:./out", options=InputOptions(map_origins=True, path_map=(("out/", "x/"),)))
        assert _origins(snapshot) == {
            "r-web": "HEAD:sub/charts/shop/templates/web.yaml:2",
            "r-admin": "HEAD:sub/charts/shop/templates/web.yaml:11",
            "b": "HEAD:sub/none.py:3",
        }
