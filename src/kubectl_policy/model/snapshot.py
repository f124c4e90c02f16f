"""What was read, and what could not be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kubectl_policy.model.diagnostic import Diagnostic
    from kubectl_policy.model.origin import Origin
    from kubectl_policy.model.refs import ObjectRef
    from kubectl_policy.model.resource import Resource


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that could not be read, so that "unknown" is never shown as "none".

    `kind` is a kind's name or empty (any kind), `namespace` a namespace or empty (any), `reason` says why in words.
    """

    kind: str
    namespace: str
    reason: str
    origin: Origin | None = None

    def covers(self, ref: ObjectRef) -> bool:
        """Whether an object may be among what could not be read."""
        return self.kind in {"", ref.kind} and self.namespace in {"", ref.namespace}


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of a cluster as far as it could be read.

    `complete` closes the world: what is not here does not exist. Manifests are an open world unless the caller says so.
    `ignored` counts documents that are not Kubernetes objects. Of one of two states of a world, `beside` are the
    objects of the other state that this one has not, or has otherwise: where they are, their kinds were read. `gone`
    are those of them that are known not to exist in this one.
    """

    resources: tuple[Resource, ...] = ()
    gaps: tuple[Gap, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    complete: bool = False
    ignored: int = 0
    beside: tuple[Resource, ...] = ()
    gone: frozenset[ObjectRef] = frozenset()
