"""What is left out of folders that are searched: by patterns that are given, and by ignore files in and above them."""

from __future__ import annotations

import os
import posixpath
import re
import stat
import warnings
from itertools import accumulate
from typing import TYPE_CHECKING, Final, TypeAlias

from kubectl_policy.errors import UsageError
from kubectl_policy.model.snapshot import LeftOut, Origin
from kubectl_policy.model.values import cached_property

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pathspec import GitIgnoreSpec

OWN_FILE: Final = ".kubectl-policyignore"
# Where both say something, the later one counts, wherever they are.
IGNORE_FILES: Final = (".gitignore", OWN_FILE)
# No ignore file comes near these: what is beyond them does not count.
_MAX_SIZE: Final = 2**18
_MAX_PATTERNS: Final = 5_000
# Matching takes as many steps as a name has letters, to the power of the number of wildcards in it.
_MAX_WILDCARDS: Final = 3
_MAX_LENGTH: Final = 1000


class _Rule:
    """The patterns of a file, or of the command line, for what is below the folder at a place."""

    def __init__(self, folder: str, lines: Sequence[str]) -> None:
        """Compile nothing before a place comes that a pattern may match."""
        self._start, self._lines = len(folder) + 1 if folder else 0, lines
        self._words = {_necessary_word(line) for line in lines}

    def says(self, place: str, *, is_folder: bool) -> bool | None:
        """Whether a file or folder is left out (True) or taken back (False); None if nothing is said of it."""
        within = place[self._start :] + ("/" if is_folder else "")
        if not any(word in within for word in self._words):
            return None
        spec = self._spec
        return spec.check_file(within).include if spec else None

    @cached_property
    def _spec(self) -> GitIgnoreSpec | None:
        return _compiled(self._lines)


_Rules: TypeAlias = "tuple[tuple[_Rule, ...], ...]"


class Exclusions:
    """What is left out: `patterns` are as in a .gitignore at the top of each folder that is searched."""

    def __init__(self, patterns: Iterable[str] = ()) -> None:
        """Raises UsageError for a pattern that git would not take."""
        patterns = tuple(patterns)
        self.left_out: dict[LeftOut, None] = {}
        for pattern in patterns:
            if not _compiled(_patterns_in([pattern])):
                raise UsageError(
                    f'"{pattern}" is not a file pattern', "write it as in a .gitignore: `--exclude tests/`"
                )
        self.given = patterns

    def on_disk(self, root: str) -> Search:
        """What is left out of a folder; patterns of ignore files above it hold up to the top of the repository."""
        folder = os.path.realpath(root)
        top = next((each for each in _upwards(folder) if os.path.lexists(posixpath.join(each, ".git"))), folder)
        lead = below(folder, top)
        return self.search(root, lead, lambda place, name: _text_at(posixpath.join(top, place, name)))

    def search(self, root: str, lead: str, text_of: Callable[[str, str], str]) -> Search:
        """What is left out of a folder called `root`, at a place below the top of a repository.

        `text_of` has the text of the file with a name in the folder at a place, empty if there is none.
        """
        whole = Search(self, root, lead, "", text_of)
        # Who names a folder wants what is in it, even if git ignores the folder.
        ways = [*accumulate(lead.split("/"), posixpath.join)] if lead else []
        return Search(self, root, lead, lead, text_of) if any(map(whole.rule_at_folder, ways)) else whole


