"""Git's revisions and its index as trees; git is asked through plumbing commands that write, fetch and run nothing."""

from __future__ import annotations

import errno
import os
import posixpath
import re
import shutil
import subprocess
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from typing import IO, TYPE_CHECKING, Final, cast

from msgspec import Struct

from kubectl_policy.errors import NothingThereError, SourceError
from kubectl_policy.lazy import cached_method
from kubectl_policy.sources.files.tree import StoredTree, TreeEntry, folder_in

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

# The user's own environment (GIT_DIR, GIT_INDEX_FILE in a hook) holds, except for these.
_ENVIRONMENT: Final = {
    # Two locks on one door: objects that a partial clone lacks must not be fetched by whatever git there is.
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_LITERAL_PATHSPECS": "0",
    # A revision is what it was when it was committed, whatever `git replace` put in its place here.
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
# A repository may name a program that is asked which files have changed.
_SETTINGS: Final = ("--no-pager", "-c", "core.fsmonitor=false")
_REVISION_AND_PATH: Final = re.compile(r"((?:\{[^}]*\}|[^:{])*):(.*)", re.DOTALL)
_ID: Final = r"[0-9a-f]{40,64}"
# `cat-file --batch` answers with an id, a type and a size, or with an id and why there is none.
_HEADER: Final = 3
_MAX_FOLDER_SIZE: Final = 2**26
_FOLDER: Final = "40000"
_LINK: Final = "120000"
_SUBMODULE: Final = "160000"


class GitAnswer(Struct, frozen=True):
    """Output of a git command, without the last line break."""

    out: str
    complaint: str = ""
    """The first line of what it complains of; empty unless it failed."""


def ask(*arguments: str) -> GitAnswer:
    """Run a git command. Raises SourceError if git is not installed."""
    try:
        process = _started(*arguments, errors=subprocess.PIPE)
    except (OSError, ValueError) as error:
        # An argument that no process can be given, such as one with a NUL.
        return GitAnswer("", str(error))
    out, complaint = process.communicate()
    if process.returncode:
        return GitAnswer("", _text(complaint).strip().partition("\n")[0].removeprefix("fatal: ") or "git failed")
    return GitAnswer(_text(out).removesuffix("\n"))


def tree_id(revision: str) -> str:
    """Return the id of the tree of a revision; empty if there is no such revision, or no repository."""
    tree = ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{tree}}").out
    # `^main` is not what anybody means, but git understands it.
    return tree if re.fullmatch(_ID, tree) else ""


def revision_and_path(operand: str) -> tuple[str, str] | None:
    """Split `REV:PATH` where git does, at the first colon outside of braces; None of anything else.

    The index has the empty name (`:PATH`). `C:/PATH` is no revision.
    """
    match = _REVISION_AND_PATH.fullmatch(operand)
    is_drive = match and len(match[1]) == 1 and match[2].startswith(("/", "\\"))
    return (match[1], match[2]) if match and not is_drive else None


@contextmanager
def open_revision(name: str) -> Generator[GitTree]:
    """Open a revision, or the index if the name is empty. Raises SourceError where git knows of none."""
    tree = tree_id(name) if name else ""
    if not tree:
        _check_repository(name)
    with closing(Objects()) as objects:
        yield GitTree(name, objects, TreeEntry("folder", tree) if name else _index())


class GitTree(StoredTree):
    """Files of a revision of a git repository, or of its index; made by `open_revision`."""

    def __init__(self, name: str, objects: Objects, top: TreeEntry) -> None:
        """Read files and folders from the objects of the repository as they are needed."""
        super().__init__(f"{name}:", top)
        self._objects = objects

    def here(self) -> str:
        """Return the path of the current directory, with a slash at its end; "" for the root of the repository."""
        return ask("rev-parse", "--show-prefix").out

    def title(self, folder: str = "") -> str:
        """Return the name of a folder in messages; that of the top is the name of the revision."""
        return super().title(folder) or "the index"

    def not_found(self, path: str) -> NothingThereError:
        """Return the error for a path that leads to nothing, with a hint at the one that is meant."""
        error = super().not_found(path)
        error.hint = f"{error.hint}, or with ./ at the current directory"
        top = ask("rev-parse", "--show-toplevel").out
        if top and os.path.lexists(posixpath.join(top, path)):
            error.hint = f"it is on disk, but not in {self.title()}: name the file or folder itself, or add it to git"
        with suppress(OSError):
            if folder := self.here():
                self.entry(folder + path)
                error.hint = f"write {self.source('./' + path)}: a path starts at the root of the repository"
        return error

    def _inside(self, folder: TreeEntry) -> Mapping[str, TreeEntry]:
        is_object = folder.kind == "folder" and not folder.problem and isinstance(folder.content, str)
        return self._objects.folder(cast("str", folder.content)) if is_object else super()._inside(folder)

    def _content(self, entry: TreeEntry, limit: int) -> bytes:
        return self._objects.read(cast("str", entry.content), limit)


