"""Read what is linted: the worlds of the input or the cluster, their context, and their state before a change."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from kubectl_policy.cli import terminal
from kubectl_policy.errors import NothingThereError, SourceError, UsageError
from kubectl_policy.lint.lint_world import LintWorld
from kubectl_policy.model import ObjectRef, Resource, Snapshot
from kubectl_policy.sources import InputOptions, Lines
from kubectl_policy.states import overlay

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.cli.call import CommandCall
    from kubectl_policy.cli.config import PolicyConfig
    from kubectl_policy.comparison import StateComparison
    from kubectl_policy.lint.settings import LintSettings


class LintInput(Struct, frozen=True, kw_only=True):
    """The worlds to lint and, with `--diff-base`, the same worlds in the base."""

    worlds: Sequence[LintWorld]
    lines: Lines  # of fields in the worlds
    before: Sequence[LintWorld] = ()
    lines_before: Lines  # of fields in the base
    base: str = ""
    renamed: Callable[[str], str] = str  # from the name of a file in the base to its present name


class Reader:
    """Reads the input of a call."""

    def __init__(
        self,
        call: CommandCall,
        settings: LintSettings,
        root: str,
        around: Sequence[str],
        path_map: Sequence[tuple[str, str]],
    ) -> None:
        """Keep the call, the states `around` its input, the map of rendered paths, and the root of the repository."""
        from kubectl_policy.cli.config import read_config

        self._call, self._settings, self._root, self._around = call, settings, root, around
        self._config: PolicyConfig = read_config(call.profiles, call.setting)
        self._options: InputOptions = replace(call.input_options(), map_origins=True, path_map=tuple(path_map))

    def read(self, base: str) -> LintInput:
        """Read the input, and the same in a base if one is named.

        Raise `UsageError` for the base of a cluster, and for a revision of several paths.
        """
        state = self._state_of(base) if base else ""
        lines = Lines()
        snapshots = self._read()
        if not base:
            worlds = [self._linted(snapshot, name) for name, snapshot in snapshots.items()]
            return LintInput(worlds=worlds, lines=self._call.lines, lines_before=lines)
        before: Mapping[str, Snapshot] = {}
        try:
            before = self._load(state, lines)
        except NothingThereError as nothing:
            terminal.write_remarks(f"everything counts as new: {nothing.message}")
        # A single world in both states is the same world, whatever its names.
        if len(snapshots) == len(before) == 1:
            before = dict(zip(snapshots, before.values(), strict=True))
        both: list[tuple[LintWorld, LintWorld]] = []
        for name, snapshot in snapshots.items():
            # A single unnamed world in the base is compared with every world of the input.
            earlier = before.get(name) or before.get("")
            both.append(
                self._compared(snapshot, earlier or replace(snapshot, resources=(), gaps=(), diagnostics=()), name)
            )
        # Findings in worlds that no longer exist are not new elsewhere.
        deleted = [name for name in before if name and name not in snapshots]
        return LintInput(
            worlds=[now for now, _ in both],
            before=[*(then for _, then in both), *(self._linted(before[name], name, in_base=True) for name in deleted)],
            lines=self._call.lines,
            lines_before=lines,
            base=base,
            renamed=self._renamed(base),
        )

    def _read(self) -> Mapping[str, Snapshot]:
        """Read the worlds of the input, by name; a cluster is one world."""
        from kubectl_policy.cli.remarks import mention_waiting

        call = self._call
        if not call.paths:
            return {"": call.read(whole=True).snapshot}
        if "-" in call.paths:
            mention_waiting()
        return self._load(call.paths, call.lines)

    def _load(self, paths: Sequence[str] | str, lines: Lines) -> Mapping[str, Snapshot]:
        """Load the worlds of paths, or of a state."""
        from kubectl_policy.cli.remarks import mention_rendered
        from kubectl_policy.sources.manifests import load_worlds

        may_be_revision = isinstance(paths, str)
        with self._call.progress() as progress:
            snapshots = load_worlds(
                paths, options=self._options, progress=progress, lines=lines, may_be_revision=may_be_revision
            )
        # Each world adds to what was rendered for those before it.
        mention_rendered([*snapshots.values()][-1])
        return snapshots

    def _state_of(self, base: str) -> str:
        """Return the state to read for a base: another directory, or the same path in a revision."""
        paths = self._call.paths
        if not paths:
            raise UsageError("--diff-base compares manifests", "name them: lint . --diff-base REV")
        if _is_path(base):
            return base
        if len(paths) > 1 or paths[0] == "-":
            problem = "--diff-base REV compares one file or folder"
            raise UsageError(problem, "name one that holds all, and --exclude the rest")
        return f"{base}:./{os.path.relpath(paths[0])}"

    def _renamed(self, base: str) -> Callable[[str], str]:
        """Return a function from the names of files in the base to their present names."""
        path, root = self._call.paths[0], Path(self._root or os.curdir).absolute()
        is_path = _is_path(base)
        if is_path and (len(self._call.paths) > 1 or path == "-"):
            # Which files correspond is unknown.
            return str
        # The name of a file in a revision or an archive has a colon before its path.
        prefix = f"{base}:" if not is_path or _is_archive(base) else ""
        base_path = Path(os.path.relpath(path, root)) if not is_path else Path() if prefix else Path(base)

        def renamed(source: str) -> str:
            file = Path(source.removeprefix(prefix))
            if not source.startswith(prefix) or (is_path and not prefix and file.is_relative_to(path)):
                return source
            if file.is_relative_to(base_path):
                relative = file.relative_to(base_path)
                return f"{path}:{relative}" if _is_archive(path) else str(path / relative)
            return source if is_path else os.path.relpath(root / file)

        return renamed

    @cached_property
    def _context(self) -> Snapshot | None:
        """The context of all worlds, if there is any; an object in several states is taken from the last one."""
        from kubectl_policy.cli.states import read_state_beside

        context: Snapshot | None = None
        for name in self._around:
            state = read_state_beside(self._call, name, self._config.profiles)
            context = overlay(context, state) if context else state
        return context

    def _in_context(self, snapshot: Snapshot) -> Snapshot:
        return overlay(self._context, snapshot) if self._context else snapshot

    def _linted(self, snapshot: Snapshot, name: str, *, in_base: bool = False) -> LintWorld:
        from kubectl_policy import analyze

        config = self._config
        analysis = analyze(self._in_context(snapshot), profiles=config.profiles, implementation=config.implementation)
        return self._world(snapshot, analysis, name, in_base=in_base)

    def _compared(self, snapshot: Snapshot, earlier: Snapshot, name: str) -> tuple[LintWorld, LintWorld]:
        """Return a world in both states; the later one, which is the first, has the comparison."""
        from kubectl_policy.comparison import compare

        before, after = self._in_context(earlier), self._in_context(snapshot)
        both = compare(before, after, profiles=self._config.profiles, implementation=self._config.implementation)
        now = self._world(snapshot, both.after, name, both)
        return now, self._world(earlier, both.before, name, in_base=True)

    def _world(
        self,
        snapshot: Snapshot,
        analysis: Analysis,
        name: str,
        comparison: StateComparison | None = None,
        *,
        in_base: bool = False,
    ) -> LintWorld:
        """Return a world. Objects of other namespaces, and of the context alone, are not linted.

        In the base, findings existed whether or not they were suppressed, so comments do not matter there.
        """
        around = frozenset[ObjectRef]()
        if self._context:
            around = frozenset(resource.ref for resource in self._context.resources)
            around -= {resource.ref for resource in snapshot.resources}
        namespace = self._call.namespace

        def is_linted(resource: Resource) -> bool:
            return namespace in {"", resource.ref.namespace} and resource.ref not in around

        if in_base:
            return LintWorld(analysis, self._settings, is_linted, name=name)
        return LintWorld(analysis, self._settings, is_linted, comparison, self._call.lines.comments, name)


def _is_path(base: str) -> bool:
    """Whether a base is a path. A revision of the same name wins, since a change could add such a path."""
    if not os.path.exists(base):  # noqa: PTH110 (a Path raises OSError for what is too long)
        return False
    from kubectl_policy.sources.files.git import tree_id

    try:
        return not tree_id(base)
    except SourceError:
        # Without git there are no revisions.
        return True


def _is_archive(path: str) -> bool:
    from kubectl_policy.sources.files.disk import archive_and_path

    return archive_and_path(path) == (path, "")
