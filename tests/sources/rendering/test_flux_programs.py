"""Repositories of Flux rendered by one program: what it is given, and what is read from what it prints and logs."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubectl_policy.model.fields import text_at
from kubectl_policy.sources.files.disk import RepositoriesOnDisk
from kubectl_policy.sources.programs.running import Programs
from kubectl_policy.sources.rendering.flux_programs import (
    FluxFailure,
    FluxOutput,
    FluxProgram,
    Maker,
    flux_job,
    flux_program,
    read_flux_output,
    repository_inputs,
)
from tests.sources.rendering.trees import program, write

flate = pytest.mark.skipif(not flux_program(), reason="flate is not installed")

# As flate 0.6.5 prints it.
OUT = """\
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  labels:
    kustomize.toolkit.fluxcd.io/name: shop
    kustomize.toolkit.fluxcd.io/namespace: flux-system
  name: shop
  namespace: net
spec:
  hostnames:
  - shop...PLACEHOLDER_DOMAIN..
---
apiVersion: v1
kind: Service
metadata:
  labels:
    helm.toolkit.fluxcd.io/name: echo
    helm.toolkit.fluxcd.io/namespace: net
  name: echo
  namespace: net
---
apiVersion: batch/v1
kind: Job
metadata:
  annotations:
    helm.sh/hook: pre-install
  name: hook
  namespace: net
