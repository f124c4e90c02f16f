"""Repositories that hide a plain world; what each comes to is known without any program, since the world came first."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from hypothesis import strategies as st

from kubectl_policy.model import GroupKind, ObjectRef, Origin, Resource, Snapshot
from kubectl_policy.model.fields import time_at
from kubectl_policy.model.kind_roles import GATEWAY_API
from tests.property.hiding import Hiding, Object, Tool, Tree
from tests.property.strategies import worlds
from tests.property.world import POLICIES, profiles_of, snapshot_of

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
