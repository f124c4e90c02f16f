"""The config file of a project, `.kubectl-policy.yaml`: its fields, and how it is found and read."""

from __future__ import annotations

import os
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast, get_args

from msgspec.structs import replace

from kubectl_policy.errors import SourceError, UsageError
from kubectl_policy.lint.rules import RULES
from kubectl_policy.lint.rules.input.suppressions import misspelt
from kubectl_policy.lint.settings import Level, LintSettings, Requirement, Threshold
from kubectl_policy.model import Origin, Problem, Severity
from kubectl_policy.model.fields import WHOLE
from kubectl_policy.profiles.load import check, read_file
from kubectl_policy.profiles.shapes import (
    NAME,
    NOTHING,
    Boolean,
    Choice,
    Declared,
    Entries,
    Items,
    Record,
    Text,
    WholeNumber,
    field_of,
    required_field,
)
from kubectl_policy.sources.files.exclusion import Exclusions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from datetime import datetime

    from pathspec import GitIgnoreSpec

    from kubectl_policy.lint.finding import Finding
    from kubectl_policy.model import FieldPath, Json
    from kubectl_policy.text import Steps

FILE: Final = ".kubectl-policy.yaml"
_HINT: Final = "docs/linting.md describes the config file"


class _Level(Choice):
    """A severity or `off`, which is false in YAML."""

    def read(self, plain: str) -> Level:
        """Return the severity."""
        return cast("Level", plain or "off")

    def problems(self, plain: Json, at: FieldPath = WHOLE) -> Iterator[Problem]:
        """Yield a problem for any other value."""
        return super().problems("off" if plain is False else plain, at)


class _FilePattern(Text):
    """A pattern of files, as in a .gitignore."""

    def _within(self, plain: str, at: FieldPath) -> Iterator[Problem]:
        try:
            Exclusions([plain])
        except UsageError as error:
            yield Problem(message=error.message, field=at)


_PATH: Final = Text(pattern=r"^[^\x00]+$", hint="A path is expected.")


class PathSettings(Declared, frozen=True, kw_only=True, dict=True):
    """Settings for some files."""

    path: str = required_field(_FilePattern())
    """A pattern as in a .gitignore beside the config file."""
    ignore: tuple[str, ...] = required_field(Items(NAME, least=1))
    """The rules whose findings in the files do not count."""

    @cached_property
    def files(self) -> GitIgnoreSpec:
        """The compiled pattern."""
        from pathspec import GitIgnoreSpec

        return GitIgnoreSpec.from_lines([self.path])


