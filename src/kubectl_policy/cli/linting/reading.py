"""What is linted: the worlds of the input or the cluster, what is around them, and what they were before a change."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from kubectl_policy.errors import NothingThereError, SourceError, UsageError
from kubectl_policy.lint.linting import LintedWorld
from kubectl_policy.model.values import replace, value
from kubectl_policy.sources import Lines

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.cli.call import Call
    from kubectl_policy.cli.config import PolicyConfig
    from kubectl_policy.model import ObjectRef, Snapshot
    from kubectl_policy.sources import InputOptions
    from kubectl_policy.sources.worlds import NamedWorld


@value(kw_only=True)
class ToLint:
    """The worlds to lint and, if a change is looked at, what they were before, in a state that is called the `base`.

    `lines` are those of the fields in what was read of either state. What a file of the base is called is `renamed` to
    what it is called now.
    """

    worlds: Sequence[LintedWorld]
    lines: Lines
    before: Sequence[LintedWorld] = ()
    lines_before: Lines
    base: str = ""
    renamed: Callable[[str], str] = str


class Reader:
    """Reads what a call names."""

    def __init__(self, call: Call, root: str, around: Sequence[str], path_map: Sequence[tuple[str, str]]) -> None:
        """Read what is `around` along with it; sources that begin as in the `path_map` are elsewhere.

        The repository begins at its `root`, empty if there is none.
        """
        from kubectl_policy.cli.config import read_config

        self._call, self._root, self._around = call, root, around
        self._config: PolicyConfig = read_config(call.profiles, call.setting)
        # A person who renders something elsewhere has it mapped to its sources all the same.
        self._options: InputOptions = replace(
            call.input_options(), render=call.render or "auto", map_origins=True, path_map=tuple(path_map)
        )

    def read(self, base: str) -> ToLint:
        """What is to be linted, and what it was in a `base`, if there is one.

        Raises `UsageError` for the base of a cluster, and for a revision of several paths.
        """
        state = self._state_of(base) if base else ""
        lines = Lines()
        around = self._read_around()
        found = {each.name: each.snapshot for each in self._read()}
        if not base:
            worlds = [self._linted(each, around, name) for name, each in found.items()]
            return ToLint(worlds=worlds, lines=self._call.lines, lines_before=lines)
        before = {each.name: each.snapshot for each in self._read_base(state, lines)}
        # Where there is one world alone in either state, it is the same one, whatever it is called.
        if len(found) == len(before) == 1:
            before = dict(zip(found, before.values(), strict=True))
        # What was for one world alone was for all that there are now.
        earlier = {name: before.get(name) or before.get("") for name in found}
        both = [
            self._compared(each, earlier[name] or replace(each, resources=(), gaps=(), diagnostics=()), around, name)
            for name, each in found.items()
        ]
        # What was found in a world that is no more was found.
        gone = [self._linted(each, around, name) for name, each in before.items() if name and name not in found]
        return ToLint(
            worlds=[now for now, _ in both],
            before=[*(then for _, then in both), *gone],
            lines=self._call.lines,
            lines_before=lines,
            base=base,
            renamed=self._renamed(base),
        )

    def _read(self) -> Sequence[NamedWorld]:
        """The worlds of the input; of a cluster it is one."""
        from kubectl_policy.cli import terminal
        from kubectl_policy.cli.remarks import mention_waiting
        from kubectl_policy.sources.worlds import NamedWorld, load_worlds

        call = self._call
        if not call.paths:
            return (NamedWorld(name="", snapshot=call.read(whole=True).snapshot),)
        if "-" in call.paths:
            mention_waiting()
        with terminal.progress("rendering") as progress:
            return load_worlds(call.paths, options=self._options, progress=progress, lines=call.lines)

    def _state_of(self, base: str) -> str:
        """The base of what is linted: the same path in a revision, or another folder."""
        paths = self._call.paths
        if not paths:
            raise UsageError("--diff-base compares manifests", "name them: lint . --diff-base REV")
        if _is_path(base):
            return base
        if len(paths) > 1 or paths[0] == "-":
            problem = "--diff-base REV compares one file or folder"
            raise UsageError(problem, "name one that holds all, and --exclude the rest")
        return f"{base}:./{os.path.relpath(paths[0])}"

    def _read_base(self, state: str, lines: Lines) -> Sequence[NamedWorld]:
        """The worlds of the base; none where nothing was there."""
        from kubectl_policy.cli import terminal
        from kubectl_policy.sources.worlds import load_worlds_of_state

        try:
            with terminal.progress("rendering") as progress:
                return load_worlds_of_state(state, options=self._options, progress=progress, lines=lines)
        except NothingThereError as nothing:
            terminal.complain(f"everything counts as new: {nothing.message}")
            return ()

    def _renamed(self, base: str) -> Callable[[str], str]:
        """What files of the base are called now: what is elsewhere in a revision, as it is from here."""
        here, root = self._call.paths[0], Path(self._root or os.curdir).absolute()
        is_path = _is_path(base)
        if is_path and (len(self._call.paths) > 1 or here == "-"):
            # It is not known which file is which.
            return str
        # A file in a revision, or in an archive, has a colon before its path.
        begins = f"{base}:" if not is_path or _is_archive(base) else ""
        there = Path(os.path.relpath(here, root)) if not is_path else Path() if begins else Path(base)

        def renamed(source: str) -> str:
            file = Path(source.removeprefix(begins))
            if not source.startswith(begins) or (is_path and not begins and file.is_relative_to(here)):
                return source
            if file.is_relative_to(there):
                inside = file.relative_to(there)
                return f"{here}:{inside}" if _is_archive(here) else str(here / inside)
            return source if is_path else os.path.relpath(root / file)

        return renamed

    def _read_around(self) -> Snapshot | None:
        """What is around all worlds, if anything is; of several states, the later ones count."""
        from kubectl_policy.cli.states import read_state_beside
        from kubectl_policy.states import laid_over

        found: Snapshot | None = None
        for words in self._around:
            state = read_state_beside(self._call, words, self._config.profiles)
            found = laid_over(found, state) if found else state
        return found

    def _linted(self, snapshot: Snapshot, around: Snapshot | None, name: str) -> LintedWorld:
        from kubectl_policy import analyze

        config = self._config
        analysis = analyze(_with(snapshot, around), profiles=config.profiles, implementation=config.implementation)
        return self._world(analysis, _only(around, snapshot), name)

    def _compared(
        self, snapshot: Snapshot, earlier: Snapshot, around: Snapshot | None, name: str
    ) -> tuple[LintedWorld, LintedWorld]:
        """A world in both states, of which the later one knows the other."""
        from kubectl_policy.comparison import compare

        before, after = _with(earlier, around), _with(snapshot, around)
        both = compare(before, after, profiles=self._config.profiles, implementation=self._config.implementation)
        then = self._world(both.before, _only(around, earlier), name)
        return replace(self._world(both.after, _only(around, snapshot), name), comparison=both), then

    def _world(self, analysis: Analysis, around: frozenset[ObjectRef], name: str) -> LintedWorld:
        return LintedWorld(analysis=analysis, name=name, around=around, namespace=self._call.namespace)


def _is_path(base: str) -> bool:
    """Whether a base is a file or a folder. A revision of that name comes first: a change could add such a folder."""
    if not os.path.exists(base):  # noqa: PTH110 (a Path raises OSError for what is too long)
        return False
    from kubectl_policy.sources.files.git import tree_of

    try:
        return not tree_of(base)
    except SourceError:
        # Without git there are no revisions.
        return True


def _is_archive(path: str) -> bool:
    from kubectl_policy.sources.files.archives import archive_and_path

    return archive_and_path(path) == (path, "")


def _with(snapshot: Snapshot, around: Snapshot | None) -> Snapshot:
    from kubectl_policy.states import laid_over

    return laid_over(around, snapshot) if around else snapshot


def _only(around: Snapshot | None, snapshot: Snapshot) -> frozenset[ObjectRef]:
    """What is around a state, and not in it."""
    if around is None:
        return frozenset()
    return frozenset(each.ref for each in around.resources) - {each.ref for each in snapshot.resources}
