"""The config file of a project, `.kubectl-policy.yaml`: its fields, its discovery and its checks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, cast, get_args

from msgspec import Meta, Struct
from msgspec.structs import replace

from kubectl_policy.cli.config import PathName
from kubectl_policy.errors import SourceError, UsageError
from kubectl_policy.lazy import cached_method
from kubectl_policy.lint.rules import RULES
from kubectl_policy.lint.rules.suppressions import rule_hint
from kubectl_policy.lint.settings import Level, LintSettings, Requirement, Threshold
from kubectl_policy.model import Origin, Severity
from kubectl_policy.model.fields import mapping_at
from kubectl_policy.profiles.load import check, read_file
from kubectl_policy.profiles.reading import INTERNAL, NOTHING, Name, read
from kubectl_policy.sources.files.exclusion import Exclusions

if TYPE_CHECKING:
    from datetime import datetime

    from pathspec import GitIgnoreSpec

    from kubectl_policy.lint.finding import Finding
    from kubectl_policy.text import Steps
    from kubectl_policy.text.configuration import Configuration

FILE: Final = ".kubectl-policy.yaml"
_HINT: Final = "docs/linting.md describes the config file"


class PathSettings(Struct, frozen=True, kw_only=True, dict=True, rename="kebab"):
    """Settings for some files."""

    path: str
    """A pattern as in a .gitignore beside the config file."""
    ignore: Annotated[tuple[Name, ...], Meta(min_length=1)]
    """The rules whose findings in the files do not count."""

    @cached_property
    def files(self) -> GitIgnoreSpec:
        """The compiled pattern."""
        from pathspec import GitIgnoreSpec

        return GitIgnoreSpec.from_lines([self.path])


class Project(Struct, frozen=True, kw_only=True, dict=True, rename="kebab"):
    """The settings in the config file of a project."""

    select: tuple[Name, ...] = ()
    """The rules to check, by IDs, names, or prefixes of IDs. Default: all rules."""
    ignore: tuple[Name, ...] = ()
    """The rules not to check."""
    severity: Mapping[str, Level] = NOTHING
    """The severity of rules; `off` disables a rule."""
    fail_on: Threshold | None = None
    """The lowest severity for which the command fails, or `never`. Default: error."""
    min_severity: Severity | None = None
    """The lowest severity that is reported. Default: all."""
    exclude: tuple[str, ...] = ()
    """The files not to read, by patterns as in a .gitignore at the root of each input directory."""
    per_path: tuple[PathSettings, ...] = ()
    """Settings for some files."""
    baseline: PathName = ""
    """The file with known findings."""
    require_reason: bool = False
    """Whether suppressions need a reason."""
    complete: bool = False
    """Whether objects that are missing from the input do not exist."""
    context_from: tuple[PathName, ...] = ()
    """States that add context and are not linted."""
    path_map: Mapping[str, str] = NOTHING
    """Prefixes of rendered manifests, with the prefixes of their sources."""
    grace: Annotated[int, Meta(ge=0)] | None = None
    """The minutes that controllers have to report a status. Default: 5."""
    owner: Name = ""
    """The label or annotation with the owner."""
    widest: Annotated[int, Meta(ge=1)] | None = None
    """The number of routes from which on a policy affects too many. Default: no limit."""
    policies: tuple[Requirement, ...] = ()
    """Requirements on the settings in force for routes."""
    file: Annotated[str, INTERNAL] = ""
    """The config file, to which its paths are relative, or ""."""
    root: Annotated[str, INTERNAL] = ""
    """The root of the git repository, or ""."""
    written: Annotated[Mapping[str, Origin], INTERNAL] = NOTHING
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
            min_severity=min_severity or self.min_severity or standard.min_severity,
            fail_on=fail_on or self.fail_on or standard.fail_on,
            require_reason=require_reason or self.require_reason,
            written=self.written,
            requirements=self.policies,
            owner=self.owner,
            widest=self.widest or standard.widest,
            grace=standard.grace if self.grace is None else self.grace,
            now=now,
        )

    def is_counted(self, finding: Finding) -> bool:
        """Whether a finding counts in the file that it is in."""
        origin = finding.origin
        return not (self.per_path and origin and origin.line) or finding.rule not in self._ignored_in(origin.source)

    @cached_method
    def _ignored_in(self, source: str) -> frozenset[str]:
        """Return the IDs of rules that do not count in a file."""
        path = self._relative(source)
        matching = [settings for settings in self.per_path if settings.files.match_file(path)]
        names = {name for settings in matching for name in settings.ignore}
        return frozenset(rule.id for rule in RULES for name in names if rule.is_called(name))

    def _relative(self, source: str) -> str:
        """Return the path of a file relative to the config file."""
        folder = Path(self.file).absolute().parent
        _, colon, path = source.partition(":")
        # REV:PATH is in the repository, wherever that is.
        is_revision = colon and not os.path.exists(source)  # noqa: PTH110 (a Path raises OSError for what is too long)
        return os.path.relpath(Path(self.root or folder, path) if is_revision else Path(source).absolute(), folder)


def _rules(lists: Iterable[str]) -> tuple[str, ...]:
    return tuple(_rule(name.strip()) for names in lists for name in names.split(",") if name.strip())


def _rule(name: str) -> str:
    hint = rule_hint(name)
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
        raise SourceError("the current directory does not exist any more", "change to one that exists") from error
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
    plain: Any = document.value
    # YAML takes `off` for false.
    for name in [name for name, level in mapping_at(plain, "severity").items() if level is False]:
        plain["severity"][name] = "off"
    check(document, Project, _HINT)
    project = read(plain, Project)
    _check_patterns(project, document)
    steps: dict[str, Steps] = {name: ("severity", name) for name in project.severity}
    for key, names in (("select", project.select), ("ignore", project.ignore)):
        steps |= {name: (key, position) for position, name in enumerate(names)}
    folder = Path(file).parent
    states = ((str(folder / state), state) for state in project.context_from)
    return replace(
        project,
        file=file,
        written={name: Origin(file, document.line_of(field)) for name, field in steps.items()},
        baseline=str(folder / project.baseline) if project.baseline else "",
        # A state may be something else than a path. (A Path raises OSError for what is too long.)
        context_from=tuple(path if os.path.exists(path) else state for path, state in states),  # noqa: PTH110
    )


def _check_patterns(project: Project, document: Configuration) -> None:
    patterns: dict[Steps, str] = {("exclude", index): pattern for index, pattern in enumerate(project.exclude)}
    patterns |= {("per-path", index, "path"): settings.path for index, settings in enumerate(project.per_path)}
    for field, pattern in patterns.items():
        try:
            Exclusions([pattern])
        except UsageError as error:
            document.refuse(field, error.message, _HINT)
