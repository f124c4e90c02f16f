"""The config file of a project: what of it is linted, and what of that counts; where it is looked for and read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast, get_args

from kubectl_policy.errors import SourceError, UsageError
from kubectl_policy.lint.requirement import Requirement
from kubectl_policy.lint.rules import RULES
from kubectl_policy.lint.rules.input.suppressions import misspelt
from kubectl_policy.lint.settings import Level, LintSettings, Threshold, is_called
from kubectl_policy.model import Origin, Problem, Severity
from kubectl_policy.model.fields import WHOLE
from kubectl_policy.model.values import cached_property, replace
from kubectl_policy.profiles.load import check, read_file
from kubectl_policy.profiles.shapes import (
    NAME,
    NOTHING,
    Boolean,
    Choice,
    Entries,
    Items,
    Record,
    Shape,
    Text,
    declared,
    field_of,
    required_field,
    shown,
)
from kubectl_policy.sources.files.exclusion import Exclusions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from pathspec import GitIgnoreSpec

    from kubectl_policy.lint.finding import Finding
    from kubectl_policy.model import FieldPath, Json
    from kubectl_policy.text.events import Steps

FILE: Final = ".kubectl-policy.yaml"
_HINT: Final = "docs/linting.md describes the config file"


class _Level(Choice):
    """How bad something is, or `off`, which is false to YAML."""

    def read(self, plain: str) -> Level:
        """The word."""
        return cast("Level", plain or "off")

    def problems(self, plain: Json, at: FieldPath = WHOLE) -> Iterator[Problem]:
        """Anything but these words."""
        return super().problems("off" if plain is False else plain, at)


class _Number(Shape):
    """A whole number that is not too small; true and false are none."""

    def __init__(self, least: int) -> None:
        """Keep what is allowed."""
        self._least = least

    def problems(self, plain: Json, at: FieldPath = WHOLE) -> Iterator[Problem]:
        """Anything else."""
        if isinstance(plain, bool) or not isinstance(plain, int):
            yield Problem(message=f"must be a whole number, not {shown(plain)}", field=at)
        elif plain < self._least:
            yield Problem(message=f"must be at least {self._least}", field=at)


class _FilePattern(Text):
    """Which files are meant, as in a .gitignore."""

    def _within(self, plain: str, at: FieldPath) -> Iterator[Problem]:
        try:
            Exclusions([plain])
        except UsageError as error:
            yield Problem(message=error.message, field=at)


_PATH: Final = Text(pattern=r"^[^\x00]+$", hint="A path is expected.")


@declared(kw_only=True)
class PathSettings:
    """What counts otherwise in some files."""

    path: str = required_field(_FilePattern())
    """The files, by a pattern as in a .gitignore beside the config file."""
    ignore: tuple[str, ...] = required_field(Items(NAME, least=1))
    """The rules whose findings do not count there."""

    @cached_property
    def files(self) -> GitIgnoreSpec:
        """What matches the files."""
        from pathspec import GitIgnoreSpec

        return GitIgnoreSpec.from_lines([self.path])


@declared(kw_only=True)
class Project:
    """What the config file of a project says.

    `file` is where it is, empty if there is none, and `root` where the repository begins. Its paths are relative to
    itself; `written` is where it has names of rules.
    """

    select: tuple[str, ...] = field_of(Items(NAME), default=())
    """The rules that are checked, by ids, names, or the beginnings of ids. Without it: all of them."""
    ignore: tuple[str, ...] = field_of(Items(NAME), default=())
    """The rules that are not checked."""
    severity: Mapping[str, Level] = field_of(Entries(_Level(Level)), default=NOTHING)
    """How bad it is what rules find; `off` to check a rule not at all."""
    fail_on: Threshold | None = field_of(Choice(Threshold), default=None, name="fail-on")
    """From which severity on the command fails, or `never`. Without it: from errors on."""
    min_severity: Severity | None = field_of(Choice(Severity), default=None, name="min-severity")
    """From which severity on findings are shown. Without it: all of them."""
    exclude: tuple[str, ...] = field_of(Items(_FilePattern()), default=())
    """The files that are not read, as in a .gitignore at the top of each folder that is."""
    per_path: tuple[PathSettings, ...] = field_of(Items(Record(PathSettings)), default=(), name="per-path")
    """What does not count in some files."""
    baseline: str = field_of(_PATH, default="")
    """The file with the findings that are known."""
    require_reason: bool = field_of(Boolean(), default=False, name="require-reason")
    """Whether every suppression has to give a reason."""
    complete: bool = field_of(Boolean(), default=False)
    """Whether what is not in the input does not exist."""
    context_from: tuple[str, ...] = field_of(Items(_PATH), default=(), name="context-from")
    """What is read beside the input, and is not linted."""
    path_map: Mapping[str, str] = field_of(Entries(Text()), default=NOTHING, name="path-map")
    """What beginnings of paths stand for: those of rendered manifests for those of what they are rendered from."""
    grace: int | None = field_of(_Number(0), default=None)
    """How many minutes controllers are given to report. Without it: 5."""
    owner: str = field_of(NAME, default="")
    """The label or annotation that names owners."""
    widest: int | None = field_of(_Number(1), default=None)
    """From how many routes on a policy affects many. Without it: no number is too many."""
    policies: tuple[Requirement, ...] = field_of(Items(Record(Requirement)), default=())
    """What must be in force for routes."""
    file: str = ""
    root: str = ""
    written: Mapping[str, Origin] = NOTHING

    def settings_with(
        self,
        *,
        select: Iterable[str] | None = None,
        ignore: Iterable[str] | None = None,
        severity: Iterable[str] | None = None,
        fail_on: str = "",
        least: str = "",
        require_reason: bool = False,
        now: datetime | None = None,
    ) -> LintSettings:
        """What counts by the command line, of which these are the options as they are given, and else by the file.

        Names of rules may be separated by commas, `severity` is RULE=LEVEL. What is selected on the command line is
        checked whatever the file says. Raises `UsageError` for what is no rule, or no level.
        """
        selected, ignored = tuple(_rules(select or ())), tuple(_rules(ignore or ()))
        levels = dict(map(_level, severity or ()))
        # What is said last counts, of names that are as exact.
        said: dict[str, Level] = {
            name: level
            for name, level in self.severity.items()
            if name not in levels and not (selected and level == "off")
        }
        standard = LintSettings()
        return LintSettings(
            selected=selected or self.select,
            ignored=ignored if selected else (*self.ignore, *ignored),
            severities={**said, **levels},
            least=_word(least, get_args(Severity)) or self.min_severity or standard.least,
            fail_on=_word(fail_on, get_args(Threshold)) or self.fail_on or standard.fail_on,
            require_reason=require_reason or self.require_reason,
            written=self.written,
            requirements=self.policies,
            owner=self.owner,
            widest=self.widest or standard.widest,
            grace=standard.grace if self.grace is None else self.grace,
            now=now,
        )

    def counts(self, finding: Finding) -> bool:
        """Whether a finding counts in the file that it is in."""
        origin = finding.origin
        return not (self.per_path and origin and origin.line) or finding.rule not in self._ignored_in(origin.source)

    @cached_property
    def _ignored(self) -> dict[str, frozenset[str]]:
        """The ids of rules that do not count, by files that were asked for."""
        return {}

    def _ignored_in(self, source: str) -> frozenset[str]:
        if source not in self._ignored:
            place = self._place(source)
            names = {name for each in self.per_path if each.files.match_file(place) for name in each.ignore}
            self._ignored[source] = frozenset(rule.id for rule in RULES for name in names if is_called(rule, name))
        return self._ignored[source]

    def _place(self, source: str) -> str:
        """Where a file is, seen from the config file."""
        folder = Path(self.file).absolute().parent
        _, colon, path = source.partition(":")
        # REV:PATH is in the repository, wherever that is.
        is_revision = colon and not os.path.exists(source)  # noqa: PTH110 (a Path raises OSError for what is too long)
        return os.path.relpath(Path(self.root or folder, path) if is_revision else Path(source).absolute(), folder)


_PROJECT: Final = Record(Project)


def _rules(given: Iterable[str]) -> Iterator[str]:
    for name in (each.strip() for words in given for each in words.split(",")):
        if name:
            yield _rule(name)


def _rule(name: str) -> str:
    instead = misspelt(name)
    if instead:
        raise UsageError(f'there is no rule "{name}"', instead)
    return name


def _level(words: str) -> tuple[str, Level]:
    name, _, level = words.partition("=")
    if level not in get_args(Level):
        hint = f"write --severity RULE=LEVEL, with one of {', '.join(get_args(Level))}"
        raise UsageError(f'"{words}" gives no rule a severity', hint)
    return _rule(name), cast("Level", level)


def _word(given: str, known: Sequence[str]) -> Any:  # noqa: ANN401 (one of the words, or none)
    if given and given not in known:
        raise UsageError(f'"{given}" is no severity', f"write one of {', '.join(known)}")
    return given


def find_project(file: str = "") -> Project:
    """What a config file says, or else the one that is nearest above the current directory in the same repository.

    Without any it is nothing. Raises `ProfileError` for a file that cannot be read or is malformed, and `SourceError`
    where there is no current directory.
    """
    folders = _folders()
    root = next((str(folder) for folder in folders if _is_root(folder)), "")
    if file:
        return replace(read_project(file), root=root)
    for folder in folders:
        path = os.path.relpath(folder / FILE)
        if os.path.exists(path):  # noqa: PTH110 (a Path may raise OSError)
            return replace(read_project(path), root=root)
    return Project(root=root)


def _folders() -> list[Path]:
    """The current directory and those above it, up to the root of its repository; it alone if it is in none."""
    try:
        here = Path.cwd()
    except OSError as error:
        raise SourceError("the current directory is not there any more", "change to one that is") from error
    folders = [here, *here.parents]
    place = next((place for place, folder in enumerate(folders) if _is_root(folder)), 0)
    return folders[: place + 1]


def _is_root(folder: Path) -> bool:
    return os.path.lexists(folder / ".git")


def read_project(file: str) -> Project:
    """What a config file says. Raises `ProfileError` where it cannot be read, with the line of what is malformed."""
    document = read_file(Path(file), _HINT)
    # A file in which everything is commented out says nothing, which is allowed.
    if document.value is None:
        return Project(file=file)
    check(document, _PROJECT, _HINT)
    return _project(document.value, file, document.line_of)


def _project(plain: Json, file: str, line_of: Callable[[Steps], int]) -> Project:
    project: Project = _PROJECT.read(cast("dict[str, Any]", plain))
    places: list[tuple[Steps, str]] = [(("severity", name), name) for name in project.severity]
    for key, names in (("select", project.select), ("ignore", project.ignore)):
        places += [((key, place), name) for place, name in enumerate(names)]
    return replace(
        project,
        file=file,
        written={name: Origin(file, line_of(steps)) for steps, name in places},
        baseline=str(Path(file).parent / project.baseline) if project.baseline else "",
        context_from=tuple(_path(each, Path(file).parent) for each in project.context_from),
    )


def _path(written: str, folder: Path) -> str:
    """A path in the config file, or what is none: a revision, say."""
    path = str(folder / written)
    return path if os.path.exists(path) else written  # noqa: PTH110 (a Path raises OSError for what is too long)
