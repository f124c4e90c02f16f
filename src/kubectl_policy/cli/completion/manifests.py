"""Names in manifests, read as the commands read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kubectl_policy.cli.completion.objects import KnownKinds, KnownObjects, known_fields
from kubectl_policy.model.kinds import NAMESPACE, TARGETS, is_kubernetes_own
from kubectl_policy.questions.shared.selection import find, kinds_meant, type_named

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Json


class ManifestObjects(KnownObjects):
    """The objects of an analysis of manifests."""

    def __init__(self, analysis: Analysis) -> None:
        """Keep the analysis."""
        self._analysis = analysis
        self._index = analysis.index

    def kinds(self) -> KnownKinds:
        """Return the kinds of objects in the manifests."""
        registry = self._analysis.registry
        present = self._index.group_kinds
        policies = [kind for kind in present if registry.profile_of(kind)]
        unrelated = [kind for kind in present if kind not in TARGETS and is_kubernetes_own(kind)]
        targets = [kind for kind in present if kind not in policies and kind not in unrelated]
        return KnownKinds(*([registry.names_of(kind) for kind in kinds] for kinds in (policies, targets, unrelated)))

    def names(self, type_name: str, namespace: str) -> tuple[Iterable[str], Iterable[str]]:
        """Return the names of objects in a namespace, and `NAMESPACE/NAME` of those in any namespace."""
        kinds = type_named(self._analysis, type_name).kinds
        refs = [resource.ref for kind in kinds for resource in self._index.of_kind(kind)]
        return (
            [ref.name for ref in refs if ref.namespace in {"", namespace}],
            [ref.qualified_name for ref in refs],
        )

    def namespaces(self) -> Iterable[str]:
        """Return the names of Namespaces, and of the namespaces of objects."""
        refs = (resource.ref for kind in self._index.group_kinds for resource in self._index.of_kind(kind))
        return {ref.name if ref.group_kind == NAMESPACE else ref.namespace for ref in refs}

    def sections(self, type_name: str, name: str, namespace: str) -> Iterable[str]:
        """Return the names of an object's sections."""
        return self._analysis.topology.sections(find(self._analysis, type_name, name, namespace))

    def fields(self, kinds: Iterable[str]) -> Iterator[str]:
        """Yield the fields that policies set, and those in the profiles of their kinds."""
        from kubectl_policy.resolution.contributions import stanzas_of

        registry = self._analysis.registry
        wanted = {kind for name in kinds for kind in kinds_meant(self._analysis, name)}
        for profile in registry.policy_kinds:
            if wanted and profile.group_kind not in wanted:
                continue
            yield from known_fields(profile)
            for resource in self._index.of_kind(profile.group_kind):
                for stanza in stanzas_of(resource.raw, profile):
                    yield from _fields(stanza.spec)


def _fields(settings: Mapping[str, Json]) -> Iterator[str]:
    for key, setting in settings.items():
        yield key
        if isinstance(setting, Mapping):
            yield from (f"{key}.{field}" for field in _fields(setting))
