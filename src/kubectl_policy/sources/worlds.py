"""Manifests to worlds: one snapshot for each cluster or overlay that a tree is for, each file of which is read once."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO, TextIO

from kubectl_policy.model import Diagnostic, Snapshot
from kubectl_policy.model.values import replace, value
from kubectl_policy.sources.assembling import assembled, nothing_found, read_files, tree_around
from kubectl_policy.sources.manifests import input_at
from kubectl_policy.sources.options import AS_IT_IS, InputOptions, Progress
from kubectl_policy.sources.tree import unknown_cluster

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from kubectl_policy.sources.assembling import Input
    from kubectl_policy.sources.locations.lines import Lines
    from kubectl_policy.sources.reading import Reading
    from kubectl_policy.sources.tree.input import TreeInput


@value(kw_only=True)
class NamedWorld:
    """One world that the input is for."""

    name: str
    """Its name, empty where the input is for one world alone."""
    snapshot: Snapshot
    """The objects in it."""


def load_worlds(  # noqa: PLR0913 (what `load_manifests` takes)
    paths: str | Path | Iterable[str | Path],
    *,
    options: InputOptions = AS_IT_IS,
    stdin: TextIO | BinaryIO | None = None,
    progress: Progress | None = None,
    lines: Lines | None = None,
    may_be_revision: bool = False,
) -> tuple[NamedWorld, ...]:
    """Read one world for each cluster and overlay that the input is for, sorted by name.

    The input is that of `load_manifests` or, if it may be a revision, of `load_state`; raises as these.
    A world is what is for it, and all that is not for others. The names of clusters are those that `options.cluster`
    takes, which takes those of overlays here as well. Of overlays that make mostly the same, or of the same files, each
    is a world; it has the shortest part of its path for a name that tells it from the others, and shares its world with
    those of other applications that have that name as well. What none of them is called as is a gap of a world.
    """
    with input_at(paths, options, stdin, progress, lines, may_be_revision=may_be_revision) as files:
        reading = read_files(files, options, lines)
        if isinstance(reading, Snapshot):
            return (NamedWorld(name="", snapshot=reading),)
        # What was not rendered may create more, also where somebody says that there is nothing else.
        around = tree_around(reading, files.files, replace(options, complete=False))
        worlds = tuple(_worlds_in(reading, around, files, options))
        if not any(world.snapshot.resources for world in worlds):
            raise nothing_found(reading, files.files)
        return worlds


def _worlds_in(reading: Reading, around: TreeInput | None, files: Input, options: InputOptions) -> Iterator[NamedWorld]:
    """Yield the world that was asked for, or else all of them."""
    known = around.tree.worlds if around else None
    names = known.names if known else []
    if options.cluster and options.cluster not in names:
        raise unknown_cluster(options.cluster, names)
    chosen = [options.cluster] if options.cluster else names
    if known and known.are_too_many and not options.cluster:
        message = f"the input is for {len(names):,} clusters and overlays, too many to tell apart: name one of them"
        reading.diagnostics.append(Diagnostic("too-many-worlds", "warning", message))
        chosen = []
    if not around or len(names) < 2 or not chosen:  # noqa: PLR2004 (one or none)
        yield NamedWorld(name="", snapshot=assembled(reading, around, files, options))
        return
    clusters = around.tree.clusters.names
    for name in chosen:
        of_world = around.of_world(name)
        of_it = replace(options, cluster=name if name in clusters else "")
        snapshot = assembled(of_world.reading, of_world, files, of_it)
        yield NamedWorld(name=name if len(chosen) > 1 else "", snapshot=snapshot)
