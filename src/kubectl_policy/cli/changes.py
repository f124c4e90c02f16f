"""`diff` and `blast-radius`: how the effects of policies change in another state or without an object."""

from collections import Counter
from typing import TYPE_CHECKING, Annotated

from kubectl_policy.cli.options import AllowIncomplete, Call, ShowAll, command
from kubectl_policy.cli.options import exit_code as ending
from kubectl_policy.cli.parameters import Argument, Option
from kubectl_policy.cli.remarks import at_fields, mention_namespaces
from kubectl_policy.cli.words import split_object, type_and_name
from kubectl_policy.errors import PolicyError, UsageError
from kubectl_policy.model.values import replace
from kubectl_policy.render.changes import BLAST_RADIUS, DIFF
from kubectl_policy.render.output.formats import format_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.comparison import StateComparison
    from kubectl_policy.model import ObjectRef, Resource, Snapshot
    from kubectl_policy.profiles import PolicyKindProfile
    from kubectl_policy.questions.changes.diff import StateDiff

_EXAMPLE = "for example: diff main:manifests manifests, or diff -f change.yaml --offline manifests"
_DELETE_EXAMPLE = "for example: --delete retrypolicy/own"
_RETARGET_EXAMPLE = "for example: --retarget retrypolicy/own=gateway/edge#https"


@command(DIFF)
def diff(
    call: Call,
    states: Annotated[
        list[str] | None,
        Argument(metavar="[BEFORE AFTER]", help="Two states: a file, a folder, REV:PATH of git, or live."),
    ] = None,
    *,
    filename: Annotated[
        list[str] | None,
        Option("--filename", "-f", metavar="PATH", help="Apply these manifests to the input. Repeatable."),
    ] = None,
    delete: Annotated[list[str] | None, Option(metavar="TYPE/NAME", help="Delete an object. Repeatable.")] = None,
    retarget: Annotated[
        list[str] | None,
        Option(
            metavar="POLICY=TARGET",
            help="Attach a policy to TYPE/NAME, or to TYPE/NAME#SECTION, and to nothing else. Repeatable.",
        ),
    ] = None,
    allow_incomplete: AllowIncomplete = False,
    show_all: ShowAll = False,
) -> int:
    """Compare two states by the effects of policies.

    Compares effects, not text: either two states, of which one may be the cluster (live), or the input before and after
    changes. Shows which settings are lost, changed and gained, where, and which policy does it; which routes and
    policies lose or get a target; and which problems that introduces or fixes. Exits with 1 if anything changes, and
    with 4 if part of what matters could not be read.

    \b
    Examples:
      kubectl policy diff main:manifests manifests -o markdown
      kubectl policy diff live manifests/
      kubectl policy diff -f change.yaml --offline manifests/
      kubectl policy diff --delete retrypolicy/resilience -n baker --offline manifests/
      kubectl policy diff --retarget retrypolicy/own=httproute/menu -n baker --offline manifests/
    """
    changes = [*(filename or ()), *(delete or ()), *(retarget or ())]
    if states and (call.offline or changes):
        raise UsageError("two states are compared as they are", "leave out --offline, -f, --delete and --retarget")
    if (states and len(states) != 2) or not (states or changes):  # noqa: PLR2004 (a pair)
        raise UsageError("diff takes two states, or the input and what is to be changed in it", _EXAMPLE)
    from kubectl_policy.questions.changes.diff import diff as ask

    comparison = _two_states(call, states) if states else with_changes(call, filename, delete, retarget)
    difference = _at_lines(ask(comparison), call)
    problems = (*difference.problems.introduced, *difference.problems.fixed)
    # What is wrong with reading the input is the same after changes to it.
    read = (comparison.before, comparison.after) if states else (comparison.after,)
    call.show(DIFF, difference, *read, problems=problems, unseen=difference.unseen, everything=show_all)
    return ending(differs=bool(difference.changes), incomplete=bool(difference.unseen) and not allow_incomplete)


