"""What `kubectl kustomize` makes of a repository, with what Flux and Argo CD do around it retold in a few lines."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING, Any, Final, cast

import yaml

from kubectl_policy.model.kinds import BUILT_IN
from kubectl_policy.model.refs import GroupKind
from tests import fast_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from tests.property.trees import Object, Tree

_CLUSTER_SCOPED: Final = {names.group_kind for names in BUILT_IN if not names.namespaced}
_VARIABLE: Final = re.compile(r"\$\{VALUE(?::=([^}]*))?\}")


def rendered(tree: Tree, folder: Path, cluster: str, kubectl: str) -> list[Object]:
    """The objects that a cluster gets from the files of a tree, which lie in a folder and are changed there."""
    every = [one for path in folder.rglob("*.yaml") for one in _documents(path)]
    documents = [cast("Object", one) for one in every if isinstance(one, dict)]
    if tree.tool == "argo":
        applications = [one["spec"] for one in documents if one.get("kind") == "Application"]
        return [
            _named(one, spec["destination"]["namespace"])
            for spec in applications
            for one in _built(folder / spec["source"]["path"], kubectl)
        ]
    if tree.tool == "kustomize":
        tops = (
            sorted(_tops(folder))
            if (folder / "shared" / "kustomization.yaml").exists()
            else [*_tops(folder), folder / "shared"]
        )
        return [one for top in tops for one in _built(top, kubectl)]
    found: list[Object] = []
    for one in list(_documents(folder / "clusters" / cluster / "apps.yaml")):
        path = folder / one["spec"]["path"]
        if path.is_relative_to(folder / "clusters"):
            continue
        found += _by_flux(path, one["spec"], folder / "clusters" / cluster, kubectl)
    return found


def _documents(path: Path) -> Iterator[Any]:
    try:
        yield from fast_yaml.load_all(path.read_text("utf-8"))
    except yaml.YAMLError:
        return


def _tops(folder: Path) -> Iterator[Path]:
    """The kustomizations that no other one takes in."""
    all_of_them = {path.parent.resolve(): next(_documents(path)) for path in folder.rglob("kustomization.yaml")}
    taken = {
        (place / path).resolve()
        for place, kustomization in all_of_them.items()
        for path in [*kustomization.get("resources", ()), *kustomization.get("components", ())]
    }
    yield from (place for place, one in all_of_them.items() if place not in taken and one["kind"] == "Kustomization")


def _built(folder: Path, kubectl: str) -> list[Object]:
    if not (folder / "kustomization.yaml").exists():
        return [one for path in sorted(folder.rglob("*.yaml")) for one in _documents(path)]
    return list(fast_yaml.load_all(_build(folder, kubectl)))


def _build(folder: Path, kubectl: str) -> str:
    done = subprocess.run([kubectl, "kustomize", str(folder)], capture_output=True, check=False, text=True)  # noqa: S603 (our own files)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _by_flux(path: Path, spec: Mapping[str, Any], cluster: Path, kubectl: str) -> list[Object]:
    place = path / "kustomization.yaml"
    if place.exists():
        kustomization = next(_documents(place))
    else:
        kustomization = {"resources": sorted(file.name for file in path.glob("*.yaml"))}
    before = place.read_text("utf-8") if place.exists() else None
    if "targetNamespace" in spec:
        kustomization["namespace"] = spec["targetNamespace"]
    place.write_text(yaml.safe_dump(kustomization), "utf-8")
    text = _build(path, kubectl)
    place.unlink() if before is None else place.write_text(before, "utf-8")
    values = dict(spec.get("postBuild", {}).get("substitute", {}))
    for source in spec.get("postBuild", {}).get("substituteFrom", ()):
        (settings,) = _documents(cluster / f"{source['name']}.yaml")
        values |= settings["data"]
    return list(fast_yaml.load_all(_VARIABLE.sub(lambda found: str(values.get("VALUE", found[1] or "")), text)))


def _named(one: Object, namespace: str) -> Object:
    group_kind = GroupKind(one["apiVersion"].rpartition("/")[0], one["kind"])
    if group_kind not in _CLUSTER_SCOPED:
        one["metadata"].setdefault("namespace", namespace)
    return one
