"""Trees of files for tests: written in a few words, read, and shown in a few."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.sources import InputOptions, load_manifests

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from kubectl_policy.model import Snapshot

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


def read(folder: Path, files: Mapping[str, str], *named: str, options: InputOptions | None = None) -> Snapshot:
    """The snapshot of files in a folder, or of what is named in it."""
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
    return load_manifests([folder / each for each in named or ("",)], options=options or InputOptions())


def refs(snapshot: Snapshot, kind: str = "Service") -> list[str]:
    """The objects of a kind, by their full names."""
    return sorted(each.ref.qualified_name for each in snapshot.resources if each.ref.kind == kind)


def doubts(snapshot: Snapshot, folder: Path) -> list[str]:
    """The gaps: what they cover, and why; paths are within the folder."""
    found = [f"{gap.kind or '*'} {gap.namespace or '*'}/{gap.name or '*'}: {gap.reason}" for gap in snapshot.gaps]
    return sorted(text.replace(f"{folder}/", "").replace(str(folder), ".") for text in found)