"""
LOG = 'time=2026-11-28T18:10:17.006Z level=DEBUG msg="resource failed" id='
ERR = (
    'time=2026-11-28T18:10:16.844Z level=DEBUG msg="discovery: loaded objects" count=5 scan_root=/f source_root=/f\n'
    f"{LOG}Kustomization/flux-system/gone"
    ' reason="kustomization path is not a directory: ./apps/gone" file=clusters/prod/apps.yaml\n'
    f"{LOG}Kustomization/flux-system/after-gone"
    ' reason="dependencies failed: Kustomization/flux-system/gone: kustomization path is not a directory: ./apps/gone"'
    ' file="clusters/my prod/apps.yaml"\n'
    f"{LOG}HelmRelease/net/far"
    ' reason="chart source OCIRepository/net/far not ready: OCIRepository net/far resolve 1.0.0:'
    ' Head \\"https://ghcr.io/v2/x/manifests/1.0.0\\": proxyconnect tcp: dial tcp 127.0.0.1:9:'
    ' connect: connection refused"\n'
    "\n  ✗  HelmRelease  net/far  chart source OCIRepository/net/far not ready\n\n  ✗ 2 failed · 1 blocked\n"
)


def _objects(output: FluxOutput) -> dict[str, Maker | None]:
    """Who made each object."""
    raws = [(entry.printed.raw, entry.maker) for entry in output.objects]
    return {f"{text_at(raw, 'kind')} {text_at(raw, 'metadata.name')}": maker for raw, maker in raws}


class TestOutput:
    def test_objects_with_what_made_them(self) -> None:
        """A hook of Helm has no labels."""
        assert _objects(read_flux_output(OUT, "")) == {
            "HTTPRoute shop": Maker("Kustomization", "flux-system", "shop"),
            "Service echo": Maker("HelmRelease", "net", "echo"),
            "Job hook": None,
        }

    def test_an_encrypted_value_stays_unknown(self) -> None:
        (route, *_) = read_flux_output(OUT, "").objects
        assert route.printed.raw["spec"] == {"hostnames": ["shop.${DOMAIN}"]}

    def test_failures(self) -> None:
        """Each with its own reason, also of what waits for others; a file if it is known."""
        message = "kustomization path is not a directory: ./apps/gone"
        address = "https://ghcr.io/v2/x/manifests/1.0.0"
        assert read_flux_output("", ERR).failures == (
            FluxFailure(
                kind="HelmRelease",
                namespace="net",
                name="far",
                message="chart source OCIRepository/net/far not ready: OCIRepository net/far resolve 1.0.0: "
                f"{address} was not fetched",
                address=address,
            ),
            FluxFailure(
                kind="Kustomization",
                namespace="flux-system",
                name="after-gone",
                message=f"dependencies failed: Kustomization/flux-system/gone: {message}",
                file="clusters/my prod/apps.yaml",
            ),
            FluxFailure(
                kind="Kustomization",
                namespace="flux-system",
                name="gone",
                message=message,
                file="clusters/prod/apps.yaml",
            ),
        )
        assert read_flux_output("", ERR).complaint == ""

    @pytest.mark.parametrize(
        ("err", "complaint"),
        [
            ('flate error: --path "nowhere" does not exist\n', '--path "nowhere" does not exist'),
            ("\n  ✗  Kustomization  a/b  bad\n\n  ✗ 1 failed\n", "1 objects of Flux failed, and it is not said which"),
            ("  ✓ 5 passed\n", ""),
        ],
    )
    def test_a_failure_of_the_whole(self, err: str, complaint: str) -> None:
        """Also of a version that logs otherwise: then nothing can be told from what is missing."""
        assert read_flux_output("", err) == FluxOutput(complaint=complaint)

    def test_output_that_cannot_be_read(self) -> None:
        output = read_flux_output(f"{OUT}---\na: [\n", "")
        assert (len(output.objects), len(output.problems)) == (3, 1)


class TestInputs:
    def _written(self, tmp_path: Path, files: dict[str, str], *addresses: str) -> Path:
        """A copy of a repository, as a program sees it."""
        tree = RepositoriesOnDisk([str(write(tmp_path / "t", files))])
        top = tree.path_of(str(tmp_path / "t")) or ""
        repository_inputs(tree, top, addresses).write_all(tmp_path / "copy")
        return tmp_path / "copy" / top

    def test_files_that_git_ignores(self, tmp_path: Path) -> None:
        """They are left out; those that are only not to be read here are part of the repository."""
        files = {".git/HEAD": "x", ".gitignore": "node_modules/\n", ".kubectl-policyignore": "charts/\n"}
        more = {"node_modules/a": "", "charts/a": "", "a": ""}
        copy = self._written(tmp_path, {**files, **more})
        names = {str(path.relative_to(copy)) for path in copy.rglob("*") if path.is_file()}
        assert names == {".git/HEAD", ".git/config", ".gitignore", ".kubectl-policyignore", "charts/a", "a"}
        assert (copy / ".git/HEAD").read_text("utf-8") == "ref: refs/heads/main\n"

    def test_addresses_of_the_repository(self, tmp_path: Path) -> None:
        """Only what is an address is written where a program reads its configuration."""
        addresses = ("ssh://git@example.com/me/home", "example.com/me/other", 'a"\n[core]\n\tx = y')
        config = (self._written(tmp_path, {"a": ""}, *addresses) / ".git/config").read_text("utf-8")
        assert config == (
            '[core]\n\tbare = false\n[remote "r0"]\n\turl = ssh://git@example.com/me/home\n'
            '[remote "r1"]\n\turl = https://example.com/me/other\n'
        )


class TestJob:
    def _job_command(self, tmp_path: Path, *, network: bool = False) -> tuple[tuple[str, ...], str]:
        tree = RepositoriesOnDisk([str(tmp_path)])
        inputs = repository_inputs(tree, tree.path_of(str(write(tmp_path / "t", {"a": ""}))) or "")
        job = flux_job(FluxProgram(name="flate", path="/bin/flate"), inputs, "c", network=network)
        return job.command, job.context

    def test_no_network(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Nothing is fetched, and what was fetched before is taken from the cache of the program, if it has one."""
        monkeypatch.setenv("FLATE_CACHE_DIR", str(tmp_path / "cache"))
        command, context = self._job_command(tmp_path)
        assert "--restrict-egress" in command
        assert (f"--cache-dir={tmp_path}/cache" in command, context) == (False, "")
        write(tmp_path / "cache", {"blobs/sha256/a": ""})
        command, context = self._job_command(tmp_path)
        assert f"--cache-dir={tmp_path}/cache" in command
        assert context

    def test_with_network(self, tmp_path: Path) -> None:
        command, context = self._job_command(tmp_path, network=True)
        assert "--restrict-egress" not in command
        assert context == ""

    def test_what_is_fetched_later_counts(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A result is of no use when a chart is there that was missing; locks do not matter."""
        monkeypatch.setenv("FLATE_CACHE_DIR", str(tmp_path / "cache"))
        write(tmp_path / "cache", {"sources/example.com/a/chart": ""})
        _, before = self._job_command(tmp_path)
        write(tmp_path / "cache", {"sources/example.com/a.lock": "", "render/helm/aa/b": ""})
        assert self._job_command(tmp_path)[1] == before
        write(tmp_path / "cache", {"sources/example.com/b/chart": ""})
        assert self._job_command(tmp_path)[1] != before


FLUX = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: %s, namespace: flux-system}
spec:
  path: ./apps/%s
  prune: true
  interval: 1h
  sourceRef: {kind: GitRepository, name: %s}
---
"""
SOURCE = """\
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: home, namespace: flux-system}
spec: {interval: 1h, url: "https://example.com/me/home.git"}
"""
RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: echo, namespace: net}
spec:
  interval: 1h
  chart: {spec: {chart: ./charts/echo, sourceRef: {kind: GitRepository, name: home, namespace: flux-system}}}
