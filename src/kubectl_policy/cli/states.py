"""States to compare: two that the user names, one beside the input, or the input before and after changes."""

from collections import Counter
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_policy.cli.config import read_config
from kubectl_policy.cli.syntax import type_and_name
from kubectl_policy.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.cli.call import CommandCall
    from kubectl_policy.comparison import StateComparison
    from kubectl_policy.model import ObjectRef, Resource, Snapshot
    from kubectl_policy.profiles import PolicyKindProfile

_DELETE_EXAMPLE = "for example: --delete retrypolicy/own"
_RETARGET_EXAMPLE = "for example: --retarget retrypolicy/own=gateway/edge#https"


def compare_states(call: "CommandCall", names: "Sequence[str]") -> "StateComparison":
    """Compare the states with two names, as `diff` takes them."""
    from kubectl_policy.comparison import compare
    from kubectl_policy.sources import is_live

    config = read_config(call.profiles, call.setting)
    # The cluster is read first: manifests would be read again whenever there is more to ask of the cluster.
    cluster: Snapshot | None = None
    if any(map(is_live, names)):
        if call.paths:
            raise UsageError("the input is manifests, and live is a cluster", "say which one: --context NAME")
        cluster = call.live.everything(config.profiles)
    before, after = (cluster if cluster and is_live(name) else _read_state(call, name) for name in names)
    return compare(before, after, profiles=config.profiles, implementation=config.implementation)


def compare_with_state(call: "CommandCall", name: str) -> "StateComparison":
    """Compare the input with an earlier state. Raise `UsageError` if both would be the cluster."""
    from kubectl_policy.comparison import compare
    from kubectl_policy.sources import is_live

    if is_live(name) and not call.paths:
        raise UsageError("the input is the cluster itself", "compare it with manifests: --diff PATH")
    config = read_config(call.profiles, call.setting)
    before = read_state_beside(call, name, config.profiles)
    after = call.read(whole=True).snapshot
    return compare(before, after, profiles=config.profiles, implementation=config.implementation)


def read_state_beside(call: "CommandCall", name: str, profiles: "Sequence[PolicyKindProfile]") -> "Snapshot":
    """Read a state in addition to the input: manifests, or the cluster of the current context."""
    from kubectl_policy.sources import is_live

    if not is_live(name):
        return _read_state(call, name)
    from kubectl_policy.cli.clusters import run_command

    def ask() -> int:
        call.live.everything(profiles)
        return 0

    run_command(call.live, ask)
    return call.live.everything(profiles)


def _read_state(call: "CommandCall", name: str) -> "Snapshot":
    from kubectl_policy.cli.remarks import mention_rendered
    from kubectl_policy.sources import load_state

    with call.progress() as progress:
        snapshot = load_state(name, options=call.input_options(), progress=progress, lines=call.lines)
    mention_rendered(snapshot)
    return snapshot


def compare_changes(
    call: "CommandCall",
    filename: "Sequence[str] | None",
    delete: "Sequence[str] | None",
    retarget: "Sequence[str] | None",
) -> "StateComparison":
    """Compare the input before and after applying manifests, deleting objects and retargeting policies."""
    analysis = call.read(routes=True)
    from kubectl_policy.comparison import what_if
    from kubectl_policy.states import cascade, in_scope

    manifests = _read_filename(call, filename) if filename else None
    policies = retargetings(analysis, retarget or (), call.in_namespace)
    resources = manifests.resources if manifests else ()
    applied = [*(in_scope(resource, analysis.index) for resource in resources), *policies]
    deleted = deletions(analysis, delete or (), call.in_namespace)
    changed = Counter([*deleted, *(resource.ref for resource in applied)])
    if twice := next((policy.ref for policy in policies if changed[policy.ref] > 1), None):
        hint = "give it one target, and leave it out of -f"
        raise UsageError(f"{twice} is to be changed in two ways at once", hint)
    return what_if(analysis, applied=applied, deleted=cascade(analysis.index, deleted), unread=manifests)


def objects_in(call: "CommandCall", analysis: "Analysis", filename: "Sequence[str]") -> "tuple[ObjectRef, ...]":
    """Find the objects that manifests contain, as kubectl does for `-f`, each once and in the order of the manifests.

    Raise `NotFoundError` for one that the input does not have.
    """
    from kubectl_policy.questions.shared.selection import find
    from kubectl_policy.states import in_scope

    manifests = _read_filename(call, filename).resources
    refs = dict.fromkeys(in_scope(resource, analysis.index).ref for resource in manifests)
    for ref in refs:
        # A cluster is asked for all of them at once.
        analysis.index.get(ref)
    return tuple(
        find(analysis, str(ref.group_kind).lower(), ref.qualified_name, ref.namespace or call.in_namespace)
        for ref in refs
    )


def _read_filename(call: "CommandCall", filename: "Sequence[str]") -> "Snapshot":
    """Read the manifests of `-f`; those that set no namespace belong to the namespace of the call, as for kubectl."""
    from kubectl_policy.sources import load_input

    namespace = call.default_namespace if call.paths else call.in_namespace
    options = replace(call.input_options(), complete=False, namespace=namespace)
    return load_input(filename, options=options, lines=call.lines)


def deletions(analysis: "Analysis", names: "Sequence[str]", namespace: str) -> "tuple[ObjectRef, ...]":
    """Find the objects in `--delete TYPE/NAME`, each once.

    Raise `UsageError` for another form, and `NotFoundError` if the namespace has no such object.
    """
    from kubectl_policy.questions.shared.selection import find

    pairs = [_type_and_name(name, f'--delete takes TYPE/NAME, not "{name}"', _DELETE_EXAMPLE) for name in names]
    return tuple(dict.fromkeys(find(analysis, type_name, name, namespace) for type_name, name in pairs))


def retargetings(analysis: "Analysis", assignments: "Sequence[str]", namespace: str) -> "tuple[Resource, ...]":
    """Return the policies in `--retarget POLICY=TARGET`, each with that one target.

    Both are looked up in the namespace, unless they are cluster-scoped. Raise `UsageError` for another form and for
    what `retargeted` refuses, and `NotFoundError` for an object that does not exist.
    """
    from kubectl_policy.questions.retargeting import retargeted
    from kubectl_policy.questions.shared.selection import find

    policies: list[Resource] = []
    for assignment in assignments:
        policy, _, target = assignment.partition("=")
        target, mark, section = target.partition("#")
        problem = f'--retarget takes POLICY=TARGET, not "{assignment}"'
        if mark and not section:
            raise UsageError(problem, _RETARGET_EXAMPLE)
        pairs = [_type_and_name(name, problem, _RETARGET_EXAMPLE) for name in (policy, target)]
        refs = [find(analysis, type_name, name, namespace) for type_name, name in pairs]
        policies.append(retargeted(analysis, refs[0], refs[1], section))
    return tuple(policies)


def _type_and_name(text: str, problem: str, example: str) -> tuple[str, str]:
    pair = type_and_name(text)
    if pair is None:
        raise UsageError(problem, example)
    return pair