class Search:
    """What is left out of one folder that is searched with everything below it; made by `Exclusions`."""

    def __init__(
        self, exclusions: Exclusions, root: str, lead: str, first: str, text_of: Callable[[str, str], str]
    ) -> None:
        """Ignore files count from the folder at place `first` on."""
        self._exclusions, self._root, self._lead, self._text_of = exclusions, root, lead, text_of
        self._rules: dict[str, _Rules] = {}
        self._first = first
        self._given = _Rule(lead, exclusions.given)

    def may_leave_out(self, folder: str) -> bool:
        """Whether anything says what is left out of a folder, itself, around it or in the call."""
        place = posixpath.join(self._lead, below(folder, self._root))
        return bool(self._exclusions.given) or any(self._rules_of(place.rstrip("/")))

    def leaves_out(self, path: str, *, is_folder: bool) -> bool:
        """Whether a file or a folder is left out, which is noted; what is left out around it was asked before."""
        place = posixpath.join(self._lead, below(path, self._root))
        what = self._why(place, is_folder=is_folder)
        if what:
            self._exclusions.left_out[LeftOut(f"{what} {'folder' if is_folder else 'file'}", Origin(path))] = None
        return bool(what)

    def leaves_out_on_the_way(self, path: str, *, is_folder: bool) -> bool:
        """Whether a file or folder, or any folder on the way to it, is left out, which is noted."""
        place = posixpath.normpath(below(path, self._root))
        if place == "." or place.partition("/")[0] == "..":
            return False
        *folders, last = accumulate(place.split("/"), posixpath.join)
        inside = [posixpath.join(self._root, folder) for folder in folders]
        return any(self.leaves_out(folder, is_folder=True) for folder in inside) or self.leaves_out(
            posixpath.join(self._root, last), is_folder=is_folder
        )

    def rule_at_folder(self, place: str) -> bool:
        """Whether ignore files leave out the folder at a place."""
        return self._by_files(place, is_folder=True)

    def _why(self, place: str, *, is_folder: bool) -> str:
        given = self._given.says(place, is_folder=is_folder)
        if given is not None:
            return "excluded" if given else ""
        return "ignored" if self._by_files(place, is_folder=is_folder) else ""

    def _by_files(self, place: str, *, is_folder: bool) -> bool:
        for rules in reversed(self._rules_of(posixpath.dirname(place))):
            for rule in reversed(rules):
                said = rule.says(place, is_folder=is_folder)
                if said is not None:
                    return said
        return False

    def _rules_of(self, place: str) -> _Rules:
        """The rules for what is in the folder at a place: of each kind of ignore file, the outer ones first."""
        if place not in self._rules:
            outer: _Rules = ((),) * len(IGNORE_FILES)
            if place != self._first:
                outer = self._rules_of(posixpath.dirname(place))
            texts = (self._text_of(place, name)[:_MAX_SIZE] for name in IGNORE_FILES)
            found = (_patterns_in(text.splitlines()) for text in texts)
            self._rules[place] = tuple(
                (*rules, _Rule(place, lines)) if lines else rules for rules, lines in zip(outer, found, strict=True)
            )
        return self._rules[place]


def below(path: str, folder: str) -> str:
    """The place of a file below a folder, from the path that starts with that of the folder."""
    return path if folder in {"", "."} else path[len(folder) :].lstrip("/")


def _upwards(folder: str) -> list[str]:
    from pathlib import Path  # noqa: PLC0415 (a file that is named is read without it)

    return [folder, *map(str, Path(folder).parents)]


def _text_at(path: str) -> str:
    """The text of an ignore file; empty if there is none that can be read."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116 (a Path takes longer, and this is asked of each folder)
            return ""
        with open(path, "rb") as file:  # noqa: PTH123 (see above)
            return file.read(_MAX_SIZE).decode("utf-8-sig", "replace")
    except (OSError, ValueError):
        return ""


def _patterns_in(lines: Iterable[str]) -> list[str]:
    """The lines of an ignore file that may be patterns and do not take too long to match."""
    return [line for line in lines if line.strip() and not line.startswith("#") and not _is_costly(line)][
        :_MAX_PATTERNS
    ]


def _is_costly(line: str) -> bool:
    wildcards = max(line.count("**"), *(len(re.findall(r"\*+", name)) for name in line.split("/")))
    return len(line) > _MAX_LENGTH or wildcards > _MAX_WILDCARDS


def _necessary_word(pattern: str) -> str:
    """Letters without which no place matches a pattern; none if that is hard to tell."""
    if re.search(r"[\\\[\]]", pattern):
        return ""
    return max(re.split(r"[*?/]", pattern.removeprefix("!").rstrip()), key=len)


def _compiled(lines: Iterable[str]) -> GitIgnoreSpec | None:
    """What patterns leave out; git ignores lines that are no patterns as well."""
    # It takes as long to import as a small question does to answer, and many folders have no such file.
    from pathspec import GitIgnoreSpec  # noqa: PLC0415 (see above)
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern  # noqa: PLC0415 (see above)

    patterns: list[GitIgnoreSpecPattern] = []
    with warnings.catch_warnings():
        # Of regular expressions that patterns with odd brackets become.
        warnings.simplefilter("ignore", FutureWarning)
        for line in lines:
            try:
                patterns.append(GitIgnoreSpecPattern(line))
            except (ValueError, re.error):
                continue
    counting = [pattern for pattern in patterns if pattern.include is not None]
    return GitIgnoreSpec(counting) if counting else None
