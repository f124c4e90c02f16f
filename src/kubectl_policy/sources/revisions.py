"""Revisions of a git repository, and its index, as folders and files: which manifests are meant, and their text."""

from __future__ import annotations

import errno
import os
import posixpath
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from kubectl_policy.errors import NothingThereError, SourceError
from kubectl_policy.sources import files, git
from kubectl_policy.sources.exclusion import OWN_FILE, Exclusions
from kubectl_policy.sources.files import InputFile, is_manifest, nothing_in, reason_of
from kubectl_policy.sources.git import FOLDER, UNMERGED, Entry
from kubectl_policy.text import DocumentError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping

    from kubectl_policy.sources.exclusion import Search

# Folders in git may contain themselves over and over, so that ten objects make up ten billion files.
MAX_ENTRIES: Final = 1_000_000

_LINK: Final = "120000"
_SUBMODULE: Final = "160000"
# As many links, and as long a path in one, as Linux follows.
_MAX_LINKS: Final = 40
_MAX_LINK_SIZE: Final = 4096
_OUTSIDE: Final = "a link that leads out of the repository"


class _ConflictError(OSError):
    """A file has several contents."""


def revision_and_path(word: str) -> tuple[str, str] | None:
    """The two parts of `REV:PATH`, cut where git cuts, at the first colon outside of braces; None of anything else.

    The index has the empty name (`:PATH`). `C:/PATH` is no revision.
    """
    depth = 0
    for position, character in enumerate(word):
        if character == ":" and not depth:
            name, path = word[:position], word[position + 1 :]
            is_drive = len(name) == 1 and path.startswith(("/", "\\"))
            return None if is_drive else (name, path)
        depth = max(depth + (character == "{") - (character == "}"), 0)
    return None


@contextmanager
def open_revision(name: str) -> Generator[Revision]:
    """A revision, or the index if the name is empty. Raises SourceError where git knows of none."""
    tree = git.tree_of(name) if name else ""
    if not tree:
        _check_repository(name)
    with git.Objects() as objects:
        yield Revision(name, objects, tree)


def read_revision(source: str) -> str:
    """The text of the file that `REV:PATH` names; raises SourceError, and as `Revision.read_text`."""
    parts = revision_and_path(source)
    if parts is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    with open_revision(parts[0]) as revision:
        return revision.read_text(source)


