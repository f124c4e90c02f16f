"""Whether a target exists: by what was read, or for controllers that know what routes refer to and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.attachment.validity import Failure
from kubectl_policy.topology.controllers import managed
from kubectl_policy.topology.references import ROUTES

if TYPE_CHECKING:
    from collections.abc import Collection

    from kubectl_policy.model import GroupKind, ObjectRef
    from kubectl_policy.model.index import Index
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.topology import Topology


def absent(ref: ObjectRef, profile: PolicyKindProfile, topology: Topology) -> Failure | None:
    """Why a target does not exist, or may not; None if it does. See `PolicyKindProfile.targets_exist`."""
    if profile.targets_exist == "whenReferred":
        return _not_referred(ref, profile, topology)
    presence = topology.index.presence(ref)
    if presence == "missing":
        return Failure("target missing", f"{ref} does not exist")
    return Failure("target unknown", f"{ref} is not in the input") if presence == "unknown" else None


def _not_referred(ref: ObjectRef, profile: PolicyKindProfile, topology: Topology) -> Failure | None:
    routes = topology.relations.routes_forwarding_to(ref)
    if any(managed(topology, route, profile.controllers) is not False for route in routes):
        return None
    theirs = f" that {' or '.join(sorted(profile.controllers))} acts on" if profile.controllers else ""
    if may_be_more(topology.index, ROUTES):
        return Failure("target unknown", f"no route in the input{theirs} sends requests to {ref}")
    return Failure("target missing", f"no route{theirs} sends requests to {ref}")


def may_be_more(index: Index, kinds: Collection[GroupKind]) -> bool:
    """Whether there may be objects of some kinds, in any namespace, that were not read."""
    names = {"", *(kind.kind for kind in kinds)}
    return not index.snapshot.complete or any(gap.kind in names for gap in index.snapshot.gaps)
