"""Who wrote which line of a file, and when, by `git blame` of what is committed; a line that is not, says so."""

from __future__ import annotations

import os
import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final

from kubectl_policy.errors import SourceError
from kubectl_policy.model.authorship import NOT_COMMITTED, Authorship
from kubectl_policy.sources.files import git
from kubectl_policy.sources.files.archives import archive_and_path
from kubectl_policy.sources.files.decoding import decoded
from kubectl_policy.sources.files.git import revision_and_path
from kubectl_policy.sources.files.tree import STDIN
from kubectl_policy.sources.places.lines import text_at
from kubectl_policy.text import DocumentError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.model import Origin

_HEADER: Final = re.compile(r"([0-9a-f]{40,64}) [0-9]+ ([0-9]+)(?: [0-9]+)?")
# The repository's own configuration may name a program that makes of a file what people see of it (textconv).
_BLAME: Final = ("blame", "--porcelain", "--no-textconv")


class Authors:
    """Who wrote the lines of files, each of which git is asked about once."""

    def __init__(self) -> None:
        """Ask nothing yet. `complaints` are what keeps lines of files from being known, as that is found out."""
        self.complaints: dict[str, None] = {}
        self._lines: dict[str, list[Authorship]] = {}

    def of(self, origin: Origin) -> Authorship | None:
        """Who wrote a line of a file, or of `REV:PATH`; None where that cannot be told."""
        if origin.source not in self._lines:
            self._lines[origin.source] = self._read(origin.source)
        lines = self._lines[origin.source]
        return lines[origin.line - 1] if 0 < origin.line <= len(lines) else None

    def _read(self, source: str) -> list[Authorship]:
        if source == STDIN:
            self.complaints["what comes from standard input has no known author"] = None
            return []
        if archive_and_path(source):
            self.complaints["what is in an archive has no known author"] = None
            return []
        try:
            return self._of_file(source)
        except (OSError, ValueError, DocumentError, SourceError) as error:
            self.complaints[f"{source}: the authors of its lines are not known: {error}"] = None
            return []

    def _of_file(self, source: str) -> list[Authorship]:
        parts = None if os.path.exists(source) else revision_and_path(source)  # noqa: PTH110 (see load_state)
        if parts:
            revision, path = parts[0] or "HEAD", parts[1]
            top = git.ask("rev-parse", "--show-toplevel").out
            folder = ("-C", top) if top else ()
        else:
            revision = "HEAD"
            where, path = os.path.split(os.path.realpath(source))
            folder = ("-C", where)
        commit = git.ask(*folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}").out
        lines = text_at(source).split("\n")
        if not commit:
            complaint = git.ask(*folder, "rev-parse", "--git-dir").complaint
            if complaint:
                is_none = "not a git repository" in complaint
                why = "it is in no git repository" if is_none else f"git cannot be asked: {complaint}"
                self.complaints[f"the authors of {source} are not known: {why}"] = None
                return []
            return [NOT_COMMITTED] * len(lines)
        prefix = "" if parts else git.ask(*folder, "rev-parse", "--show-prefix").out
        blob = git.ask(*folder, "rev-parse", "--verify", "--quiet", f"{commit}:{prefix}{path}").out
        if not blob:
            return [NOT_COMMITTED] * len(lines)
        there = git.ask(*folder, "cat-file", "blob", blob)
        if git.ask(*folder, "rev-parse", "--is-shallow-repository").out == "true":
            self.complaints["this is a shallow clone: lines that are older count as its first commit's"] = None
        blamed = git.ask(*folder, *_BLAME, commit, "--", path)
        if complaint := there.complaint or blamed.complaint:
            raise ValueError(complaint)
        authors = dict(_parsed(blamed.out))
        committed = decoded(there.out.encode("utf-8", "surrogateescape")).split("\n")
        places = _same(committed, lines)
        return [
            authors.get(places[place] + 1, NOT_COMMITTED) if place in places else NOT_COMMITTED
            for place in range(len(lines))
        ]


def _same(committed: list[str], lines: list[str]) -> dict[int, int]:
    """By the place of a line, where it is among those that are committed."""
    old, new = ([line.rstrip("\r") for line in each] for each in (committed, lines))
    if old == new:
        return {place: place for place in range(len(new))}
    blocks = SequenceMatcher(None, old, new).get_matching_blocks()
    return {block.b + step: block.a + step for block in blocks for step in range(block.size)}


def _parsed(blamed: str) -> Iterator[tuple[int, Authorship]]:
    """The lines, from 1, with their authors: what is known of a commit is said once."""
    known: dict[str, dict[str, str]] = {}
    commit, line = "", 0
    for each in blamed.split("\n"):
        if each.startswith("\t"):
            said = known[commit]
            when = git.time_of(f"{said.get('author-time')} {said.get('author-tz')}")
            yield line, Authorship(who=said.get("author", ""), when=when, commit=commit)
        elif header := _HEADER.fullmatch(each):
            commit, line = header[1], int(header[2])
            known.setdefault(commit, {})
        else:
            key, _, value = each.partition(" ")
            known[commit][key] = value
