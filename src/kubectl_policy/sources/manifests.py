"""Read manifests into snapshots: from disk, standard input, a git revision or an archive."""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, BinaryIO, TextIO

from msgspec.structs import replace

from kubectl_policy.errors import SourceError, UsageError
from kubectl_policy.model import Diagnostic, Snapshot
from kubectl_policy.sources.assembling import assemble, no_objects_error, read_files, snapshot_of, tree_of_objects
from kubectl_policy.sources.files.disk import Disk, RepositoriesOnDisk, archive_and_path, read_stdin
from kubectl_policy.sources.files.exclusion import Exclusions
from kubectl_policy.sources.files.input_files import InputFiles, find_files, has_wildcards, open_stored
from kubectl_policy.sources.files.tree import STDIN
from kubectl_policy.sources.options import AS_IT_IS, InputOptions, Progress
from kubectl_policy.sources.tree import unknown_cluster

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from kubectl_policy.sources.files.tree import FileTree, StoredTree
    from kubectl_policy.sources.lines import Lines
    from kubectl_policy.sources.reading import Reading
    from kubectl_policy.sources.tree.input import TreeInput
    from kubectl_policy.sources.tree.work import Renderer


def load_manifests(
    paths: str | Path | Iterable[str | Path],
    *,
    options: InputOptions = AS_IT_IS,
    stdin: TextIO | BinaryIO | None = None,
    progress: Progress | None = None,
    lines: Lines | None = None,
) -> Snapshot:
    """Read the objects in files, folders (searched recursively), glob patterns and, for `-`, standard input.

    Or in one archive, or the file or folder in it (`tree.tar.gz:apps`). Whatever cannot be read is a diagnostic and a
    gap. `lines` are told what is read. Raises SourceError where a path names nothing, cannot be read, or where there is
    no object in all of them.
    """
    with _input_at(paths, options, stdin, progress, lines) as (files, renderer):
        return snapshot_of(files, options, lines, renderer)


def load_state(
    operand: str,
    *,
    options: InputOptions = AS_IT_IS,
    stdin: TextIO | BinaryIO | None = None,
    progress: Progress | None = None,
    lines: Lines | None = None,
) -> Snapshot:
    """Read the objects in what `load_manifests` takes as a path or, if there is no such file, in `REV:PATH` of git.

    REV is whatever git takes for a commit or a tree, or empty for the index. PATH is a file or a folder; it starts at
    the root of the repository, which is PATH itself if it is empty, or with `./` at the current directory. Everything
    else is as for `load_manifests`. Nothing is checked out, written or fetched. Raises SourceError also where git has
    no such revision or path, and UsageError for what `is_live`.
    """
    with _input_at([operand], options, stdin, progress, lines, may_be_revision=True) as (files, renderer):
        return snapshot_of(files, options, lines, renderer)


def load_input(
    paths: Sequence[str],
    *,
    options: InputOptions = AS_IT_IS,
    progress: Progress | None = None,
    lines: Lines | None = None,
) -> Snapshot:
    """Read the objects in what `load_manifests` takes as several paths, or `load_state` as one."""
    with _input_at(paths, options, None, progress, lines, may_be_revision=len(paths) == 1) as (files, renderer):
        return snapshot_of(files, options, lines, renderer)


def load_worlds(  # noqa: PLR0913 (what `load_manifests` takes)
    paths: str | Path | Iterable[str | Path],
    *,
    options: InputOptions = AS_IT_IS,
    stdin: TextIO | BinaryIO | None = None,
    progress: Progress | None = None,
    lines: Lines | None = None,
    may_be_revision: bool = False,
) -> Mapping[str, Snapshot]:
    """Read one world for each cluster and overlay that the input is for, by their names, in their order.

    The name is empty where the input is for one world alone. The input is that of `load_manifests` or, if it may be a
    revision, of `load_state`; raises as these. A world is what is for it, and all that is not for others. Its name is
    one that `options.cluster` takes, which takes those of overlays here as well. Of overlays that make mostly the same,
    or of the same files, each is a world, called by the shortest part of its path that tells it from the others; it
    includes the overlays of that name of other applications, and what has no such name there is a gap.
    """
    with _input_at(paths, options, stdin, progress, lines, may_be_revision=may_be_revision) as (files, renderer):
        reading = read_files(files, options, lines)
        if isinstance(reading, Snapshot):
            return {"": reading}
        # What was not rendered may create more, also where somebody says that there is nothing else.
        tree = tree_of_objects(reading, files, replace(options, complete=False))
        worlds = dict(_worlds_in(reading, tree, files, options, renderer))
        if not any(snapshot.resources for snapshot in worlds.values()):
            raise no_objects_error(reading, files)
        return worlds