class Objects:
    """Contents of git's objects by their ids, from one process that is asked for one after the other."""

    def __init__(self) -> None:
        """Start the process when the first object is asked for."""
        self._process: subprocess.Popen[bytes] | None = None

    def read(self, object_id: str, limit: int) -> bytes:
        """Read an object, and no more of it than the limit and one byte. Raises OSError if it is not here."""
        process = self._process = self._process or _started("cat-file", "--batch")
        to_git, from_git = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
        header, data, size = list[bytes](), b"", 0
        with suppress(BrokenPipeError):
            to_git.write(f"{object_id}\n".encode())
            to_git.flush()
            header = from_git.readline().split()
        if header and len(header) != _HEADER:
            raise OSError(errno.EIO, "its content is not in this clone of the repository")
        if header:
            size = int(header[2])
            # A line break follows the content.
            data = from_git.read(min(size, limit) + 1)
        if len(data) <= min(size, limit):
            self.close()
            raise OSError(errno.EIO, "git gave up on it: see `git fsck`")
        if size > limit:
            # The rest of it would stand before the next answer.
            self.close()
        return data[:size]

    @cached_method
    def folder(self, object_id: str) -> dict[str, TreeEntry]:
        """Read the entries of a folder. Raises OSError if it is not here, or is none."""
        try:
            return _entries(self.read(object_id, _MAX_FOLDER_SIZE), len(object_id) // 2)
        except (OSError, ValueError):
            raise OSError(
                errno.EIO, "git cannot list it: it is not in this clone, or damaged: see `git fsck`"
            ) from None

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process:
            process.kill()
            process.communicate()


def time_of(date: str) -> str:
    """Return a time as git stores it (`1767225600 +0100`) as ISO 8601 writes it; empty for what is no time."""
    seconds, _, zone = date.partition(" ")
    try:
        return datetime.fromtimestamp(int(seconds), datetime.strptime(zone, "%z").tzinfo).isoformat()
    except (ValueError, OverflowError, OSError):
        return ""


def _entries(data: bytes, id_size: int) -> dict[str, TreeEntry]:
    """Parse a tree object: mode, name and id of each entry. Raises ValueError for anything else."""
    entries: dict[str, TreeEntry] = {}
    end = 0
    for match in re.finditer(rb"([0-7]{5,6}) ([^\0]+)\0(.{%d})" % id_size, data, re.DOTALL):
        if match.start() != end:
            break
        end, name = match.end(), _text(match[2])
        # A damaged folder may have a path where a name should be.
        if "/" not in name and name not in {".", ".."}:
            entries[name] = _entry(match[1].decode(), match[3].hex())
    if end != len(data):
        raise ValueError
    return entries


def _entry(mode: str, object_id: str, *, is_unmerged: bool = False) -> TreeEntry:
    if mode.lstrip("0") == _FOLDER:
        return TreeEntry("folder", object_id)
    if mode == _SUBMODULE:
        return TreeEntry("folder", object_id, "a submodule, and its files are in another repository")
    problem = "in conflict: resolve it, and `git add` it" if is_unmerged else ""
    return TreeEntry("link" if mode == _LINK and not is_unmerged else "file", object_id, problem)


def _index() -> TreeEntry:
    """Return the index as a folder; it is empty without a repository."""
    top: dict[str, TreeEntry] = {}
    lines = filter(None, ask("ls-files", "--stage", "-z", "--full-name", "--", ":/").out.split("\0"))
    # Of a file and a folder of one name, which a conflict may leave, the folder is made first and remains.
    for line in sorted(lines, key=lambda line: -line.count("/")):
        about, _, path = line.partition("\t")
        mode, object_id, stage = about.split(" ")
        *folders, name = path.split("/")
        # Entries of other stages are sides of a conflict.
        folder_in(top, folders).setdefault(name, _entry(mode, object_id, is_unmerged=stage != "0"))
    return TreeEntry("folder", top)


def _check_repository(name: str) -> None:
    """Raise SourceError if there is no repository, or no such revision in it."""
    complaint = ask("rev-parse", "--git-dir").complaint
    if "not a git repository" in complaint:
        wanted = f'the revision "{name}"' if name else "the index"
        message = f"there is no git repository here to find {wanted} in"
        raise SourceError(message, "name a file or a folder that exists, or run the command inside the repository")
    if complaint:
        raise SourceError(f"git cannot be asked for revisions: {complaint}", "see what `git status` says")
    if name:
        raise SourceError(f"{name}: there is no such revision in this git repository", _nearest(name))


def _nearest(name: str) -> str:
    import difflib  # noqa: PLC0415 (only a mistake needs it)

    known = ask("for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/remotes", "refs/tags").out.split()
    near = [ref for ref in known if ref.endswith(f"/{name}")] or difflib.get_close_matches(name, known)
    if near:
        return f"did you mean {', '.join(near)}?"
    if ask("rev-parse", "--is-shallow-repository").out == "true":
        return "this is a shallow clone, without the older revisions: `git fetch --unshallow` gets them"
    return "it may be a branch, a tag or a commit: `git branch --all`, `git tag` and `git log` show them"


def _started(*arguments: str, errors: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    git = shutil.which("git")
    if git is None:
        raise SourceError(
            "git is not installed, and a revision cannot be read without it",
            "install git, or check the revision out and name the folder",
        )
    return subprocess.Popen(  # noqa: S603 (no shell, and whatever a user names stands behind --end-of-options)
        (git, *_SETTINGS, *arguments),
        env={**os.environ, **_ENVIRONMENT},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
    )


def _text(data: bytes) -> str:
    """Decode names, which may be anything; Python's file names keep what is not UTF-8 in the same way."""
    return data.decode("utf-8", "surrogateescape")
