"""`history`: changes of the effective settings of an object over the commits of a git repository."""

from typing import TYPE_CHECKING, Annotated, Final

import typer

from kubectl_policy.cli.arguments import split_object
from kubectl_policy.cli.call import Call
from kubectl_policy.cli.options import CLUSTER_OPTIONS, SelectionOption, ShowAll, shared_options
from kubectl_policy.cli.remarks import mention_the_rest
from kubectl_policy.errors import NotFoundError, UsageError
from kubectl_policy.render.history import HISTORY

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import GroupKind, ObjectRef, Snapshot
    from kubectl_policy.questions.history.history import Version
    from kubectl_policy.sources import Progress
    from kubectl_policy.sources.history import State


# States that are read before progress is shown.
_SOON: Final = 5


@shared_options(HISTORY, without=("render", *CLUSTER_OPTIONS))
def history(
    call: Call,
    objects: Annotated[list[str] | None, typer.Argument(metavar="TYPE/NAME | TYPE NAME", help="The object.")] = None,
    *,
    kind: Annotated[
        list[str] | None, SelectionOption(metavar="KIND", help="Show only policies of this kind. Repeatable.")
    ] = None,
    field: Annotated[
        list[str] | None,
        SelectionOption(metavar="FIELD", help="Show only fields with this prefix, e.g. timeout. Repeatable."),
    ] = None,
    limit: Annotated[int, SelectionOption(metavar="NUMBER", min=1, help="Stop after this many changes.")] = 10,
    show_all: ShowAll = False,
) -> int:
    """Show how settings of an object changed in git.

    Goes back through the commits of the current branch that changed the manifests, newest first, and shows each commit
    that changed the settings in force: values before and after, the policies that set them, file and line; also the
    commits that added the object or cut it off from traffic. Uncommitted changes come first.

    \b
    Examples:
      kubectl policy history httproute/baker -n baker --offline manifests/
      kubectl policy history httproute/baker -n baker --field timeout --limit 1 --offline manifests/
    """
    type_name, name = split_object("history", objects or [])
    paths = call.paths
    if not paths:
        raise UsageError(
            "history reads manifests in a git repository", "add --offline PATH, or set KUBECTL_POLICY_OFFLINE"
        )
    from kubectl_policy.cli.terminal import progress
    from kubectl_policy.model import NodeRef
    from kubectl_policy.questions.history.history import history as ask
    from kubectl_policy.sources.history import states

    with progress("reading state") as tell:
        walk = _Walk(call, states(paths, options=call.input_options()), tell)
        subject = walk.find(type_name, name)
        if walk.analysis and walk.analysis.registry.profile_of(subject.group_kind):
            targets = (
                attachment.target.object
                for attachment in walk.analysis.attachments.get(subject, ())
                if attachment.target
            )
            example = next((f"history {ref.kind.lower()}/{ref.qualified_name}" for ref in targets), "")
            hint = f"name what it targets, for example: {example}" if example else "name what it should affect"
            raise UsageError(f"{subject} is a policy; history is of what policies affect", hint)
        wanted = _wanted(walk.analysis, kind or (), field or ())
        answer = ask(walk.versions(), NodeRef(subject), limit=limit, wanted=wanted, locate=call.lines.locate)
    call.show(HISTORY, answer, everything=show_all)
    if walk.newest:
        mention_the_rest(walk.newest)
    return 0


class _Walk:
    """The states of the manifests in git, analysed one by one."""

    def __init__(self, call: Call, states: "Iterator[State]", progress: "Progress | None") -> None:
        from kubectl_policy.cli.config import read_config

        self._call, self._states, self._progress = call, states, progress
        self._config = read_config(call.profiles, call.setting)
        self._begun: list[Version] = []
        self._number = 0
        self._snapshot: Snapshot | None = None
        self._analysis: Analysis | None = None
        self.newest: Analysis | None = None
        self.analysis: Analysis | None = None

    def find(self, type_name: str, name: str) -> "ObjectRef":
        """Find the object in the newest state that has it. Raise `NotFoundError` if no state has it."""
        from kubectl_policy.questions.shared.selection import find

        missing: NotFoundError | None = None
        for version in self._read():
            self._begun.append(version)
            try:
                ref = find(version.analysis, type_name, name, self._call.in_namespace) if version.analysis else None
            except NotFoundError as error:
                missing = missing or error
                continue
            if ref:
                self.analysis = version.analysis
                return ref
        raise missing or NotFoundError(f"{type_name}/{name} is in no commit", "name what the manifests hold")

    def versions(self) -> "Iterator[Version]":
        """Yield all states, newest first."""
        yield from self._begun
        yield from self._read()

    def _read(self) -> "Iterator[Version]":
        from kubectl_policy import analyze
        from kubectl_policy.questions.history.history import Version

        for state in self._states:
            self._number += 1
            if self._progress and self._number > _SOON:
                self._progress(self._number, state.total, state.commit.subject if state.commit else "")
            if state.snapshot is not self._snapshot:
                self._snapshot, self._analysis = state.snapshot, None
                if state.snapshot:
                    config = self._config
                    self._analysis = analyze(
                        state.snapshot, profiles=config.profiles, implementation=config.implementation
                    )
            if not state.commit:
                self.newest = self._analysis
            yield Version(commit=state.commit, analysis=self._analysis, is_first=state.is_first, is_cut=state.is_cut)


def _wanted(
    analysis: "Analysis | None", kinds: "Iterable[str]", fields: "Iterable[str]"
) -> "Callable[[GroupKind, str], bool]":
    """Return a predicate for settings of some kinds and fields; without any, it accepts every setting."""
    from kubectl_policy.questions.shared.selection import kinds_meant

    types = [name for names in kinds for name in names.split(",") if name]
    group_kinds: Collection[GroupKind] = {kind for name in types if analysis for kind in kinds_meant(analysis, name)}
    prefixes = [name.removeprefix("spec.") for names in fields for name in names.split(",") if name]

    def is_wanted(kind: "GroupKind", field: str) -> bool:
        has_field = not prefixes or any(
            field == prefix or field.startswith((f"{prefix}.", f"{prefix}[")) for prefix in prefixes
        )
        return has_field and (not group_kinds or kind in group_kinds)

    return is_wanted