def _worlds_in(
    reading: Reading, tree: TreeInput | None, files: InputFiles, options: InputOptions, renderer: Renderer | None
) -> Iterator[tuple[str, Snapshot]]:
    names = tree.worlds.names if tree else []
    if options.cluster and options.cluster not in names:
        raise unknown_cluster(options.cluster, names)
    chosen = [options.cluster] if options.cluster else names
    if tree and tree.worlds.are_too_many and not options.cluster:
        message = f"the input is for {len(names):,} clusters and overlays, too many to tell apart: name one of them"
        reading.diagnostics.append(Diagnostic("too-many-worlds", "warning", message))
        chosen = []
    if len(names) < 2 or not chosen:  # noqa: PLR2004 (one or none)
        yield "", assemble(reading, tree, files, options, renderer)
        return
    for name in chosen:
        of_world = replace(options, cluster=name)
        yield name if len(chosen) > 1 else "", assemble(reading, tree, files, of_world, renderer)


@contextmanager
def _input_at(  # noqa: PLR0913 (what `load_manifests` takes)
    paths: str | Path | Iterable[str | Path],
    options: InputOptions,
    stdin: TextIO | BinaryIO | None = None,
    progress: Progress | None = None,
    lines: Lines | None = None,
    *,
    may_be_revision: bool = False,
) -> Generator[tuple[InputFiles, Renderer | None]]:
    """Find the input of `load_manifests` or, if it may be a revision, of `load_state`."""

    def text_of_stdin() -> str:
        text = read_stdin(stdin)
        return lines.keep(STDIN, text) if lines else text

    named = [str(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)]
    exclusions = Exclusions(options.exclude)
    with ExitStack() as stack:
        stored = _open(named, stack, may_be_revision=may_be_revision)
        tree: FileTree
        tree, inside = (stored[0], [stored[1]]) if stored else (Disk(), named)
        manifests = find_files(inside, exclusions, tree)
        repositories = RepositoriesOnDisk(named) if isinstance(tree, Disk) else tree
        files = InputFiles(
            tree=tree,
            files=manifests,
            left_out=exclusions.left_out,
            stdin=text_of_stdin,
            repositories=repositories,
        )
        renderer = None
        if options.render:
            from kubectl_policy.sources.rendering.render import Rendering  # noqa: PLC0415 (few inputs need it)

            renderer = Rendering(stack, options, progress).builder
        yield files, renderer


def _open(named: Sequence[str], stack: ExitStack, *, may_be_revision: bool) -> tuple[StoredTree, str] | None:
    """Open the archive or revision that is named, with the path in it; None for files on disk.

    Raises UsageError and SourceError for what is none of these.
    """
    archive = next(filter(archive_and_path, named), None)
    if archive and len(named) > 1:
        raise SourceError(f"{archive}: an archive is read alone", "unpack it to read other files with it")
    if archive:
        return stack.enter_context(open_stored(archive))
    revision = next(filter(_is_revision, named), None) if len(named) > 1 else None
    if revision:
        raise SourceError(f"{revision}: a git revision is read alone", "check it out to read other files with it")
    operand = named[0] if may_be_revision else "-"
    if operand == "-" or os.path.exists(operand):  # noqa: PTH110 (a Path raises OSError for what is too long for one)
        return None
    if is_live(operand):
        raise UsageError("live is a cluster, not manifests", "name a file, a folder or REV:PATH in git")
    stored = stack.enter_context(open_stored(operand))
    if stored is None and not has_wildcards(operand) and _has_revision(operand):
        message = f"{operand}: there is no such file or folder"
        raise SourceError(message, f"write {operand}:PATH for the files in a git revision")
    return stored


def _is_revision(operand: str) -> bool:
    """Whether `REV:PATH` names a revision, and no file is called so."""
    if ":" not in operand or os.path.exists(operand):  # noqa: PTH110 (see `_open`)
        return False
    from kubectl_policy.sources.files.git import revision_and_path  # noqa: PLC0415 (few inputs need it)

    revision = revision_and_path(operand)
    # Without a name it is the index.
    return revision is not None and (not revision[0] or _has_revision(revision[0]))


def _has_revision(name: str) -> bool:
    """Whether git has a revision of a name. Without git there is none; what is wrong with others, `find_files` says."""
    from kubectl_policy.sources.files.git import tree_id  # noqa: PLC0415 (few inputs need it)

    with suppress(SourceError):
        return bool(tree_id(name))
    return False


def is_live(operand: str) -> bool:
    """Whether a state is that of a cluster now: the word `live`, unless there is a file of that name."""
    return operand == "live" and not os.path.exists(operand)  # noqa: PTH110 (strings throughout)
