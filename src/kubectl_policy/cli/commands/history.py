"""`history`: changes of the effective settings of an object over the commits of a git repository."""

from itertools import chain
from typing import TYPE_CHECKING, Annotated, Final

import typer
from msgspec.structs import replace

from kubectl_policy.cli.call import CommandCall, shared_options
from kubectl_policy.cli.options import CLUSTER_OPTIONS, Fields, PolicyKinds, SelectionOption, ShowAll
from kubectl_policy.cli.remarks import mention_remaining_problems
from kubectl_policy.cli.syntax import split_objects
from kubectl_policy.errors import NotFoundError, UsageError
from kubectl_policy.lazy import LazyFunctions
from kubectl_policy.render.output.formats import Renderers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import ObjectRef, Snapshot
    from kubectl_policy.questions.history import History, Version
    from kubectl_policy.render import history as renderer
    from kubectl_policy.sources import Progress
else:
    renderer = LazyFunctions("kubectl_policy.render.history")

# States that are read before progress is shown.
_SOON: Final = 5

HISTORY: Final["Renderers[History]"] = Renderers(
    kind="EffectHistory", headline=renderer.history_headline, tree=renderer.history_text
)


@shared_options(HISTORY, without=("render", "allow_network", *CLUSTER_OPTIONS))
def history(
    call: CommandCall,
    objects: Annotated[list[str] | None, typer.Argument(metavar="TYPE/NAME | TYPE NAME", help="The object.")] = None,
    *,
    kind: PolicyKinds = None,
    field: Fields = None,
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
    [(type_name, name)] = split_objects("history", objects or [], single=True)
    if not call.paths:
        raise UsageError(
            "history reads manifests in a git repository", "add --offline PATH, or set KUBECTL_POLICY_OFFLINE"
        )
    from kubectl_policy.cli.terminal import progress
    from kubectl_policy.model import NodeRef
    from kubectl_policy.questions.describe.description import focus_on
    from kubectl_policy.questions.history import history as ask

    with progress("reading state") as tell:
        versions = _versions(call, tell)
        newer, analysis, subject = _find(versions, type_name, name, call.in_namespace)
        if analysis.registry.profile_of(subject.group_kind):
            attachments = analysis.attachments.get(subject, ())
            targets = (attachment.target.object for attachment in attachments if attachment.target)
            example = next((f"history {ref.kind.lower()}/{ref.qualified_name}" for ref in targets), "")
            hint = f"name what it targets, for example: {example}" if example else "name what it should affect"
            raise UsageError(f"{subject} is a policy; history is of what policies affect", hint)
        focus = focus_on(analysis, kind or (), field or ())
        answer = ask(
            chain(newer, versions),
            NodeRef(subject),
            limit=limit,
            wanted=lambda kind, field: focus.has_kind(kind) and focus.has_field(field),
            locate=call.lines.locate,
        )
    call.show(HISTORY, answer, everything=show_all)
    on_disk = newer[0].analysis
    if on_disk:
        mention_remaining_problems(on_disk)
    return 0


def _versions(call: CommandCall, progress: "Progress | None") -> "Iterator[Version]":
    """Read the states of the manifests, on disk and in git, newest first, and analyse them one by one."""
    from kubectl_policy import analyze
    from kubectl_policy.cli.config import read_config
    from kubectl_policy.questions.history import Version
    from kubectl_policy.sources.history import states

    config = read_config(call.profiles, call.setting)
    snapshot: Snapshot | None = None
    analysis: Analysis | None = None
    options = replace(call.input_options(), render=False)
    for number, state in enumerate(states(call.paths, options=options), 1):
        if progress and number > _SOON:
            progress(number, state.total, state.commit.subject if state.commit else "")
        if state.snapshot is not snapshot:
            snapshot = state.snapshot
            analysis = None
            if snapshot:
                analysis = analyze(snapshot, profiles=config.profiles, implementation=config.implementation)
        yield Version(commit=state.commit, analysis=analysis, is_first=state.is_first, is_cut=state.is_cut)


def _find(
    versions: "Iterator[Version]", type_name: str, name: str, namespace: str
) -> "tuple[Sequence[Version], Analysis, ObjectRef]":
    """Find an object in the newest version that has it; return the versions down to it, its analysis, and the object.

    Raise `NotFoundError` if no version has it.
    """
    from kubectl_policy.questions.shared.selection import find

    newer: list[Version] = []
    missing: NotFoundError | None = None
    for version in versions:
        newer.append(version)
        try:
            if version.analysis:
                return newer, version.analysis, find(version.analysis, type_name, name, namespace)
        except NotFoundError as error:
            missing = missing or error
    raise missing or NotFoundError(f"{type_name}/{name} is in no commit", "name what the manifests hold")