class Revision:
    """The files of one revision; open it with `open_revision`."""

    def __init__(self, name: str, objects: git.Objects, tree: str) -> None:
        """The revision with that name and tree; without a tree, the index."""
        self._name, self._objects = name, objects
        self._root = Entry(FOLDER, tree)
        self._in_index = not tree
        self._folders: dict[str, dict[str, Entry]] = {} if tree else _by_folder("", git.staged())

    def find(self, path: str, exclusions: Exclusions | None = None) -> list[InputFile]:
        """The manifests that are meant, as `find_files` has them: a named file, all manifests in a folder.

        A path starts at the root of the repository or, with `./` or `../`, at the current directory. Raises SourceError
        for one that names nothing or cannot be read.
        """
        place = self._from_root(path)
        source = self._source(place)
        try:
            _, entry = self._resolve(place)
        except FileNotFoundError:
            raise self._not_there(place) from None
        except OSError as error:
            raise SourceError(f"{source}: {reason_of(error)}", "name other files, or a folder on disk") from None
        if entry.mode != FOLDER:
            return [InputFile(source)]
        exclusions = exclusions or Exclusions()
        search = exclusions.search(self._source(place), place, self._own_ignore_file)
        manifests = list(self._manifests_under(place, entry, search))
        if not manifests:
            raise nothing_in(self._folder(place), left_out=bool(exclusions.left_out))
        return manifests

    def read_text(self, source: str) -> str:
        """The text of a file that `find` found; raises OSError and DocumentError."""
        _, entry = self._resolve(source.removeprefix(f"{self._name}:"))
        return files.decoded(self._objects.read(entry.object_id, files.MAX_FILE_SIZE))

    def entry(self, path: str) -> Entry:
        """What a path from the root of the repository leads to; raises OSError."""
        return self._resolve(path)[1]

    def names(self, folder: str) -> list[str]:
        """What is in a folder; raises OSError."""
        return list(self._entries(self.entry(folder)))

    def read(self, path: str, limit: int) -> bytes:
        """The content of a file, and no more of it than the limit and one byte; raises OSError."""
        entry = self.entry(path)
        if entry.mode == FOLDER:
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        return self._objects.read(entry.object_id, limit)

    def source(self, path: str) -> str:
        """How messages call what is at a path."""
        return self._source(path)

    def place(self, source: str) -> str | None:
        """The path of a file that is called that; None if it is not in this revision."""
        prefix = f"{self._name}:"
        return source.removeprefix(prefix) if source.startswith(prefix) else None

    @property
    def here(self) -> str:
        """The path of the current directory, with a slash at its end; empty for the root of the repository."""
        return git.ask("rev-parse", "--show-prefix").out

    def _source(self, path: str) -> str:
        return f"{self._name}:{path}"

    def _folder(self, path: str) -> str:
        """A folder as messages call it: the root of a repository is called as the revision is."""
        return self._source(path) if path else self._name or "the index"

    def _from_root(self, path: str) -> str:
        relative = path in {".", ".."} or path.startswith(("./", "../"))
        whole = self.here + path if relative else path.strip("/")
        place = posixpath.normpath(whole or ".")
        if place.partition("/")[0] == "..":
            message = f"{self._source(path)}: there is nothing above the root of the repository"
            raise SourceError(message, "a path starts at the root, or with ./ at the current directory")
        return "" if place == "." else place

    def _own_ignore_file(self, place: str, name: str) -> str:
        """Its text; what git ignores is on disk alone, so that a .gitignore says nothing of a revision."""
        if name != OWN_FILE:
            return ""
        with suppress(OSError, DocumentError):
            return self.read_text(self._source(posixpath.join(place, name)))
        return ""

    def _manifests_under(self, top: str, folder: Entry, search: Search) -> Iterator[InputFile]:
        """The manifests in a folder, in the order in which they are read from a disk; each folder is searched once."""
        rest, seen, entries, root = [top], set[str](), 0, self._source(top)
        message = f"{self._folder(top)}: more than {MAX_ENTRIES:,} files and folders"
        too_many = SourceError(message, "name a folder in it")
        if not self._in_index and not self._list_all(folder.object_id):
            raise too_many
        while rest:
            path = rest.pop()
            entries += 1
            if entries > MAX_ENTRIES:
                raise too_many
            wanted = is_manifest(posixpath.basename(path))
            try:
                place, entry = self._resolve(path)
                inside = list(self._entries(entry)) if entry.mode == FOLDER else []
            except OSError as error:
                # What is not a file only matters if it looks like a manifest; whatever else is closed may hold some.
                if wanted or not isinstance(error, FileNotFoundError | _ConflictError):
                    yield InputFile(self._source(path), reason_of(error), root)
                continue
            is_folder = entry.mode == FOLDER
            if (is_folder or wanted) and path != top and search.leaves_out(self._source(path), is_folder=is_folder):
                continue
            if is_folder and place not in seen:
                seen.add(place)
                names = sorted((name for name in inside if not name.startswith(".")), reverse=True)
                rest.extend(posixpath.join(path, name) for name in names)
            elif not is_folder and wanted:
                yield InputFile(self._source(path), root=root)

    def _resolve(self, path: str) -> tuple[str, Entry]:
        """The place to which a path leads, and what is there, following links as a file system does; raises OSError."""
        rest = list(reversed(path.split("/")))
        way = [("", self._root)]
        links = 0
        while rest:
            name = rest.pop()
            entry = self._entries(way[-1][1]).get(name)
            if name in {"", "."}:
                continue
            if name == "..":
                way.pop()
                if not way:
                    raise OSError(errno.EXDEV, _OUTSIDE)
            elif entry is None:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
            elif entry.mode == _LINK:
                links += 1
                if links > _MAX_LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
                rest.extend(reversed(self._target(entry).split("/")))
            else:
                way.append((posixpath.join(way[-1][0], name), entry))
        place, entry = way[-1]
        _check(entry)
        return place, entry

    def _target(self, link: Entry) -> str:
        """Where a link leads from the folder that it is in; raises OSError if that is from the root of a disk."""
        data = self._objects.read(link.object_id, _MAX_LINK_SIZE)
        if len(data) > _MAX_LINK_SIZE:
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
        target = data.decode("utf-8", "surrogateescape")
        if target.startswith("/"):
            raise OSError(errno.EXDEV, _OUTSIDE)
        return target

    def _entries(self, folder: Entry) -> Mapping[str, Entry]:
        """What is in a folder; raises OSError if it is none, or cannot be read."""
        _check(folder)
        if folder.mode != FOLDER:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        if folder.object_id not in self._folders:
            listed = git.listed(folder.object_id, limit=MAX_ENTRIES)
            if listed is None:
                raise OSError(errno.EIO, "git cannot list it: it is not in this clone, or damaged: see `git fsck`")
            self._folders[folder.object_id] = dict(listed)
        return self._folders[folder.object_id]

    def _list_all(self, tree: str) -> bool:
        """List a folder with all that is below it, by one command; False if that is too much.

        Where git gives up on one of the folders, each is listed when it comes to it.
        """
        listed = git.listed(tree, "-r", "-t", limit=MAX_ENTRIES)
        if listed is not None and len(listed) > MAX_ENTRIES:
            return False
        if listed is not None:
            self._folders.update(_by_folder(tree, listed))
        return True

    def _not_there(self, path: str) -> NothingThereError:
        where = self._name or "the index"
        prefix, top = git.ask("rev-parse", "--show-prefix").out, git.ask("rev-parse", "--show-toplevel").out
        hint = "a path starts at the root of the repository, or with ./ at the current directory"
        if top and os.path.lexists(posixpath.join(top, path)):
            hint = f"it is on disk, but not in {where}: name the file or folder itself, or add it to git"
        if prefix:
            with suppress(OSError):
                self._resolve(prefix + path)
                hint = f"write {self._source('./' + path)}: a path starts at the root of the repository"
        return NothingThereError(f"{self._source(path)}: there is no such file or folder in {where}", hint)


