"""Trees of manifests with Kustomize, Flux, Argo CD and Helm around them, where nothing is rendered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_policy.errors import UsageError
from kubectl_policy.model import GroupKind

if TYPE_CHECKING:
    from collections.abc import Iterable

# Most input has nothing of this around it: what is found out by these kinds is imported only where there is one.
KUSTOMIZATION: Final = GroupKind("kustomize.toolkit.fluxcd.io", "Kustomization")
HELM_RELEASE: Final = GroupKind("helm.toolkit.fluxcd.io", "HelmRelease")
APPLICATION: Final = GroupKind("argoproj.io", "Application")
APPLICATION_SET: Final = GroupKind("argoproj.io", "ApplicationSet")
CONFIG_MAP: Final = GroupKind("", "ConfigMap")
DELIVERING: Final = frozenset({KUSTOMIZATION, HELM_RELEASE, APPLICATION, APPLICATION_SET})


class AppliedBy(NamedTuple):
    """The argument of the call, the folder and the clusters by which an object is applied."""

    argument: int = 0
    folder: str = ""
    clusters: frozenset[str] = frozenset()


def unknown_cluster(name: str, known: Iterable[str] = ()) -> UsageError:
    """Return the error for a cluster that the input is not for."""
    names = ", ".join(known)
    hint = (
        f"it is for these: {names}" if names else "no root of Flux and no destination of Argo CD tells clusters apart"
    )
    return UsageError(f'--cluster: nothing in the input is for a cluster "{name}"', hint)
