"""Roots of a tree: builds, releases and files that something applies, or somebody by hand."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, TypeAlias

import msgspec
from msgspec import Struct, field

from kubectl_policy.model.snapshot import Origin  # noqa: TC001 (a field of what is read from JSON)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import Json
    from kubectl_policy.sources.tree.delivery import Delivery


class Build(Struct, frozen=True, kw_only=True):
    """Folder that is built as Kustomize does it."""

    folder: str
    origin: Origin
    """The place where it is said what is added to its kustomization."""
    additions: Mapping[str, Json] = field(default_factory=dict[str, "Json"])
    """Fields that replace those of its kustomization, or add to those that are lists."""
    by_flux: bool = False
    """Whether it needs no kustomization, and may take in files from the whole repository."""


class Release(Struct, frozen=True, kw_only=True):
    """Chart in a folder, to be installed under a name into a namespace."""

    folder: str
    name: str
    namespace: str
    files: tuple[str, ...] = ()
    """Paths of files with values, the later before the earlier ones."""
    values: tuple[Mapping[str, Json], ...] = ()
    """Further values, which count before those in files."""
    settings: tuple[str, ...] = ()
    """Arguments of Helm that set single values."""
    definitions: bool = True


class Files(Struct, frozen=True, kw_only=True):
    """Manifests that are applied as they are, by their paths."""

    folder: str
    files: tuple[str, ...]


class NotRendered(Struct, frozen=True, kw_only=True):
    """Source of a delivery that cannot be rendered here, the reason, and what would help."""

    reason: str
    remedy: str = ""


Renderable: TypeAlias = Build | Release | Files | NotRendered


def key_of(renderable: Renderable, *further: object) -> bytes:
    """Return a key that is equal for what comes to the same result."""
    return type(renderable).__name__.encode() + msgspec.json.encode((renderable, further), order="sorted")


class Doubt(Struct, frozen=True, kw_only=True):
    """Reason for which an object may be different once it is rendered."""

    reason: str
    origin: Origin
    mentions: frozenset[str] | None = frozenset()
    """The names that it may come to mention; None if that may be any."""
    moves: bool = False
    """Whether it may be in another namespace, or called otherwise."""
    fields: frozenset[str] = frozenset({""})
    """The fields of its spec that may change; an empty one stands for any."""


class Root(Struct, frozen=True, kw_only=True):
    """Something to render."""

    renderable: Renderable
    name: str
    file: str
    """The path of the file that declares it."""
    origin: Origin
    namespace: str = ""
    """The namespace of objects that name none, empty if nothing names one."""
    delivery: Delivery | None = None
    values: Json = None
    """What is known to go into its objects, such as the values of a chart; None if that is not all."""
    doubts: tuple[Doubt, ...] = ()
    """The reasons for which all of it may be different."""
    top: str = ""
    """The path of the file that declares the first of the roots that lead to it."""

    @property
    def folder(self) -> str:
        """The path of the folder that it is made from."""
        return posixpath.dirname(self.file) if isinstance(self.renderable, NotRendered) else self.renderable.folder