class Project(Declared, frozen=True, kw_only=True, dict=True):
    """The settings in the config file of a project."""

    select: tuple[str, ...] = field_of(Items(NAME), default=())
    """The rules to check, by IDs, names, or prefixes of IDs. Default: all rules."""
    ignore: tuple[str, ...] = field_of(Items(NAME), default=())
    """The rules not to check."""
    severity: Mapping[str, Level] = field_of(Entries(_Level(Level)), default=NOTHING)
    """The severity of rules; `off` disables a rule."""
    fail_on: Threshold | None = field_of(Choice(Threshold), default=None, name="fail-on")
    """The lowest severity for which the command fails, or `never`. Default: error."""
    min_severity: Severity | None = field_of(Choice(Severity), default=None, name="min-severity")
    """The lowest severity that is reported. Default: all."""
    exclude: tuple[str, ...] = field_of(Items(_FilePattern()), default=())
    """The files not to read, by patterns as in a .gitignore at the root of each input directory."""
    per_path: tuple[PathSettings, ...] = field_of(Items(Record(PathSettings)), default=(), name="per-path")
    """Settings for some files."""
    baseline: str = field_of(_PATH, default="")
    """The file with known findings."""
    require_reason: bool = field_of(Boolean(), default=False, name="require-reason")
    """Whether suppressions need a reason."""
    complete: bool = field_of(Boolean(), default=False)
    """Whether objects that are missing from the input do not exist."""
    context_from: tuple[str, ...] = field_of(Items(_PATH), default=(), name="context-from")
    """States that add context and are not linted."""
    path_map: Mapping[str, str] = field_of(Entries(Text()), default=NOTHING, name="path-map")
    """Prefixes of rendered manifests, with the prefixes of their sources."""
    grace: int | None = field_of(WholeNumber(0), default=None)
    """The minutes that controllers have to report a status. Default: 5."""
    owner: str = field_of(NAME, default="")
    """The label or annotation with the owner."""
    widest: int | None = field_of(WholeNumber(1), default=None)
    """The number of routes from which on a policy affects too many. Default: no limit."""
    policies: tuple[Requirement, ...] = field_of(Items(Record(Requirement)), default=())
    """Requirements on the settings in force for routes."""
    file: str = ""
    """The config file, to which its paths are relative, or ""."""
    root: str = ""
    """The root of the git repository, or ""."""
    written: Mapping[str, Origin] = NOTHING
    """The lines on which the config file names rules."""

    def settings_with(
        self,
        *,
        select: Iterable[str] | None = None,
        ignore: Iterable[str] | None = None,
        severity: Iterable[str] | None = None,
        fail_on: Threshold | None = None,
        min_severity: Severity | None = None,
        require_reason: bool = False,
        now: datetime | None = None,
    ) -> LintSettings:
        """Merge the options of the command line with the config file; options win.

        Rules may be separated by commas, and `severity` is RULE=LEVEL. A rule that an option selects is checked even if
        the file disables it. Raise `UsageError` for an unknown rule or level.
        """
        selected, ignored = _rules(select or ()), _rules(ignore or ())
        levels = dict(map(_level, severity or ()))
        # Of names that are equally exact, the last one wins.
        configured: dict[str, Level] = {
            name: level
            for name, level in self.severity.items()
            if name not in levels and not (selected and level == "off")
        }
        standard = LintSettings()
        return LintSettings(
            selected=selected or self.select,
            ignored=ignored if selected else (*self.ignore, *ignored),
            severities={**configured, **levels},
            least=min_severity or self.min_severity or standard.least,
            fail_on=fail_on or self.fail_on or standard.fail_on,
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
    def _ignored_in(self) -> Callable[[str], frozenset[str]]:
        """From the name of a file to the IDs of rules that do not count in it."""

        @cache
        def ignored_in(source: str) -> frozenset[str]:
            path = self._relative(source)
            matching = [settings for settings in self.per_path if settings.files.match_file(path)]
            names = {name for settings in matching for name in settings.ignore}
            return frozenset(rule.id for rule in RULES for name in names if rule.is_called(name))

        return ignored_in

    def _relative(self, source: str) -> str:
        """Return the path of a file relative to the config file."""
        folder = Path(self.file).absolute().parent
        _, colon, path = source.partition(":")
        # REV:PATH is in the repository, wherever that is.
        is_revision = colon and not os.path.exists(source)  # noqa: PTH110 (a Path raises OSError for what is too long)
        return os.path.relpath(Path(self.root or folder, path) if is_revision else Path(source).absolute(), folder)


_PROJECT: Final = Record(Project)


def _rules(lists: Iterable[str]) -> tuple[str, ...]:
    return tuple(_rule(name.strip()) for names in lists for name in names.split(",") if name.strip())


def _rule(name: str) -> str:
    hint = misspelt(name)
    if hint:
        raise UsageError(f'there is no rule "{name}"', hint)
    return name


def _level(assignment: str) -> tuple[str, Level]:
    name, _, level = assignment.partition("=")
    if level not in get_args(Level):
        hint = f"write --severity RULE=LEVEL, with one of {', '.join(get_args(Level))}"
        raise UsageError(f'"{assignment}" gives no rule a severity', hint)
    return _rule(name), cast("Level", level)


def find_project(file: str = "") -> Project:
    """Read a config file, or else the nearest one in the current directory and its parents in the same repository.

    Without a config file, return the defaults. Raise `ProfileError` for a file that cannot be read or is malformed, and
    `SourceError` if the current directory was deleted.
    """
    try:
        current = Path.cwd()
    except OSError as error:
        raise SourceError("the current directory is not there any more", "change to one that is") from error
    folders = [current, *current.parents]
    depth = next((depth for depth, folder in enumerate(folders) if os.path.lexists(folder / ".git")), None)
    for folder in folders[: (depth or 0) + 1]:
        path = os.path.relpath(folder / FILE)
        if not file and os.path.exists(path):  # noqa: PTH110 (a Path may raise OSError)
            file = path
    root = "" if depth is None else str(folders[depth])
    return replace(read_project(file) if file else Project(), root=root)


def read_project(file: str) -> Project:
    """Read a config file. Raise `ProfileError` if it cannot be read, with the line of a malformed value."""
    document = read_file(Path(file), _HINT)
    # A file may have nothing but comments.
    if document.value is None:
        return Project(file=file)
    check(document, _PROJECT, _HINT)
    project: Project = _PROJECT.read(cast("dict[str, Any]", document.value))
    steps: dict[str, Steps] = {name: ("severity", name) for name in project.severity}
    for key, names in (("select", project.select), ("ignore", project.ignore)):
        steps |= {name: (key, position) for position, name in enumerate(names)}
    folder = Path(file).parent
    return replace(
        project,
        file=file,
        written={name: Origin(file, document.line_of(field)) for name, field in steps.items()},
        baseline=str(folder / project.baseline) if project.baseline else "",
        context_from=tuple(_resolve(state, folder) for state in project.context_from),
    )


def _resolve(state: str, folder: Path) -> str:
    """Return the path of a state from the current directory, or the state as it is if it is not a path."""
    path = str(folder / state)
    return path if os.path.exists(path) else state  # noqa: PTH110 (a Path raises OSError for what is too long)
