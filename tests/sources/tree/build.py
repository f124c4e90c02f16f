"""Trees of files for tests: written in a few words, read, and shown in a few."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model.snapshot import UNLISTED
from kubectl_policy.sources import InputOptions, load_manifests
from kubectl_policy.sources.manifests import load_worlds
from tests.sources.rendering.trees import write

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from kubectl_policy.model import Snapshot
    from kubectl_policy.sources.options import Render

FLUX = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: %s, namespace: flux-system}\n"
ARGO = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: %s, namespace: argocd}\n"


def service(name: str, namespace: str = "", spec: str = "{ports: [{port: 80}]}") -> str:
    """A Service, with a namespace of its own if one is given."""
    inside = f", namespace: {namespace}" if namespace else ""
    return f"apiVersion: v1\nkind: Service\nmetadata: {{name: {name}{inside}}}\nspec: {spec}\n"


def flux(name: str, path: str, more: str = "") -> str:
    """A Kustomization of Flux."""
    return FLUX % name + f"spec:\n  path: {path}\n  sourceRef: {{kind: GitRepository, name: here}}\n{more}---\n"


def argo(name: str, path: str, namespace: str = "", more: str = "") -> str:
    """An Application of Argo CD."""
    source = f"source: {{repoURL: 'https://x.example/y.git', path: {path}{more}}}"
    return ARGO % name + f"spec:\n  {source}\n  destination: {{namespace: '{namespace}', name: in-cluster}}\n---\n"


# Two overlays of a base, one of which has more; and a file that nothing lists.
BASE = {
    "base/kustomization.yaml": "resources: [a.yaml, b.yaml]",
    "base/a.yaml": service("a"),
    "base/b.yaml": service("b"),
}
PATCH = (
    """patches: [{patch: '[{"op": "add", "path": "/spec/x", "value": "%s"}]', target: {kind: Service, name: a}}]\n"""
)
OVERLAYS = {
    **BASE,
    "overlays/dev/kustomization.yaml": "namespace: net\nresources: [../../base]\n" + PATCH % "dev",
    "overlays/prod/kustomization.yaml": "namespace: net\nresources: [../../base, c.yaml]\n" + PATCH % "prod",
    "overlays/prod/c.yaml": service("c"),
    "overlays/prod/unlisted.yaml": service("u", "net"),
    "spare.yaml": service("s", "net"),
}


def read(folder: Path, files: Mapping[str, str], *named: str, options: InputOptions | None = None) -> Snapshot:
    """The snapshot of files in a folder, or of what is named in it."""
    write(folder, files)
    return load_manifests([folder / each for each in named or ("",)], options=options or InputOptions())


def worlds_in(
    folder: Path, files: Mapping[str, str], *named: str, render: Render = False, cluster: str = ""
) -> dict[str, Snapshot]:
    """The worlds in a folder with files, or in what is named there, by their names."""
    write(folder, files)
    options = InputOptions(render=render, cluster=cluster)
    return dict(load_worlds([folder / each for each in named or ("",)], options=options))


def refs_in(worlds: Mapping[str, Snapshot]) -> dict[str, list[str]]:
    """The Services of each world, by their full names."""
    return {name: refs(snapshot) for name, snapshot in worlds.items()}


def refs(snapshot: Snapshot, kind: str = "Service") -> list[str]:
    """The objects of a kind, by their full names."""
    return sorted(resource.ref.qualified_name for resource in snapshot.resources if resource.ref.kind == kind)


def doubts(snapshot: Snapshot, folder: Path) -> list[str]:
    """The gaps: what they cover, and why; paths are within the folder."""
    found = [f"{gap.kind or '*'} {gap.namespace or '*'}/{gap.name or '*'}: {gap.reason}" for gap in snapshot.gaps]
    return sorted(text.replace(f"{folder}/", "").replace(str(folder), ".") for text in found)


def unlisted(snapshot: Snapshot, folder: Path) -> list[str]:
    """The files that nothing applies, within the folder."""
    sources = [left_out.origin.source for left_out in snapshot.left_out if left_out.subject == UNLISTED]
    return [source.removeprefix(f"{folder}/") for source in sources]