@command(BLAST_RADIUS)
def blast_radius(
    call: Call,
    objects: Annotated[
        list[str] | None, Argument(metavar="TYPE/NAME | TYPE NAME", help="The object that might be deleted.")
    ] = None,
    *,
    owner: Annotated[
        str,
        Option(metavar="KEY", help="Count by owner: a label or annotation of the objects, or of their Namespace."),
    ] = "",
    exit_code: Annotated[
        bool, Option("--exit-code", help="Exit with 1 if deleting it would change anything else.")
    ] = False,
    allow_incomplete: AllowIncomplete = False,
    show_all: ShowAll = False,
) -> int:
    """Show what deleting an object would change.

    Nothing is deleted. For a policy: the objects that it affects, those where others beat it, and what each would have
    instead. For a Gateway, a route, a Service, a Namespace, a ReferenceGrant or anything else: what would lose its
    parents, its targets, its traffic and its settings. Exits with 4 if part of what matters could not be
    read.

    \b
    Examples:
      kubectl policy blast-radius retrypolicy/resilience -n baker --offline manifests/
      kubectl policy blast-radius gateway/edge -n infra --owner team --offline manifests/
      kubectl policy blast-radius namespace/pastry -o json --offline all.yaml
    """
    type_name, name = split_object("blast-radius", objects or [])
    analysis = call.read(routes=True)
    from kubectl_policy.cli.config import owner_key
    from kubectl_policy.questions.changes.blast_radius import blast_radius as ask
    from kubectl_policy.questions.shared.selection import find

    answer = ask(analysis, find(analysis, type_name, name, call.in_namespace), owner or owner_key())
    reach = answer.reach and replace(
        answer.reach, reasons=at_fields(answer.reach.reasons, or_above=True, lines=call.lines)
    )
    answer = replace(answer, difference=_at_lines(answer.difference, call), reach=reach)
    unseen = answer.difference.unseen
    call.show(BLAST_RADIUS, answer, analysis, unseen=unseen, everything=show_all)
    mention_namespaces(analysis, [answer.subject])
    return ending(differs=exit_code and bool(answer.changes), incomplete=bool(unseen) and not allow_incomplete)


def _at_lines(difference: "StateDiff", call: Call) -> "StateDiff":
    """The same with the lines of effective values, which documents alone show."""
    from kubectl_policy.questions.changes.diff import at_lines

    return at_lines(difference, call.lines.locate) if format_of(call.output).part == "document" else difference


def _two_states(call: Call, states: "Sequence[str]") -> "StateComparison":
    from kubectl_policy.cli.config import known
    from kubectl_policy.comparison import compare
    from kubectl_policy.sources import is_live

    told = known(call.profiles, call.setting)
    # First, as all else would be read again where there is more to be asked.
    cluster = _cluster(call, told.profiles) if any(map(is_live, states)) else None
    before, after = (cluster if cluster and is_live(each) else _state(call, each) for each in states)
    return compare(before, after, profiles=told.profiles, implementation=told.implementation)


def _state(call: Call, words: str) -> "Snapshot":
    from kubectl_policy.sources import load_state

    with call.progress() as progress:
        return load_state(words, options=call.input_options(), progress=progress, lines=call.lines)


def state_named(call: Call, words: str) -> "StateComparison":
    """Another state, which words name as `diff` takes them, and the input after it.

    Raises `UsageError` where both would be the cluster.
    """
    from kubectl_policy.cli.config import known
    from kubectl_policy.comparison import compare
    from kubectl_policy.sources import is_live

    if is_live(words) and not call.paths:
        raise UsageError("the input is the cluster itself", "compare it with manifests: --diff PATH")
    told = known(call.profiles, call.setting)
    before = state_beside(call, words, told.profiles)
    after = call.read(whole=True).snapshot
    return compare(before, after, profiles=told.profiles, implementation=told.implementation)


def state_beside(call: Call, words: str, profiles: "Sequence[PolicyKindProfile]") -> "Snapshot":
    """A state that words name as `diff` takes them, beside the input, which is read apart from it."""
    from kubectl_policy.sources import is_live

    return _cluster_beside(call, profiles) if is_live(words) else _state(call, words)


