"""Report on linted worlds: findings with their lines, which of them are new, and files with them."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_policy.errors import PolicyError, SourceError, UsageError
from kubectl_policy.lint.baseline import baseline_text, read_baseline
from kubectl_policy.lint.changes.novelty import with_undecided
from kubectl_policy.lint.checking import LintFindings, lint_worlds
from kubectl_policy.lint.consequences import join_consequences
from kubectl_policy.lint.report import Checkout, Report, Scope
from kubectl_policy.lint.rules import RULES
from kubectl_policy.model import FieldPath, Origin
from kubectl_policy.render.lint import LINT
from kubectl_policy.render.output.formats import render
from kubectl_policy.render.output.text import View, to_text
from kubectl_policy.text.named_file import read_named_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from kubectl_policy.cli.linting.project import Project
    from kubectl_policy.cli.linting.reading import LintInput
    from kubectl_policy.lint.finding import Finding
    from kubectl_policy.lint.settings import LintSettings
    from kubectl_policy.sources import Lines

# In bytes: a baseline of more than 100,000 findings.
MAX_BASELINE_SIZE: Final = 2**26
# In characters: lines of files are not wrapped.
_WIDTH = 10_000


class LintRun:
    """The findings in the input, by the settings of a project."""

    def __init__(self, read: LintInput, settings: LintSettings, project: Project) -> None:
        """Lint the input."""
        self._read, self._settings, self._project = read, settings, project
        self._lines = FindingLines(read.lines, read.renamed)
        self._found: LintFindings = lint_worlds(read.worlds, settings, self._lines.locate)

    def baseline(self) -> str:
        """Return the text of a baseline with all findings that are not suppressed, of any severity."""
        return baseline_text(filter(self._project.is_counted, self._found.findings))

    def report(self, baseline: str = "") -> Report:
        """Return the report. Findings in the `baseline` file and in the base revision are not new.

        Raise `SourceError` for a baseline that cannot be read.
        """
        settings, read = self._settings, self._read
        checked = {rule.id: rule for rule in RULES if rule.is_checked(settings)}
        earlier = [
            replace(finding, name=rule.name, severity=rule.severity)
            for finding in _read_baseline(baseline)
            if (rule := checked.get(finding.rule))
        ]
        in_base: Sequence[Finding] = ()
        if read.before:
            lines = FindingLines(read.lines_before, read.renamed)
            # A finding that was suppressed in the base existed there.
            in_base = lint_worlds(read.before, settings, lines.locate).every
            earlier += [finding for finding in in_base if finding.counts]
        existed = {finding.fingerprint for finding in earlier}
        exist = {finding.fingerprint for finding in self._found.every}
        # Findings that change the exit code are always reported.
        blinding = {rule.id for rule in RULES if rule.blinds}
        counted: Iterable[Finding] = filter(self._project.is_counted, self._found.findings)
        if read.base:
            counted = with_undecided(counted, (*earlier, *in_base), self._lines.locate)
        shown = [finding for finding in counted if settings.shows(finding.severity_) or finding.rule in blinding]
        counting = [finding for finding in shown if finding.counts]
        worlds = read.worlds
        new: Iterable[Finding] = (finding for finding in counting if finding.fingerprint not in existed)
        if read.base:
            new = join_consequences(new, worlds, settings, self._lines.locate)
        resources = [resource for world in worlds for resource in world.resources]
        # Objects of a cluster have no lines, and the name of the cluster as their source.
        sources = {resource.origin.source for resource in resources if resource.origin.line}
        state = worlds[0].analysis
        return Report(
            scope=Scope(
                worlds=tuple(world.name for world in worlds if world.name),
                since=read.base or baseline,
                objects=len({resource.ref for resource in resources}),
                files=len(sources),
                is_open=state.index.source == "the input" and not state.snapshot.complete,
            ),
            findings=tuple(new),
            unknown=tuple(finding for finding in shown if not finding.counts),
            suppressed=self._found.suppressed,
            known=tuple(finding for finding in counting if finding.fingerprint in existed),
            # A finding that is suppressed now is not fixed.
            fixed=tuple(finding for finding in earlier if finding.fingerprint not in exist),
            rules=tuple(
                replace(rule, severity=rule.severity_in(settings) or rule.severity) for rule in checked.values()
            ),
            settings=settings,
            checkout=Checkout(root=self._project.root, folder=str(Path.cwd()), texts=self._lines.texts),
        )


def _read_baseline(baseline: str) -> Sequence[Finding]:
    """Return the findings in a baseline file, if one is named."""
    if not baseline:
        return ()
    try:
        text = read_named_text(baseline, MAX_BASELINE_SIZE)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        hint = "kubectl policy lint --write-baseline FILE writes one"
        raise SourceError(f"cannot read the baseline {baseline}: {reason}", hint) from error
    return read_baseline(text, baseline)


class FindingLines:
    """Looks up lines of fields, each once, and remembers the exact ones."""

    def __init__(self, lines: Lines, renamed: Callable[[str], str]) -> None:
        """Keep the lines of the input, and a function that returns the name of a file for people."""
        self._lines, self._renamed, self._line_of_field = lines, cache(renamed), cache(self._find)
        self._exact: set[Origin] = set()

    def locate(self, origin: Origin | None, field: str) -> Origin | None:
        """Return the line of a field, else of its nearest parent that exists, else of the object."""
        if origin is None:
            return None
        if field and origin.line:
            origin = self._line_of_field(origin, field)
        name = self._renamed(origin.source)
        return origin if name == origin.source else Origin(name, origin.line)

    def _find(self, origin: Origin, field: str) -> Origin:
        try:
            steps = FieldPath.parse(field).steps
        except ValueError:
            # A key with a quote cannot be part of a path.
            return origin
        for length in range(len(steps), 0, -1):
            line = self._lines.locate(origin, FieldPath(steps[:length]))
            if line:
                field_origin = Origin(origin.source, line)
                if length == len(steps):
                    self._exact.add(field_origin)
                return field_origin
        return origin

    @property
    def texts(self) -> Mapping[Origin, str]:
        """The text of each line that has a field, if the file can be read again."""

        @cache
        def lines_of(source: str) -> list[str]:
            return self._lines.text(source).splitlines()

        known = (origin for origin in self._exact if origin.line <= len(lines_of(origin.source)))
        return {origin: lines_of(origin.source)[origin.line - 1] for origin in known}


def parse_outputs(formats: Iterable[str], output: str, *, is_single: bool = True) -> tuple[str, Mapping[str, str]]:
    """Return the format of standard output, by default that of `--output`, and the formats of files by their paths.

    In a GitHub workflow, text has annotations as well, unless several clusters are linted. Raise `UsageError` for an
    unknown format.
    """
    in_workflow = is_single and output == LINT.formats[0] and os.environ.get("GITHUB_ACTIONS") == "true"
    shown, files = "github" if in_workflow else output, dict[str, str]()
    for text in formats:
        name, is_file, path = text.partition("=")
        if name not in LINT.formats or (is_file and not path):
            hint = f"write FORMAT or FORMAT=FILE, of {', '.join(LINT.formats)}"
            raise UsageError(f"invalid value for '--format': '{text}'", hint)
        if is_file:
            files[path] = name
        else:
            shown = name
    return shown, files


def write_files(report: Report, files: Mapping[str, str]) -> None:
    """Write a report into files, each in its format. Raises `PolicyError` for one that cannot be written."""
    for path, name in files.items():
        shown = render(LINT, report, name, View(width=_WIDTH))
        if isinstance(shown, tuple):
            shown = to_text(shown, _WIDTH)
        write_file(path, shown if isinstance(shown, str) else "".join(map(str, shown)))


def write_file(path: str, text: str) -> None:
    """Write a file. Raises `PolicyError` if it cannot be written."""
    try:
        Path(path).write_text(text, encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise PolicyError(f"cannot write {path}: {reason}", "name a file in a folder that exists") from error


def summarise(report: Report) -> None:
    """Append the findings to the summary of a GitHub step, if its environment names the file."""
    file = os.environ.get("GITHUB_STEP_SUMMARY")
    if file:
        from kubectl_policy.render.lint.github import github_summary

        try:
            with Path(file).open("a", encoding="utf-8") as opened:
                opened.write(github_summary(report))
        except OSError as error:
            raise PolicyError(f"cannot write {file}: {error.strerror}", "GITHUB_STEP_SUMMARY names it") from error