---
apiVersion: v1
kind: Secret
metadata: {name: s, namespace: net}
stringData: {password: secret}
"""
TREE = {
    "clusters/prod/apps.yaml": FLUX % ("echo", "echo", "home") + FLUX % ("gone", "gone", "flux-system") + SOURCE,
    "apps/echo/release.yaml": RELEASE,
    "charts/echo/Chart.yaml": "apiVersion: v2\nname: echo\nversion: 1.0.0\n",
    "charts/echo/templates/s.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: '{{ .Release.Name }}'}\n",
}


def _rendered(tmp_path: Path, program: FluxProgram, tree_files: dict[str, str]) -> FluxOutput:
    tree = RepositoriesOnDisk([str(write(tmp_path / "t", tree_files))])
    top = tree.path_of(str(tmp_path / "t")) or ""
    inputs = repository_inputs(tree, top, ["example.com/me/home"])
    (tmp_path / "home").mkdir()
    ((_, output),) = Programs(tmp_path / "home").run([(0, flux_job(program, inputs, f"{top}/clusters/prod"))])
    assert output.complaint == ""
    assert "password" not in output.out
    return read_flux_output(output.out, output.err)


def test_a_program_that_renders_part_of_a_repository(tmp_path: Path) -> None:
    """It ends with 1, and its output counts."""
    write(tmp_path, {"out": OUT, "err": ERR})
    program(tmp_path, "flate", f"cat {tmp_path}/err >&2; cat {tmp_path}/out; cat apps.yaml >/dev/null; exit 1")
    output = _rendered(tmp_path, FluxProgram(name="flate", path=str(tmp_path / "flate")), TREE)
    assert (len(output.objects), len(output.failures)) == (3, 3)


@flate
def test_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The GitRepository is this repository, by its address; a folder that is not there is a failure of its own."""
    monkeypatch.setenv("FLATE_CACHE_DIR", str(tmp_path / "none"))
    installed = flux_program()
    assert installed
    output = _rendered(tmp_path, installed, TREE)
    echo = Maker("Kustomization", "flux-system", "echo")
    assert _objects(output) == {
        "HelmRelease echo": echo,
        "Secret s": echo,
        "Service echo": Maker("HelmRelease", "net", "echo"),
    }
    gone = FluxFailure(
        kind="Kustomization",
        namespace="flux-system",
        name="gone",
        message="kustomization path is not a directory: ./apps/gone",
        file="clusters/prod/apps.yaml",
    )
    assert output == FluxOutput(objects=output.objects, failures=(gone,))


@flate
def test_a_chart_that_is_not_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLATE_CACHE_DIR", str(tmp_path / "none"))
    installed = flux_program()
    assert installed
    far = (
        "apiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {name: far, namespace: net}\n"
        "spec: {interval: 1h, url: 'https://charts.example'}\n---\n"
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: far, namespace: net}\n"
        "spec: {interval: 1h, chart: {spec: {chart: far, version: 1.0.0,"
        " sourceRef: {kind: HelmRepository, name: far}}}}\n"
    )
    output = _rendered(tmp_path, installed, {"clusters/prod/a.yaml": FLUX % ("a", "a", "r"), "apps/a/far.yaml": far})
    failures = {(failure.kind, failure.name): failure.address for failure in output.failures}
    assert failures["HelmRelease", "far"] == "https://charts.example/index.yaml"


@pytest.mark.parametrize("names", [["flate"], []])
def test_the_program_that_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: list[str]) -> None:
    for name in names:
        program(tmp_path, name, "")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert flux_program() == (FluxProgram(name="flate", path=f"{tmp_path}/flate") if names else None)
