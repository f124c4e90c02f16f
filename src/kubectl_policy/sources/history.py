"""The states that manifests had in git: after each commit that changed them, newest first, each read when asked for."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from kubectl_policy.errors import SourceError, UsageError
from kubectl_policy.model.authorship import Commit
from kubectl_policy.model.values import value
from kubectl_policy.sources import git
from kubectl_policy.sources.assembling import Input, snapshot_of
from kubectl_policy.sources.exclusion import Exclusions
from kubectl_policy.sources.files import Files
from kubectl_policy.sources.manifests import load_manifests
from kubectl_policy.sources.options import AS_IT_IS
from kubectl_policy.sources.revisions import open_revision

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_policy.model import Snapshot
    from kubectl_policy.sources.files import InputFile
    from kubectl_policy.sources.options import InputOptions

# Of what a commit says only its beginning matters here.
_MAX_COMMIT: Final = 2**20
_AUTHOR: Final = re.compile(r"author (.*?) ?<[^>]*> ([0-9]+) ([+-][0-9]{4})")
# By so many letters of its id a commit is called in the names of its files: as many as tell those of large ones apart.
_SHORT: Final = 12


@value(kw_only=True)
class State:
    """What manifests were after a commit; without one, what they are on disk.

    The snapshot is None where there was no manifest. Before the first state there was none; what there was before one
    that `is_cut` off is not in this clone of the repository. There are so many in `total`.
    """

    commit: Commit | None
    snapshot: Snapshot | None
    is_first: bool = False
    is_cut: bool = False
    total: int = 1


def states(paths: Sequence[str], *, options: InputOptions = AS_IT_IS) -> Iterator[State]:
    """What files and folders are on disk, and what they were after each commit on this branch that changed them.

    What came by a merge counts when it was merged. Raises SourceError where the paths are not in the git repository in
    which one asks, and UsageError for what has no history.
    """
    if options.render:
        raise UsageError("history reads manifests as they are written", "leave out --render")
    if "-" in paths:
        raise UsageError("standard input has no history", "name files or folders in a git repository")
    on_disk = load_manifests(paths, options=options)
    places = _places(paths)
    commits = _commits(places)
    total = len(commits) + 1
    yield State(commit=None, snapshot=on_disk, is_first=not commits, total=total)
    cut = git.ask("rev-parse", "--is-shallow-repository").out == "true"
    known: tuple[object, Snapshot | None] = (None, None)
    with git.Objects() as objects:
        for number, commit in enumerate(commits, 1):
            known = _read(commit, places, options, known)
            last = number == len(commits)
            about = commit_of(commit, objects.read(commit, _MAX_COMMIT))
            yield State(commit=about, snapshot=known[1], is_first=last and not cut, is_cut=last and cut, total=total)


def _places(paths: Sequence[str]) -> list[str]:
    """Where paths are, from the root of the repository."""
    found = git.ask("rev-parse", "--show-toplevel")
    if found.complaint:
        hint = "ask from inside of the repository that the manifests are in"
        raise SourceError(f"there is no history to be read here: {found.complaint}", hint)
    top = os.path.realpath(found.out)
    places: list[str] = []
    for path in paths:
        place = os.path.relpath(os.path.realpath(path), top)
        if place.partition(os.sep)[0] == os.pardir or not os.path.exists(path):  # noqa: PTH110 (see load_state)
            message = f"{path} is not a file or folder in the git repository {top}"
            raise SourceError(message, "ask from inside of the repository, and name what is in it")
        places.append("" if place == os.curdir else place)
    return places


def _commits(places: Sequence[str]) -> list[str]:
    """The ids of the commits that changed something there, the newest first."""
    specs = [f":(top,literal){place}" if place else ":(top)" for place in places]
    return git.ask("rev-list", "--first-parent", "HEAD", "--", *specs).out.split()


def _read(
    commit: str, places: Sequence[str], options: InputOptions, known: tuple[object, Snapshot | None]
) -> tuple[object, Snapshot | None]:
    """The manifests after a commit, with what tells whether they differ; what is known, if they do not."""
    name = commit[:_SHORT]
    with open_revision(name) as revision:
        exclusions = Exclusions(options.exclude)
        found: list[InputFile] = []
        for place in places:
            # What was not there yet, or held no manifest, is nothing.
            with suppress(SourceError):
                found += revision.find(place, exclusions)
        key: list[tuple[str, str]] = []
        for file in found:
            place = revision.place(file.path) or ""
            with suppress(OSError):
                key.append((place, revision.entry(place).object_id))
        if key == known[0]:
            return known
        files = Files(found=found, text_of=revision.read_text, left_out=exclusions.left_out, revision=f"{name}:")
        try:
            return key, snapshot_of(Input(files=files), options) if found else None
        except SourceError:
            return key, None


def commit_of(commit: str, data: bytes) -> Commit:
    """What git stores of a commit, as a value; whatever is in it."""
    headers, _, message = data.decode("utf-8", "replace").partition("\n\n")
    author = next(filter(None, map(_AUTHOR.match, headers.split("\n"))), None)
    return Commit(
        id=commit,
        who=author[1] if author else "",
        when=git.time_of(author[2], author[3]) if author else "",
        subject=message.strip().partition("\n")[0],
    )
