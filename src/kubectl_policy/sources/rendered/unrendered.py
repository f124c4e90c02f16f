"""Gaps for what could not be rendered, of an extent that is known as far as it can be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.model import Diagnostic, Gap
from kubectl_policy.sources.rendered.output import as_written
from kubectl_policy.sources.tree.declared.delivery import HelmRelease
from kubectl_policy.sources.tree.declared.mentions import texts_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import Json, ObjectRef, Origin
    from kubectl_policy.sources.files.tree import FileTree
    from kubectl_policy.sources.rendered.kustomize import Build, Kustomizations, Remote
    from kubectl_policy.sources.rendered.roots import Root


class Unrendered:
    """Gaps and diagnostics of roots that could not be rendered, each once."""

    def __init__(self, tree: FileTree, kustomizations: Kustomizations) -> None:
        """Start without anything to note."""
        self._tree, self._kustomizations = tree, kustomizations
        self._gaps: dict[Gap, None] = {}
        self._diagnostics: dict[Diagnostic, None] = {}

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """The gaps for objects that may be there, or otherwise."""
        return tuple(self._gaps)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The complaints of programs."""
        return tuple(self._diagnostics)

    def fail(self, root: Root, why: str, mentions: frozenset[str] | None) -> None:
        """Note that a program failed: what it would have made is not known, but for what it could mention."""
        message = f"{root.name} could not be rendered: {why}"
        self._diagnostics[Diagnostic("not-rendered", "warning", message, origin=root.origin)] = None
        self._add(root.namespace, message, root.origin, mentions)

    def words(self, build: Build) -> frozenset[str]:
        """Return everything that is written in the files of a build."""
        files = [
            file
            for kustomization in self._kustomizations.walk(build)
            for file in self._kustomizations.files(kustomization)
        ]
        return words_in([printed.raw for file in files for printed in as_written(self._tree, file)])

    def miss(self, root: Root, why: str) -> None:
        """Note what something may create that is not here."""
        reason = f"{root.name} ({why}) may create objects{_in(root.namespace)}"
        mentions = words_in(root.values) if root.values is not None else None
        if mentions is not None and isinstance(root.delivery, HelmRelease):
            # Charts call their objects after the release.
            mentions |= {root.delivery.release_name or root.delivery.resource.ref.name}
        self._add(root.namespace, reason, root.origin, mentions)

    def leave(self, root: Root, remote: Remote) -> None:
        """Note what a kustomization takes from elsewhere."""
        namespace = root.namespace or remote.namespace
        self._add(
            namespace, f"{remote.what} was not fetched, and may create objects{_in(namespace)}", remote.origin, None
        )

    def doubt(self, root: Root, ref: ObjectRef, raw: Mapping[str, Json], origin: Origin) -> None:
        """Note that an object may be different from what was rendered."""
        reason = f"{root.name} {root.doubt}"
        gap = Gap(
            kind=ref.kind, namespace=ref.namespace, name=ref.name, reason=reason, origin=origin, mentions=words_in(raw)
        )
        self._gaps[gap] = None

    def _add(self, namespace: str, reason: str, origin: Origin, mentions: frozenset[str] | None) -> None:
        gap = Gap(kind="", namespace=namespace, reason=reason, origin=origin, mentions=mentions)
        self._gaps[gap] = None


def _in(namespace: str) -> str:
    return f" in namespace {namespace}" if namespace else ""


def words_in(values: Json) -> frozenset[str]:
    """Return everything in values that may be a name: keys, texts, and the words in these."""
    texts = texts_in([values], keys=False)
    words = (word for text in texts for word in text.replace("/", " ").split())
    return frozenset((*texts_in([values], keys=True), *texts, *words))
