"""Leave files and folders out of a search: by patterns of the call, and by ignore files."""

from __future__ import annotations

import posixpath
import re
import warnings
from contextlib import suppress
from functools import cached_property
from itertools import accumulate
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from kubectl_policy.errors import UsageError
from kubectl_policy.model.snapshot import LeftOut, Origin

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pathspec import GitIgnoreSpec

    from kubectl_policy.sources.files.tree import FileTree

# No ignore file comes near these: anything beyond them does not count.
_MAX_SIZE: Final = 2**18
_MAX_PATTERNS: Final = 5_000
# Matching takes as many steps as a name has letters, to the power of the number of wildcards in it.
_MAX_WILDCARDS: Final = 3
_MAX_LENGTH: Final = 1000


class _IgnoreRule:
    """Patterns of a file, or of the command line, for the paths below one folder."""

    def __init__(self, folder: str, lines: Sequence[str], rank: int = 0) -> None:
        """Compile nothing before a path comes that a pattern may match; the rule of the highest rank decides."""
        self._start, self._lines, self.rank = len(folder) + 1 if folder else 0, lines, rank
        self._required = {_required_letters(line) for line in lines}

    def verdict(self, path: str, *, is_folder: bool) -> bool | None:
        """Whether a file or folder is left out (True) or taken back (False); None if no pattern matches."""
        within = path[self._start :] + ("/" if is_folder else "")
        if not any(letters in within for letters in self._required):
            return None
        spec = self._spec
        return spec.check_file(within).include if spec else None

    @cached_property
    def _spec(self) -> GitIgnoreSpec | None:
        return _compile(self._lines)


class Exclusions:
    """Patterns of a call for files to leave out, as in a .gitignore at the top of each folder that is searched."""

    def __init__(self, patterns: Iterable[str] = ()) -> None:
        """Keep the patterns. Raises UsageError for one that git would not take."""
        self.patterns = tuple(patterns)
        self.left_out: dict[LeftOut, None] = {}
        for pattern in self.patterns:
            if not _compile(_usable_patterns([pattern])):
                hint = "write it as in a .gitignore: `--exclude tests/`"
                raise UsageError(f'"{pattern}" is not a file pattern', hint)


class Search:
    """Search of one folder and everything below it, with the ignore files above it, up to the top of its repository."""

    def __init__(
        self, exclusions: Exclusions, tree: FileTree, folder: str, ignore_files: Sequence[str] | None = None
    ) -> None:
        """Begin with a folder that may be ignored itself: who names it wants the files in it.

        By default, all ignore files of the tree count.
        """
        real = folder
        # There is nothing to leave out of a folder that cannot be read.
        with suppress(OSError, ValueError):
            real, _ = tree.resolve(folder)
        repository = tree.repository_of(real)
        self._exclusions, self._tree, self._root = exclusions, tree, tree.source(folder)
        self._ignore_files = tree.ignore_files if ignore_files is None else ignore_files
        self._top = real if repository is None else repository
        self._lead = lead = relative_path(real, self._top).lstrip("/")
        self._rules: dict[str, tuple[_IgnoreRule, ...]] = {}
        self._patterns = _IgnoreRule(lead, exclusions.patterns)
        # Ignore files count from this folder on.
        self._first = ""
        outer = [*accumulate(lead.split("/"), posixpath.join)] if lead else []
        if any(self._is_ignored(folder, is_folder=True) for folder in outer):
            self._first = lead
            self._rules.clear()

    def may_leave_out(self, folder: str) -> bool:
        """Whether anything can be left out of a folder: by the call, or by a file in it or around it."""
        path = posixpath.join(self._lead, relative_path(folder, self._root))
        return bool(self._exclusions.patterns or self._rules_of(path.rstrip("/")))

    def leaves_out(self, source: str, *, is_folder: bool) -> bool:
        """Whether a file or a folder is left out, which is noted; the folders around it were asked for before."""
        path = posixpath.join(self._lead, relative_path(source, self._root))
        verdict = self._patterns.verdict(path, is_folder=is_folder)
        if verdict or (verdict is None and self._is_ignored(path, is_folder=is_folder)):
            reason = f"{'excluded' if verdict else 'ignored'} {'folder' if is_folder else 'file'}"
            self._exclusions.left_out[LeftOut(reason, Origin(source))] = None
            return True
        return False

    def _is_ignored(self, path: str, *, is_folder: bool) -> bool:
        """Whether ignore files leave out a file or folder, of which the last pattern that matches it decides."""
        rules = reversed(self._rules_of(posixpath.dirname(path)))
        verdicts = (rule.verdict(path, is_folder=is_folder) for rule in rules)
        return next((verdict for verdict in verdicts if verdict is not None), False)

    def _rules_of(self, folder: str) -> tuple[_IgnoreRule, ...]:
        """Return the rules for a folder: for each name of ignore files, those of the outer folders first."""
        if folder not in self._rules:
            rules = [*self._rules_of(posixpath.dirname(folder))] if folder != self._first else []
            for rank, name in enumerate(self._ignore_files):
                text = _read_ignore_file(self._tree, posixpath.join(self._top, folder, name))
                if lines := _usable_patterns(text.splitlines()):
                    rules.append(_IgnoreRule(folder, lines, rank))
            self._rules[folder] = tuple(sorted(rules, key=attrgetter("rank")))
        return self._rules[folder]


def relative_path(path: str, folder: str) -> str:
    """Return the path of a file from a folder, given one that starts with that of the folder."""
    return path if folder in {"", "."} else path[len(folder) :].lstrip("/")


def _read_ignore_file(tree: FileTree, path: str) -> str:
    """Return the text of an ignore file; empty if there is none that can be read."""
    # A pipe would keep the reader waiting.
    if tree.kind(path) != "file":
        return ""
    with suppress(OSError, ValueError):
        return tree.read(path, _MAX_SIZE).decode("utf-8-sig", "replace")[:_MAX_SIZE]
    return ""


def _usable_patterns(lines: Iterable[str]) -> list[str]:
    """Return the lines of an ignore file that may be patterns and do not take too long to match."""
    return [line for line in lines if line.strip() and not line.startswith("#") and not _is_costly(line)][
        :_MAX_PATTERNS
    ]


def _is_costly(line: str) -> bool:
    wildcards = max(line.count("**"), *(len(re.findall(r"\*+", name)) for name in line.split("/")))
    return len(line) > _MAX_LENGTH or wildcards > _MAX_WILDCARDS


def _required_letters(pattern: str) -> str:
    """Return letters without which no path matches a pattern; none if that is hard to tell."""
    if re.search(r"[\\\[\]]", pattern):
        return ""
    return max(re.split(r"[*?/]", pattern.removeprefix("!").rstrip()), key=len)


def _compile(lines: Iterable[str]) -> GitIgnoreSpec | None:
    """Compile patterns; git ignores lines that are no patterns as well."""
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