def _check(entry: Entry) -> None:
    """Raise OSError for what is in the repository, but not as a file or a folder."""
    if entry.mode == UNMERGED:
        raise _ConflictError(errno.EBUSY, "in conflict: resolve it, and `git add` it")
    if entry.mode == _SUBMODULE:
        raise OSError(errno.EXDEV, "a submodule, and its files are in another repository")


def _by_folder(top: str, listed: Iterable[tuple[str, Entry]]) -> dict[str, dict[str, Entry]]:
    """What is in each folder, by the ids of the folders; each of them comes before what is in it."""
    ids = {"": top}
    folders: dict[str, dict[str, Entry]] = {top: {}}
    for path, entry in listed:
        folder, _, name = path.rpartition("/")
        # A damaged tree may have a slash in a name.
        if folder in ids:
            folders[ids[folder]][name] = entry
        if entry.mode == FOLDER:
            ids[path] = entry.object_id
            folders.setdefault(entry.object_id, {})
    return folders


def _check_repository(name: str) -> None:
    """Raise SourceError if there is no repository, or no such revision in it."""
    complaint = git.ask("rev-parse", "--git-dir").complaint
    if "not a git repository" in complaint:
        wanted = f'the revision "{name}"' if name else "the index"
        message = f"there is no git repository here to find {wanted} in"
        raise SourceError(message, "name a file or a folder that exists, or ask from inside of the repository")
    if complaint:
        raise SourceError(f"git cannot be asked for revisions: {complaint}", "see what `git status` says")
    if name:
        raise SourceError(f"{name}: there is no such revision in this git repository", _nearest(name))


def _nearest(name: str) -> str:
    """A hint at the revision that is meant."""
    import difflib  # noqa: PLC0415 (only a mistake needs it)

    known = git.ask("for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/remotes", "refs/tags").out.split()
    near = [ref for ref in known if ref.endswith(f"/{name}")] or difflib.get_close_matches(name, known)
    if near:
        return f"did you mean {', '.join(near)}?"
    if git.ask("rev-parse", "--is-shallow-repository").out == "true":
        return "this is a shallow clone, without the older revisions: `git fetch --unshallow` gets them"
    return "it may be a branch, a tag or a commit: `git branch --all`, `git tag` and `git log` show them"
