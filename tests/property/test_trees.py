"""Laws of generated repositories: programs render the world that is hidden in them, and certain answers are true."""

from __future__ import annotations

import copy
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, cast

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from kubectl_policy import InputOptions, analyze, load_manifests
from kubectl_policy.model import GroupKind, ObjectRef, Origin, Resource, Snapshot
from kubectl_policy.model.fields import time_at
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.model.kinds import BUILT_IN
from tests import fast_yaml
from tests.certainty import lies
from tests.property.examples import examples
from tests.property.hiding import Hiding, Object, Tool, Tree
from tests.property.strategies import worlds
from tests.property.world import POLICIES, profiles_of, snapshot_of
from tests.sources.tree.build import flux

TOOLS: Final[tuple[Tool, ...]] = ("kustomize", "flux", "flux", "argo")
# The kinds of what is hidden; all of a group if none is named.
_OURS: Final[Mapping[str, tuple[str, ...]]] = {"": ("Service", "Namespace"), GATEWAY_API: (), POLICIES: ()}


@st.composite
def trees(draw: st.DrawFn, tool: Tool | None = None) -> Tree:
    """A small world of one or two namespaces, hidden in a tree for one of the tools."""
    world = draw(worlds())
    objects = [copy.deepcopy(dict(resource.raw)) for resource in snapshot_of(world).resources]
    for obj in objects:
        _enrich(draw, obj)
    chosen: Tool = draw(st.sampled_from(TOOLS)) if tool is None else tool
    return Hiding(draw, chosen).hide(objects, profiles_of(world))


def _enrich(draw: st.DrawFn, one: Object) -> None:
    """Hostnames and selectors of namespaces; references within a namespace need not name it."""
    spec, metadata = one.get("spec", {}), one["metadata"]
    if one["kind"] == "Namespace" and draw(st.booleans()):
        metadata["labels"]["exposed"] = "public"
    if one["kind"] == "HTTPRoute":
        spec["hostnames"] = draw(st.sampled_from((["a.example.com"], ["a.example.com", "b.example.org"], [])))
    for listener in spec.get("listeners", ()):
        hostname = draw(st.sampled_from(("", "", "*.example.com", "b.example.org")))
        if hostname:
            listener["hostname"] = hostname
        if draw(st.sampled_from((False, False, True))):
            listener["allowedRoutes"] = {
                "namespaces": {"from": "Selector", "selector": {"matchLabels": {"exposed": "public"}}}
            }
    short = draw(st.booleans())
    for reference in _references(spec):
        if short and reference.get("namespace") == metadata.get("namespace"):
            reference.pop("namespace", None)


def _references(spec: Object) -> Iterator[Object]:
    yield from spec.get("parentRefs", ())
    yield from spec.get("targetRefs", ())
    for rule in spec.get("rules", ()):
        yield from rule["backendRefs"]


def write(tree: Tree, folder: Path) -> None:
    """Write the files of a tree into a folder."""
    for path, text in tree.files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")


def as_applied(objects: tuple[Object, ...]) -> Snapshot:
    """Return the snapshot of a cluster; no more is known than of manifests that have been rendered."""
    found = [
        Resource(
            ref=reference_to(raw),
            origin=Origin("truth", 1),
            raw=raw,
            created=time_at(raw, "metadata.creationTimestamp"),
        )
        for raw in objects
    ]
    return Snapshot(resources=tuple(found))


def reference_to(raw: Object) -> ObjectRef:
    """The name of an object that is as it was applied."""
    group = raw["apiVersion"].rpartition("/")[0]
    metadata = raw["metadata"]
    return ObjectRef(GroupKind(group, raw["kind"]), metadata.get("namespace", ""), metadata["name"])


def is_asked_about(ref: ObjectRef) -> bool:
    """Whether it is a kind of which the truth knows; not the ones that make others."""
    return ref.kind in (_OURS.get(ref.group_kind.group, ("",)) or (ref.kind,))


_CLUSTER_SCOPED: Final = {names.group_kind for names in BUILT_IN if not names.namespaced}
_VARIABLE: Final = re.compile(r"\$\{VALUE(?::=([^}]*))?\}")


def rendered(tree: Tree, folder: Path, cluster: str, kubectl: str) -> list[Object]:
    """The objects that a cluster gets from the files of a tree, which lie in a folder and are changed there."""
    every = [one for path in folder.rglob("*.yaml") for one in _documents(path)]
    documents = [cast("Object", one) for one in every if isinstance(one, dict)]
    if tree.tool == "argo":
        applications = [document["spec"] for document in documents if document.get("kind") == "Application"]
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


