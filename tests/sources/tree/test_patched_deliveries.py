"""Patches of deliveries: plain data are applied to them, and other patches leave what they deliver in doubt."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import pytest

from tests.sources.tree.build import doubts, flux, read, refs, service

if TYPE_CHECKING:
    from pathlib import Path

    from kubectl_policy.model import Json, Snapshot

Tree: TypeAlias = Callable[[str], dict[str, str]]

FLUX_KIND = "apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization"
LISTED = "resources: [app.yaml]\n"
APPLIED = {
    "apps/app.yaml": flux("app", "./app", "  targetNamespace: live\n"),
    "app/a.yaml": service("a"),
    "app/b.yaml": service("b", spec="{externalName: '${HOST}'}"),
}


def in_flux(patches: str) -> dict[str, str]:
    """A tree in which a Kustomization of Flux patches another one."""
    indented = "".join(f"  {line}\n" for line in patches.splitlines())
    return {**APPLIED, "cluster/flux.yaml": flux("all", "./apps", indented), "apps/kustomization.yaml": LISTED}


def in_folder(patches: str) -> dict[str, str]:
    """A tree in which the kustomization.yaml around a Kustomization of Flux patches it."""
    return {**APPLIED, "cluster/flux.yaml": flux("all", "./apps"), "apps/kustomization.yaml": LISTED + patches}


TREES = [pytest.param(in_flux, id="by Flux"), pytest.param(in_folder, id="in the folder")]


def hosts(snapshot: Snapshot) -> list[Json]:
    """The `externalName` of the Services that have one."""
    specs = [resource.raw.get("spec") for resource in snapshot.resources]
    return [spec["externalName"] for spec in specs if isinstance(spec, dict) and "externalName" in spec]


def merge(fields: str, target: str = "{kind: Kustomization, name: app}") -> str:
    """A merge patch of a Kustomization of Flux."""
    patch = f"{{{FLUX_KIND}, metadata: {{name: any}}, {fields}}}"
    return f"patches:\n- target: {target}\n  patch: |\n    {patch}\n"


def operations(operations: str) -> str:
    """A JSON patch of all Kustomizations of Flux."""
    return f"patches:\n- target: {{kind: Kustomization}}\n  patch: '{operations}'\n"


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize(
    ("patch", "services", "host"),
    [
        (merge("spec: {interval: 1h, decryption: {provider: sops}}"), ["live/a", "live/b"], "${HOST}"),
        (merge("spec: {targetNamespace: new}"), ["new/a", "new/b"], "${HOST}"),
        (merge("spec: {targetNamespace: null}"), ["<unknown>/a", "<unknown>/b"], "${HOST}"),
        (merge("spec: {postBuild: {substitute: {HOST: h.example}}}"), ["live/a", "live/b"], "h.example"),
        (merge("spec: {namePrefix: p-}"), ["live/p-a", "live/p-b"], "${HOST}"),
        (
            merge("spec: {targetNamespace: new}", "{kind: Kustomization, name: 'another'}"),
            ["live/a", "live/b"],
            "${HOST}",
        ),
        (operations("[{op: add, path: /spec/wait, value: true}]"), ["live/a", "live/b"], "${HOST}"),
        (operations("[{op: replace, path: /spec/targetNamespace, value: new}]"), ["new/a", "new/b"], "${HOST}"),
        (operations("[{op: remove, path: /spec/targetNamespace}]"), ["<unknown>/a", "<unknown>/b"], "${HOST}"),
        (operations("[{op: add, path: /metadata/labels, value: {a: b}}]"), ["live/a", "live/b"], "${HOST}"),
    ],
)
def test_plain_data_are_applied(tmp_path: Path, tree: Tree, patch: str, services: list[str], host: str) -> None:
    """Merge patches, and JSON patches that set or remove single fields; nothing is in doubt then."""
    snapshot = read(tmp_path, tree(patch))
    assert (refs(snapshot), hosts(snapshot)) == (services, [host])
    assert doubts(snapshot, tmp_path) == []


@pytest.mark.parametrize("tree", TREES)
def test_a_patch_that_gives_patches(tmp_path: Path, tree: Tree) -> None:
    """What these mean is in doubt, and nothing else."""
    patches = "[{target: {kind: Service, name: a}, patch: '[]'}, {target: {kind: Job}, patch: '[]'}, 1]"
    snapshot = read(tmp_path, tree(merge(f"spec: {{patches: {patches}}}")))
    assert doubts(snapshot, tmp_path) == ["Service live/a: changed by apps/app.yaml"]


def test_values_that_a_patch_takes_from_a_secret(tmp_path: Path) -> None:
    """They are unknown: a variable stays as it is, and those that are known are filled in."""
    files = in_flux(merge("spec: {postBuild: {substitute: {NAME: b}, substituteFrom: [{kind: Secret, name: s}]}}"))
    files["app/b.yaml"] = service("${NAME}", spec="{externalName: 'app.${HOST}'}")
    snapshot = read(tmp_path, files)
    assert (refs(snapshot), hosts(snapshot)) == (["live/a", "live/b"], ["app.${HOST}"])


@pytest.mark.parametrize(
    ("operation", "services", "doubted"),
    [
        ("{op: add, path: /spec/patches/-, value: {target: {kind: Service}}}", ["live/a"], ["Service live/a"]),
        (
            "{op: test, path: /spec/targetNamespace, value: live}",
            ["<unknown>/a"],
            ["Service */*", "Service ?app/a"],
        ),
        (
            "{op: copy, from: /spec/path, path: /spec/targetNamespace}",
            ["<unknown>/a"],
            ["Service */*", "Service ?app/a"],
        ),
        ("{op: copy, from: /spec/path, path: /spec}", ["<unknown>/a"], ["Service */*", "Service ?app/a"]),
        ("{op: add, path: /spec/dependsOn/0, value: {name: b}}", ["live/a"], []),
    ],
)
def test_other_operations(tmp_path: Path, operation: str, services: list[str], doubted: list[str]) -> None:
    """All that is delivered is in doubt, unless the path says that it does not change; the namespace may be unknown."""
    files = {
        "apps/kustomization.yaml": LISTED + "patches: [{target: {kind: Kustomization}, path: p.yaml}]\n",
        "apps/p.yaml": f"- {operation}\n",
        "apps/app.yaml": APPLIED["apps/app.yaml"],
        "app/a.yaml": service("a"),
    }
    snapshot = read(tmp_path, files)
    assert refs(snapshot) == services
    reasons = dict(text.split(": ", 1) for text in doubts(snapshot, tmp_path) if text.startswith("Service"))
    assert sorted(reasons) == doubted
    assert all(reason.endswith("changed by apps/p.yaml") for reason in reasons.values())
    assert {gap.remedy for gap in snapshot.gaps} <= {"--render"}


def test_a_replacement(tmp_path: Path) -> None:
    """What it puts there is not known: neither is the namespace of what is delivered, if that is its target."""
    files = {
        **APPLIED,
        "apps/kustomization.yaml": (
            "resources: [app.yaml]\nreplacements:\n- source: {kind: Kustomization, fieldPath: metadata.namespace}\n"
            "  targets: [{select: {kind: Kustomization}, fieldPaths: [spec.targetNamespace]}]\n"
        ),
    }
    snapshot = read(tmp_path, files)
    assert refs(snapshot) == ["<unknown>/a", "<unknown>/b"]


def test_a_release(tmp_path: Path) -> None:
    """What it names after a patch is what its gap mentions, and where it deploys is where that is."""
    release = (
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web}\n"
        "spec: {chart: {spec: {chart: web, sourceRef: {kind: HelmRepository, name: x}}}, values: {host: old.example}}\n"
    )
    patch = "{kind: HelmRelease, metadata: {name: web}, spec: {targetNamespace: net, values: {host: new.example}}}"
    files = {
        "kustomization.yaml": f"namespace: apps\nresources: [r.yaml]\npatches:\n- patch: '{patch}'\n",
        "r.yaml": release,
    }
    snapshot = read(tmp_path, files)
    (gap,) = snapshot.gaps
    assert doubts(snapshot, tmp_path) == [
        "* net/*: HelmRelease apps/web (chart not here) may create objects in namespace net"
    ]
    assert "new.example" in (gap.mentions or ())
    assert "old.example" not in (gap.mentions or ())


def test_a_delivery_without_a_source(tmp_path: Path) -> None:
    """It delivers nothing that is here."""
    files = {
        "apps/kustomization.yaml": LISTED + operations("[{op: replace, path: /spec, value: {}}]"),
        "apps/app.yaml": APPLIED["apps/app.yaml"],
        "b.yaml": service("b"),
    }
    assert doubts(read(tmp_path, files), tmp_path) == [
        "* */*: Kustomization flux-system/app (its source not here) may create objects"
    ]
