"""The kubeconfig as kubectl reads it: which files, what of them counts, and checked values in them.

The kubernetes package reads kubeconfigs as well, but lets the last file choose the context, refuses empty files, checks
no types, and knows none of kubectl's flags.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NoReturn

from kubectl_policy.errors import ClusterError, UsageError
from kubectl_policy.model.values import value

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from kubectl_policy.model import Json

# A thousand clusters with their certificates take a tenth of it.
_MAX_SIZE: Final = 16 * 2**20
_MAX_SHOWN: Final = 10
_MAX_NAME: Final = 253
_NO_FLAGS: Final[Mapping[str, str]] = MappingProxyType({})
_SHAPE: Final = "compare it with what `kubectl config view` prints"


@value()
class Entry:
    """A mapping in a file, and where it stands: `users[baker].user`.

    What it is asked for and does not have is empty; null counts as absent. What is of another type than asked for is
    refused with a `ClusterError` that names the file and the place. `flags` has those that replaced a value.
    """

    file: str
    place: str
    members: Mapping[str, Json]
    flags: Mapping[str, str] = _NO_FLAGS

    def text(self, key: str) -> str:
        """The text at a key, "" if there is none."""
        found = self.members.get(key)
        return found if isinstance(found, str) else "" if found is None else self._mistyped(key, "text")

    def flag(self, key: str) -> bool:
        """The boolean at a key, false if there is none."""
        found = self.members.get(key)
        return found if isinstance(found, bool) else found is not None and self._mistyped(key, "true or false")

    def texts(self, key: str) -> tuple[str, ...]:
        """The list of texts at a key."""
        found = self._list(key)
        texts = tuple(each for each in found if isinstance(each, str))
        return texts if len(texts) == len(found) else self._mistyped(key, "a list of texts")

    def inner(self, key: str) -> Entry | None:
        """The mapping at a key, None if there is none."""
        found = self.members.get(key)
        if found is None:
            return None
        if not isinstance(found, Mapping):
            self._mistyped(key, "a mapping")
        return Entry(self.file, self._at(key), found)

    def entries(self, key: str) -> tuple[Entry, ...]:
        """The mappings in the list at a key."""
        return tuple(
            Entry(self.file, f"{self._at(key)}[{index}]", each)
            if isinstance(each, Mapping)
            else self._mistyped(key, "a list of mappings")
            for index, each in enumerate(self._list(key))
        )

    def path(self, key: str) -> str:
        """The path at a key, "" if there is none; a relative one in a file starts in the folder of that."""
        path = self.text(key)
        if key in self.flags:
            return path
        return os.path.join(os.path.dirname(os.path.abspath(self.file)), path) if path else ""  # noqa: PTH100, PTH118, PTH120 (pathlib is slow to import)

    def replaced(self, given: Mapping[str, tuple[str, Json]], without: Collection[str] = ()) -> Entry:
        """The entry with the values that flags give to keys, where they give any, and without what these rule out."""
        new = {key: (flag, found) for key, (flag, found) in given.items() if found or found is False}
        kept = {key: found for key, found in self.members.items() if key not in without}
        members = {**kept, **{key: found for key, (_, found) in new.items()}}
        return Entry(self.file, self.place, members, {key: flag for key, (flag, _) in new.items()})

    def refuse(self, key: str, message: str, hint: str = "") -> NoReturn:
        """Raise `ClusterError` for what is at a key, "" for the entry itself; `UsageError` if a flag gave it."""
        if key in self.flags:
            raise UsageError(f"{self.flags[key]}: {message}", hint)
        raise ClusterError(f"{self.where(key)}: {message}", hint)

    def where(self, key: str) -> str:
        """What a message about the value at a key begins with."""
        return self.flags.get(key) or ": ".join(filter(None, (self.file, self._at(key))))

    def _list(self, key: str) -> Sequence[Json]:
        found = self.members.get(key)
        if found is None:
            return ()
        return found if isinstance(found, Sequence) and not isinstance(found, str) else self._mistyped(key, "a list")

    def _mistyped(self, key: str, wanted: str) -> NoReturn:
        self.refuse(key, f"it has to be {wanted}", _SHAPE)

    def _at(self, key: str) -> str:
        return f"{self.place}.{key}" if self.place and key else self.place or key


@value(kw_only=True)
class Kubeconfig:
    """All files together: the first one that has a context, cluster or user of a name says what it is.

    `current` is the name of the context that the first file chooses that chooses any. `looked_for` are the paths of all
    files that would have counted, `files` those that are there and hold anything.
    """

    looked_for: tuple[str, ...]
    files: tuple[str, ...]
    current: str
    contexts: Mapping[str, Entry]
    clusters: Mapping[str, Entry]
    users: Mapping[str, Entry]


def kubeconfig(explicit: str) -> Kubeconfig:
    """The kubeconfig in the file that --kubeconfig names, or in those of $KUBECONFIG, or in ~/.kube/config.

    Files that are not there or hold nothing do not count, as in kubectl, but the named one has to be there. Raises
    `ClusterError` for a file that cannot be read or is no kubeconfig.
    """
    listed = os.environ.get("KUBECONFIG", "")
    paths = tuple(dict.fromkeys(path for path in listed.split(os.pathsep) if path)) if listed else (in_home("config"),)
    looked_for = (explicit,) if explicit else paths
    files = [file for path in looked_for if (file := _file(path, is_needed=bool(explicit)))]
    return Kubeconfig(
        looked_for=looked_for,
        files=tuple(file.file for file in files),
        current=next(filter(None, (file.text("current-context") for file in files)), ""),
        contexts=_first(files, "contexts", "context"),
        clusters=_first(files, "clusters", "cluster"),
        users=_first(files, "users", "user"),
    )


def in_home(name: str) -> str:
    """The path of a file in ~/.kube, where kubectl has what is of one person."""
    return os.path.join(os.path.expanduser("~"), ".kube", name)  # noqa: PTH111, PTH118 (pathlib is slow to import)


def one_of(entries: Mapping[str, Entry], name: str, what: str, files: Sequence[str]) -> Entry:
    """The entry of that name. Raises `ClusterError`, with a hint at the names that are near it, if there is none."""
    if name not in entries:
        where = ", ".join(files) or "the kubeconfig, as there is none"
        raise ClusterError(f"there is no {what} {name} in {where}", _nearest(name, entries, what))
    return entries[name]


def names_of(entries: Iterable[str]) -> str:
    """Names for a hint: all of them if they are few."""
    names = [name if len(name) <= _MAX_NAME else f"{name[:_MAX_NAME]}..." for name in entries]
    return ", ".join(names[:_MAX_SHOWN]) + (f" and {len(names) - _MAX_SHOWN} more" if len(names) > _MAX_SHOWN else "")


def content(path: str, subject: str, limit: int = _MAX_SIZE) -> bytes:
    """The bytes of a file. Raises `ClusterError`, which begins with the subject, where it cannot be read."""
    try:
        # What is named may be a pipe, as of `--kubeconfig <(...)`, so that nothing is asked of it but its content.
        with open(path, "rb") as file:  # noqa: PTH123 (see above)
            found = file.read(limit + 1)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        raise ClusterError(
            f"{subject}: {path} cannot be read: {reason}", "check the path and its permissions"
        ) from None
    if len(found) > limit:
        raise ClusterError(f"{subject}: {path} is larger than {limit >> 10} KiB", "check that it is the right file")
    return found


def documents(path: str, subject: str) -> Iterator[Entry]:
    """The mappings in a file of YAML or JSON; documents that hold nothing are left out.

    Raises `ClusterError`, which begins with the subject, for a file that cannot be read or holds something else.
    """
    from kubectl_policy.text import DocumentError  # noqa: PLC0415 (in a pod, nothing is read)
    from kubectl_policy.text.yaml_reader import YamlReader  # noqa: PLC0415 (see above)

    try:
        for each in YamlReader().read(content(path, subject).decode()):
            if isinstance(each.value, Mapping):
                yield Entry(path, "", each.value)
            elif each.value is not None:
                raise ClusterError(f"{subject}: {path}:{each.line} holds something else than a mapping", _SHAPE)
    except UnicodeDecodeError:
        raise ClusterError(f"{subject}: {path} is no text", _SHAPE) from None
    except DocumentError as error:
        line = error.problem.line
        raise ClusterError(f"{subject}: {path}:{line} is no YAML: {error.problem.message}", _SHAPE) from None


def _file(path: str, *, is_needed: bool) -> Entry | None:
    if not is_needed and not os.path.lexists(path):
        return None
    # As kubectl does, only the first document is read.
    found = next(documents(path, "kubeconfig"), None)
    if found and (found.text("kind") not in ("", "Config") or found.text("apiVersion") not in ("", "v1")):
        found.refuse("kind", "a kubeconfig is a Config of version v1", _SHAPE)
    return found


def _first(files: Iterable[Entry], key: str, member: str) -> Mapping[str, Entry]:
    """The entries of each name, from the first file that has one."""
    first: dict[str, Entry] = {}
    for file in files:
        own: dict[str, Entry] = {}
        for named in file.entries(key):
            name = named.text("name")
            if name in own:
                file.refuse(key, f"the name {name} is there twice", "rename one of them, or remove it")
            inner = named.inner(member) or Entry(file.file, "", {})
            own[name] = Entry(file.file, f"{key}[{name}].{member}", inner.members)
        first = {**first, **{name: each for name, each in own.items() if name not in first}}
    return first


def _nearest(name: str, known: Mapping[str, Entry], what: str) -> str:
    import difflib  # noqa: PLC0415 (only a mistake needs it)

    if not known:
        return "`kubectl config view` shows what there is"
    # What is longer was not made by a person, and takes long to compare.
    near = difflib.get_close_matches(name, (each for each in known if len(each) <= _MAX_NAME), n=3, cutoff=0.5)
    return f"did you mean {' or '.join(near)}?" if near else f"each {what} there is: {names_of(known)}"
