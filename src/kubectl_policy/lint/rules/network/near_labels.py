"""Labels in use that are like the labels of a selector that selects nothing, and with which it selects something."""

from __future__ import annotations

from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.lint.finding import Fix
from kubectl_policy.model.absence import is_slip
from kubectl_policy.model.defaults import NAME_LABEL
from kubectl_policy.model.fields import labels_of, mapping_at
from kubectl_policy.model.kind_roles import NAMESPACE
from kubectl_policy.questions.shared.trials import near_names
from kubectl_policy.topology.workloads.pod_sets import positions_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from collections.abc import Set as AbstractSet

    from kubectl_policy.lint.lint_world import LintWorld
    from kubectl_policy.model import Json
    from kubectl_policy.network.policy import Selection

    # Values by key.
    _Labels = Mapping[str, AbstractSet[str]]
    # Whether a selector selects anything.
    _Works = Callable[[Mapping[str, Json]], bool]

# The number of labels that are compared in one world.
_MAX_COMPARISONS: Final = 100_000


class NearLabel(Struct, frozen=True, kw_only=True):
    """A label in use that may be meant."""

    key: str
    value: str
    # Whether the label that is not in use differs from it by a slip of the pen.
    is_slip: bool

    @property
    def fix(self) -> Fix:
        """The question whether the label is meant."""
        return Fix(words=f"did you mean {self.key}={self.value}?")


class NearLabels:
    """The labels of workloads and Namespaces of one world. Make one by `LintWorld.once`."""

    def __init__(self, world: LintWorld) -> None:
        """Keep the workloads and the index."""
        self._workloads, self._index = world.analysis.workloads, world.index
        self._remaining = _MAX_COMPARISONS
        self._labels: dict[str | None, _Labels] = {}

    def of_pods(self, selection: Selection) -> NearLabel | None:
        """Return a label in use with which a selection of Pods selects some, if there is one."""
        namespaces = selection.namespaces

        def works(selector: Mapping[str, Json]) -> bool:
            return bool(self._workloads.selected(namespaces, selector).certain)

        scope = namespaces if isinstance(namespaces, str) else ""
        return self._near(selection.pods, lambda: self._labels_of_pods(scope), works)

    def of_namespaces(self, selector: Mapping[str, Json]) -> NearLabel | None:
        """Return a label in use with which a selector selects a Namespace, if there is one."""

        def works(changed: Mapping[str, Json]) -> bool:
            return any(self._index.selects_namespace(changed, name) for name in self.namespaces)

        return self._near(selector, self._labels_of_namespaces, works)

    @cached_property
    def namespaces(self) -> frozenset[str]:
        """The names of the Namespaces that were read, and of those with workloads."""
        read = (resource.ref.name for resource in self._index.of_kind(NAMESPACE))
        return frozenset({*read, *self._workloads.by_namespace})

    def _near(
        self, selector: Mapping[str, Json], labels_in_use: Callable[[], _Labels], works: _Works
    ) -> NearLabel | None:
        wanted = mapping_at(selector, "matchLabels")
        for key, value in wanted.items():
            if self._remaining <= 0 or not isinstance(value, str):
                continue
            labels = labels_in_use()
            others = {name: text for name, text in wanted.items() if name != key}
            for near in self._changes(key, value, labels):
                if works({**selector, "matchLabels": {**others, near.key: near.value}}):
                    return near
        return None

    def _changes(self, key: str, value: str, labels: _Labels) -> Iterator[NearLabel]:
        """Yield labels in use that are like one that is not: of another value, or else of another key."""
        values = labels.get(key, ())
        self._remaining -= len(values) + len(labels)
        if value not in values:
            for near in near_names(value, values):
                yield NearLabel(key=key, value=near, is_slip=is_slip(value, near))
        for near in near_names(key, labels):
            if value in labels[near]:
                yield NearLabel(key=near, value=value, is_slip=is_slip(key, near))

    def _labels_of_pods(self, namespace: str) -> _Labels:
        """Return the labels of the workloads in a namespace, or in all namespaces for ""."""
        if namespace not in self._labels:
            members = self._workloads.by_namespace.get(namespace, 0) if namespace else self._workloads.everything
            workloads = self._workloads.at(positions_in(members))
            self._labels[namespace] = _by_key(workload.labels for workload in workloads)
        return self._labels[namespace]

    def _labels_of_namespaces(self) -> _Labels:
        if None not in self._labels:
            read = (labels_of(resource.raw) for resource in self._index.of_kind(NAMESPACE))
            self._labels[None] = _by_key(({NAME_LABEL: name} for name in self.namespaces), read)
        return self._labels[None]


def _by_key(*labels: Iterable[Mapping[str, str]]) -> _Labels:
    values: dict[str, set[str]] = {}
    for owned in chain.from_iterable(labels):
        for key, value in owned.items():
            values.setdefault(key, set()).add(value)
    return values