@settings(max_examples=examples(10))
@given(tree=trees())
def test_the_trees_are_what_they_claim_to_be(tree: Tree) -> None:
    """What the real programs make of a tree is the world that was hidden in it, but for Services that others make."""
    kubectl = shutil.which("kubectl") or pytest.skip("kubectl is not installed")
    for cluster, objects in tree.truths.items():
        if any("ENC[" in text for text in tree.files.values()):
            continue
        with tempfile.TemporaryDirectory() as name:
            write(tree, Path(name))
            found = {reference_to(one): one for one in rendered(tree, Path(name), cluster, kubectl)}
        truth = {reference_to(obj): obj for obj in objects}
        assert [str(ref) for ref in truth.keys() - found.keys() if ref.kind != "Service"] == []
        different = [(one, truth.get(ref)) for ref, one in found.items() if is_asked_about(ref)]
        assert [pair for pair in different if pair[0] != pair[1]] == []


@settings(max_examples=examples(12))
@given(tree=trees())
def test_what_is_certain_is_true(tree: Tree) -> None:
    """Of every object, of what policies and routes are attached to, and in every answer, on every cluster."""
    with tempfile.TemporaryDirectory() as name:
        write(tree, Path(name))
        for cluster, objects in tree.truths.items():
            raw = analyze(load_manifests([name], options=InputOptions(cluster=cluster)), profiles=tree.profiles)
            truth = analyze(as_applied(objects), profiles=tree.profiles)
            assert lies(raw, truth) == []


_SERVICE: Final = "apiVersion: v1\nkind: Service\nmetadata: {name: %s}\nspec: {ports: [{port: 80}]}\n"
_ROUTE: Final = (
    "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: r%s}\n"
    "spec: {parentRefs: [{name: gw}], rules: [{backendRefs: [{name: web, port: 80}]}]}\n---\n"
)


def _of_many_routes(number: int) -> dict[str, str]:
    routes = "".join(_ROUTE % position for position in range(number))
    return {"kustomization.yaml": "namespace: net\nresources: [routes.yaml]", "routes.yaml": routes}


def _of_many_deliveries(number: int) -> dict[str, str]:
    """Kustomizations of Flux in one file, of which each applies a folder of its own."""
    files = {f"apps/{position}/a.yaml": _SERVICE % "web" for position in range(number)}
    return files | {
        "flux.yaml": "".join(flux(f"k{n}", f"./apps/{n}", f"  targetNamespace: t{n}\n") for n in range(number))
    }


def _of_deliveries_in_a_row(number: int) -> dict[str, str]:
    """Kustomizations of Flux, of which each applies the next one."""
    files = {f"apps/{n}/next.yaml": flux(f"k{n + 1}", f"./apps/{n + 1}") for n in range(number)}
    return files | {f"apps/{number}/a.yaml": _SERVICE % "web", "flux.yaml": flux("k0", "./apps/0")}


def _of_overlays(number: int) -> dict[str, str]:
    base = {"base/kustomization.yaml": "resources: [a.yaml]"}
    base["base/a.yaml"] = "---\n".join(_SERVICE % f"s{position}" for position in range(50))
    overlays = {
        f"over/{position}/kustomization.yaml": f"namespace: t{position}\nresources: [../../base]"
        for position in range(number)
    }
    return base | overlays


def _of_nested_folders(number: int) -> dict[str, str]:
    """Kustomizations, of which each includes the folder in its own."""
    files = {f"{'d/' * depth}kustomization.yaml": "resources: [d]" for depth in range(number)}
    inmost = "d/" * number
    return files | {
        f"{inmost}kustomization.yaml": "namespace: net\nresources: [a.yaml]",
        f"{inmost}a.yaml": _SERVICE % "web",
    }


@pytest.mark.parametrize(
    ("files", "objects"),
    [
        (_of_many_routes(5_000), 5_000),
        (_of_many_deliveries(800), 1_600),
        (_of_deliveries_in_a_row(400), 402),
        (_of_overlays(100), 5_000),
        (_of_nested_folders(150), 1),
    ],
    ids=["routes", "deliveries", "in a row", "overlays", "nested"],
)
def test_large_trees_are_read_in_time(tmp_path: Path, files: Mapping[str, str], objects: int) -> None:
    """The bound is many times what they take, and a fraction of it where everything is compared with everything."""
    write(Tree(tool="kustomize", files=files, truths={}, profiles=()), tmp_path)
    begun = time.perf_counter()
    snapshot = load_manifests([tmp_path])
    assert time.perf_counter() - begun < 15
    assert len(snapshot.resources) == objects
