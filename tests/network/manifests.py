"""Manifests as the product takes them: what the judge and the product are both asked about."""

from __future__ import annotations

from collections.abc import Iterable

from kubectl_policy import Analysis, analyze
from kubectl_policy.model import GroupKind, ObjectRef, Resource
from tests import build
from tests.network.oracle_world import Manifest


def resource_of(manifest: Manifest) -> Resource:
    """Return an object of a manifest, which says its namespace."""
    metadata, group = manifest["metadata"], manifest["apiVersion"].rpartition("/")[0]
    ref = ObjectRef(GroupKind(group, manifest["kind"]), metadata.get("namespace", ""), metadata["name"])
    return Resource(ref, build.ORIGIN, manifest, None)


def analyzed_manifests(manifests: Iterable[Manifest], *, complete: bool = True) -> Analysis:
    """Return the analysis of manifests, which are all that there is unless they are not complete."""
    return analyze(build.snapshot(*map(resource_of, manifests), complete=complete))
