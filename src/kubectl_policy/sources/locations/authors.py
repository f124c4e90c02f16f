"""Authors of the lines of files, by `git blame` of what is committed; other lines are marked as not committed."""

from __future__ import annotations

import os
import re
from difflib import Match, SequenceMatcher
from typing import TYPE_CHECKING, Final

from kubectl_policy.errors import SourceError
from kubectl_policy.lazy import cached_method
from kubectl_policy.model.authorship import NOT_COMMITTED, Authorship
from kubectl_policy.sources.files import git
from kubectl_policy.sources.files.archives import archive_and_path
from kubectl_policy.sources.files.decoding import decoded
from kubectl_policy.sources.files.git import revision_and_path
from kubectl_policy.sources.files.tree import STDIN
from kubectl_policy.sources.locations.lines import text_at
from kubectl_policy.text import DocumentError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy.model import Origin

_HEADER: Final = re.compile(r"([0-9a-f]{40,64}) [0-9]+ ([0-9]+)(?: [0-9]+)?")
# The repository's own configuration may name a program that makes of a file what people see of it (textconv).
_BLAME: Final = ("blame", "--porcelain", "--no-textconv")


class Authors:
    """Authors of the lines of files, each of which git is asked about once."""

    def __init__(self) -> None:
        """Ask nothing yet."""
        # Reasons for which authors are not known, in the order in which they were met.
        self.complaints: dict[str, None] = {}

    def of(self, origin: Origin) -> Authorship | None:
        """Return the author of a line of a file, or of `REV:PATH`; None if it is unknown."""
        lines = self._read(origin.source)
        return lines[origin.line - 1] if 0 < origin.line <= len(lines) else None

    @cached_method
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
        committed = git.ask(*folder, "cat-file", "blob", blob)
        if git.ask(*folder, "rev-parse", "--is-shallow-repository").out == "true":
            self.complaints["this is a shallow clone: lines that are older count as its first commit's"] = None
        blamed = git.ask(*folder, *_BLAME, commit, "--", path)
        if complaint := committed.complaint or blamed.complaint:
            raise ValueError(complaint)
        authors = dict(_parsed(blamed.out))
        old, new = (
            [line.rstrip("\r") for line in version]
            for version in (decoded(committed.out.encode("utf-8", "surrogateescape")).split("\n"), lines)
        )
        result = [NOT_COMMITTED] * len(lines)
        blocks = [Match(0, 0, len(new))] if old == new else SequenceMatcher(None, old, new).get_matching_blocks()
        for block in blocks:
            for offset in range(block.size):
                result[block.b + offset] = authors.get(block.a + offset + 1, NOT_COMMITTED)
        return result


def _parsed(blamed: str) -> Iterator[tuple[int, Authorship]]:
    """Yield line numbers (from 1) with their authors; a commit is described once."""
    commits: dict[str, dict[str, str]] = {}
    commit, number = "", 0
    for line in blamed.split("\n"):
        if line.startswith("\t"):
            fields = commits[commit]
            when = git.time_of(f"{fields.get('author-time')} {fields.get('author-tz')}")
            yield number, Authorship(who=fields.get("author", ""), when=when, commit=commit)
        elif header := _HEADER.fullmatch(line):
            commit, number = header[1], int(header[2])
            commits.setdefault(commit, {})
        else:
            key, _, value = line.partition(" ")
            commits[commit][key] = value
