"""Manifests to a snapshot: every file that is meant, every object in it, and everything that could not be read.

They are on disk, on standard input, or in a revision of a git repository.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, BinaryIO, TextIO

from kubectl_policy.errors import SourceError, UsageError
from kubectl_policy.sources.assembling import Input, snapshot_of
from kubectl_policy.sources.exclusion import Exclusions
from kubectl_policy.sources.files import STDIN, Files, find_files, has_wildcards, read_stdin, read_text
from kubectl_policy.sources.options import AS_IT_IS, InputOptions, Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable
    from pathlib import Path

    from kubectl_policy.model import Snapshot
    from kubectl_policy.sources.assembling import Renderer
    from kubectl_policy.sources.places.below import Below
    from kubectl_policy.sources.places.lines import Lines
    from kubectl_policy.sources.rendered.copying import Tree


def load_manifests(
    paths: str | Path | Iterable[str | Path],
    *,
    options: InputOptions = AS_IT_IS,
    stdin: TextIO | BinaryIO | None = None,
    progress: Progress | None = None,
    lines: Lines | None = None,
) -> Snapshot:
    """The objects in files, folders (searched recursively), glob patterns and, for `-`, standard input; in one or many.

    What cannot be read is a diagnostic and a gap. `lines` are told what is read. Raises SourceError where a path names
    nothing, cannot be read, or where there is no object in all of them.
    """
    with manifests_at(paths, options, stdin, progress, lines) as found:
        return snapshot_of(found, options, lines)


@contextmanager
def manifests_at(
    paths: str | Path | Iterable[str | Path],
    options: InputOptions,
    stdin: TextIO | BinaryIO | None = None,
    progress: Progress | None = None,
    lines: Lines | None = None,
) -> Generator[Input]:
    """What `load_manifests` reads."""

    def text_of(path: str) -> str:
        if path != STDIN:
            return read_text(path)
        text = read_stdin(stdin)
        return lines.keep(STDIN, text) if lines else text

    def tree() -> Tree:
        from kubectl_policy.sources.rendered.copying import Disk  # noqa: PLC0415 (few inputs need it)

        return Disk(named)

    def below() -> Below:
        from kubectl_policy.sources.places.below import below_here  # noqa: PLC0415 (see above)

        return below_here()

    named = [str(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)]
    exclusions = Exclusions(options.exclude)
    found = find_files(named, exclusions)
    files = Files(found=found, text_of=text_of, left_out=exclusions.left_out)
    with ExitStack() as stack:
        yield Input(files=files, renderer=_renderer(stack, tree, options, progress), below=below)


def _renderer(
    stack: ExitStack, tree: Callable[[], Tree], options: InputOptions, progress: Progress | None
) -> Renderer | None:
    """What renders a tree, if anything is to be rendered."""
    if not options.render:
        return None
    from kubectl_policy.sources.rendered.render import Rendering  # noqa: PLC0415 (few inputs need it)

    return stack.enter_context(Rendering(tree(), progress)).render


def load_state(
    operand: str,
    *,
    options: InputOptions = AS_IT_IS,
    stdin: TextIO | BinaryIO | None = None,
    progress: Progress | None = None,
    lines: Lines | None = None,
) -> Snapshot:
    """The objects in what `load_manifests` takes as a path or, if there is no such file, in `REV:PATH` of git.

    REV is whatever git takes for a commit or a tree, or empty for the index. PATH is a file or a folder; it starts at
    the root of the repository, which is PATH itself if it is empty, or with `./` at the current directory. Everything
    else is as for `load_manifests`. Nothing is checked out, written or fetched. Raises SourceError also where git has
    no such revision or path, and UsageError for what `is_live`.
    """
    with state_at(operand, options, stdin, progress, lines) as found:
        return snapshot_of(found, options, lines)


@contextmanager
def state_at(
    operand: str,
    options: InputOptions,
    stdin: TextIO | BinaryIO | None = None,
    progress: Progress | None = None,
    lines: Lines | None = None,
) -> Generator[Input]:
    """What `load_state` reads."""
    parts = _revision_and_path(operand)
    if parts is None:
        with manifests_at([operand], options, stdin, progress, lines) as found:
            yield found
        return
    # Most input is files, and what only git needs takes time to import.
    from kubectl_policy.sources.revisions import open_revision  # noqa: PLC0415 (see above)

    def tree() -> Tree:
        from kubectl_policy.sources.rendered.copying import InRevision  # noqa: PLC0415 (few inputs need it)

        return InRevision(revision)

    def below() -> Below:
        from kubectl_policy.sources.places.below import below_in  # noqa: PLC0415 (see above)

        return below_in(revision)

    name, path = parts
    with open_revision(name) as revision, ExitStack() as stack:
        exclusions = Exclusions(options.exclude)
        files = Files(
            found=revision.find(path, exclusions),
            text_of=revision.read_text,
            left_out=exclusions.left_out,
            revision=f"{name}:",
        )
        yield Input(files=files, renderer=_renderer(stack, tree, options, progress), below=below)


def _revision_and_path(operand: str) -> tuple[str, str] | None:
    """The parts of `REV:PATH`; None for what is on disk. Raises UsageError and SourceError for what is neither."""
    if operand == "-" or os.path.exists(operand):  # noqa: PTH110 (a Path raises OSError for what is too long for one)
        return None
    if is_live(operand):
        raise UsageError("live is a cluster, and no manifests", "name a file, a folder or REV:PATH in git")
    from kubectl_policy.sources.revisions import revision_and_path  # noqa: PLC0415 (see above)

    parts = revision_and_path(operand)
    if parts is None:
        _check_no_revision(operand)
    return parts


def is_live(operand: str) -> bool:
    """Whether a state is what a cluster has now: the word `live`, unless there is a file of that name."""
    return operand == "live" and not os.path.exists(operand)  # noqa: PTH110 (strings throughout)


def _check_no_revision(word: str) -> None:
    """Raise SourceError for a revision without a path; `load_manifests` says what is wrong with anything else."""
    from kubectl_policy.sources.git import tree_of  # noqa: PLC0415 (see load_state)

    try:
        is_revision = not has_wildcards(word) and bool(tree_of(word))
    except SourceError:
        return
    if is_revision:
        message = f"{word}: there is no such file or folder"
        raise SourceError(message, f"write {word}:PATH for the files in a git revision")
