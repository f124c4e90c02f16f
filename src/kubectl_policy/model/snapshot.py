"""What was read, and what could not be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kubectl_policy.model.diagnostic import Diagnostic
    from kubectl_policy.model.origin import Origin
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


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of a cluster as far as it could be read.

    `complete` closes the world: what is not here does not exist. Manifests are an open world unless the caller says so.
    `ignored` counts documents that are not Kubernetes objects.
    """

    resources: tuple[Resource, ...] = ()
    gaps: tuple[Gap, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    complete: bool = False
    ignored: int = 0
