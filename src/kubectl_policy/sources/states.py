"""One word for a state of the world to a snapshot: files, or files in a git revision; and lines in those files."""

from __future__ import annotations

import glob
import os
from typing import TYPE_CHECKING, BinaryIO, TextIO

import yaml

from kubectl_policy.errors import SourceError, UsageError
from kubectl_policy.model import FieldPath
from kubectl_policy.sources.files import STDIN, read_text
from kubectl_policy.sources.manifests import load_manifests, snapshot_of
from kubectl_policy.text import DocumentError
from kubectl_policy.text.places import line_in

if TYPE_CHECKING:
    from kubectl_policy.model import Origin, Snapshot


def load_state(
    operand: str,
    *,
    namespace: str = "default",
    complete: bool = False,
    stdin: TextIO | BinaryIO | None = None,
) -> Snapshot:
    """The objects in what `load_manifests` takes as a path or, if there is no such file, in `REV:PATH` of git.

    REV is whatever git takes for a commit or a tree, or empty for the index. PATH is a file or a folder; it starts at
    the root of the repository, which is PATH itself if it is empty, or with `./` at the current directory. Everything
    else is as for `load_manifests`. Nothing is checked out, written or fetched. Raises SourceError also where git has
    no such revision or path, and UsageError for the word `live`.
    """
    if operand == "-" or os.path.exists(operand):  # noqa: PTH110 (a Path raises OSError for what is too long for one)
        return load_manifests([operand], namespace=namespace, complete=complete, stdin=stdin)
    if operand == "live":
        raise UsageError("live clusters are not supported yet", "name a file, a folder or REV:PATH in git instead")
    # Most input is files, and what only git needs takes time to import.
    from kubectl_policy.sources.revisions import open_revision, revision_and_path  # noqa: PLC0415 (see above)

    parts = revision_and_path(operand)
    if parts is None:
        _check_no_revision(operand)
        return load_manifests([operand], namespace=namespace, complete=complete)
    name, path = parts
    with open_revision(name) as revision:
        return snapshot_of(revision.find(path), revision.read_text, namespace=namespace, complete=complete)


def _check_no_revision(word: str) -> None:
    """Raise SourceError for a revision without a path; `load_manifests` says what is wrong with anything else."""
    from kubectl_policy.sources.git import tree_of  # noqa: PLC0415 (see load_state)

    try:
        is_revision = not glob.has_magic(word) and bool(tree_of(word))
    except SourceError:
        return
    if is_revision:
        message = f"{word}: there is no such file or folder"
        raise SourceError(message, f"write {word}:PATH for the files in a git revision")


def locate(origin: Origin, path: str) -> int | None:
    """The line (from 1) of a field, `spec.listeners[0].port`, of the object that starts at an origin.

    None where it cannot be told: from standard input, if the file has changed, or if the field is not written there.
    """
    if origin.source == STDIN or not origin.line:
        return None
    try:
        return line_in(_text_at(origin.source), origin.line, FieldPath.parse(path))
    except (OSError, ValueError, OverflowError, DocumentError, SourceError, yaml.YAMLError):
        return None


def _text_at(source: str) -> str:
    """The text of a file or, if there is none, of the one that `REV:PATH` names."""
    try:
        return read_text(source)
    except OSError:
        if ":" not in source:
            raise
        from kubectl_policy.sources.revisions import read_revision  # noqa: PLC0415 (most input is files)

        return read_revision(source)
