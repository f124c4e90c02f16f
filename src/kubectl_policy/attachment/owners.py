"""Whose business an object is: why a policy has no say where another controller acts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.topology.controllers import controller_of, managed
from kubectl_policy.topology.references import ROUTES

if TYPE_CHECKING:
    from collections.abc import Collection

    from kubectl_policy.model import ObjectRef
    from kubectl_policy.topology import Topology


def not_managed(topology: Topology, ref: ObjectRef, kind: str, controllers: Collection[str]) -> str:
    """Why none of the controllers of a policy kind acts on an object, in words; empty if one does or may."""
    if managed(topology, ref, controllers) is not False:
        return ""
    ours = " or ".join(sorted(controllers))
    if ref.group_kind in ROUTES:
        return f"{kind} acts on what {ours} manages, and no parent of {ref} is"
    theirs = controller_of(topology, ref)
    return f"{kind} acts on what {ours} manages, and {ref} is " + (f"managed by {theirs}" if theirs else "not")