def _cluster_beside(call: Call, profiles: "Sequence[PolicyKindProfile]") -> "Snapshot":
    """What the cluster of the current context has now, where the input is manifests."""
    from kubectl_policy.cli.clusters.live import run_until_settled

    found: list[Snapshot] = []

    def ask() -> int:
        found[:] = [call.live.everything(profiles)]
        return 0

    _, end = run_until_settled(call.live, ask)
    if isinstance(end, PolicyError):
        raise end
    return found[0]


def _cluster(call: Call, profiles: "Sequence[PolicyKindProfile]") -> "Snapshot":
    """What a cluster has now, as a snapshot of it would. Raises `UsageError` where the input is manifests."""
    if call.paths:
        raise UsageError("the input is manifests, and live is a cluster", "say which one: --context NAME")
    return call.live.everything(profiles)


def with_changes(
    call: Call,
    filename: "Sequence[str] | None",
    delete: "Sequence[str] | None",
    retarget: "Sequence[str] | None",
) -> "StateComparison":
    """The input, and the same after the changes."""
    analysis = call.read(routes=True)
    from kubectl_policy.comparison import what_if
    from kubectl_policy.sources import load_manifests
    from kubectl_policy.states import cascade, in_scope

    # As kubectl does it: manifests that name no namespace are for the one that is asked about.
    namespace = call.default_namespace if call.paths else call.in_namespace
    options = replace(call.input_options(), complete=False, namespace=namespace)
    read_in = load_manifests(filename, options=options, lines=call.lines) if filename else None
    policies = retargetings(analysis, retarget or (), call.in_namespace)
    applied = [*(in_scope(resource, analysis.index) for resource in (read_in.resources if read_in else ())), *policies]
    deleted = deletions(analysis, delete or (), call.in_namespace)
    changed = Counter([*deleted, *(resource.ref for resource in applied)])
    if twice := next((policy.ref for policy in policies if changed[policy.ref] > 1), None):
        hint = "give it one target, and leave it out of -f"
        raise UsageError(f"{twice} is to be changed in two ways at once", hint)
    return what_if(analysis, applied=applied, deleted=cascade(analysis.index, deleted), unread=read_in)


def deletions(analysis: "Analysis", words: "Sequence[str]", namespace: str) -> "tuple[ObjectRef, ...]":
    """The objects that are meant by `TYPE/NAME`, each once.

    Raises `UsageError` for anything else, and `NotFoundError` where there is no such object in the namespace.
    """
    from kubectl_policy.questions.shared.selection import find

    pairs = [_type_and_name(word, f'--delete takes TYPE/NAME, not "{word}"', _DELETE_EXAMPLE) for word in words]
    return tuple(dict.fromkeys(find(analysis, type_name, name, namespace) for type_name, name in pairs))


def retargetings(analysis: "Analysis", words: "Sequence[str]", namespace: str) -> "tuple[Resource, ...]":
    """The policies as they would be if they had the one target that `POLICY=TARGET` says.

    Both are looked for in the namespace, unless their kind is cluster-scoped. Raises `UsageError` for anything else,
    and for what `retargeted` refuses, and `NotFoundError` where one of them is not there.
    """
    from kubectl_policy.questions.changes.retargeting import retargeted
    from kubectl_policy.questions.shared.selection import find

    policies: list[Resource] = []
    for word in words:
        policy, _, target = word.partition("=")
        target, mark, section = target.partition("#")
        malformed = f'--retarget takes POLICY=TARGET, not "{word}"'
        if mark and not section:
            raise UsageError(malformed, _RETARGET_EXAMPLE)
        pairs = [_type_and_name(part, malformed, _RETARGET_EXAMPLE) for part in (policy, target)]
        refs = [find(analysis, type_name, name, namespace) for type_name, name in pairs]
        policies.append(retargeted(analysis, refs[0], refs[1], section))
    return tuple(policies)


def _type_and_name(word: str, malformed: str, example: str) -> tuple[str, str]:
    found = type_and_name(word)
    if found is None:
        raise UsageError(malformed, example)
    return found
