"""`diff`: two states of the world compared by what policies amount to in them."""

from typing import TYPE_CHECKING, Annotated

import typer

from kubectl_policy.cli.changes import ChangeOutput, Delete, Retarget, deletions, in_scope, retargeted, show
from kubectl_policy.cli.options import (
    AllowIncomplete,
    Color,
    Complete,
    ControllerSettings,
    Namespace,
    Offline,
    Profiles,
    mention_the_rest,
    read,
)
from kubectl_policy.errors import FOUND, INCOMPLETE, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.comparison import StateComparison
    from kubectl_policy.model import ObjectRef, Resource

_EXAMPLE = "for example: diff main:manifests manifests, or diff -f change.yaml --offline manifests"


def diff(  # noqa: PLR0913 (every option of the command is a parameter)
    states: Annotated[
        list[str] | None,
        typer.Argument(metavar="[BEFORE AFTER]", help="Two states: a file, a folder, or REV:PATH of a git revision."),
    ] = None,
    *,
    offline: Offline = None,
    filename: Annotated[
        list[str] | None,
        typer.Option("--filename", "-f", metavar="PATH", help="Apply these manifests to the input. Repeatable."),
    ] = None,
    delete: Delete = None,
    retarget: Retarget = None,
    namespace: Namespace = "default",
    output: ChangeOutput = "tree",
    allow_incomplete: AllowIncomplete = False,
    profiles: Profiles = None,
    setting: ControllerSettings = None,
    complete: Complete = False,
    color: Color = "auto",
) -> int:
    """Compare two states by what policies amount to.

    Not by their text: either two states are compared, or the input (--offline) with what would become of it. Shows
    which settings are lost, changed and gained, where, and by whose doing; which routes and policies lose or get a
    target; and which problems that makes or mends. Exits with 1 if anything changes, and with 4 if not all could be
    seen that matters.

    \b
    Examples:
      kubectl policy diff main:manifests manifests -o markdown
      kubectl policy diff -f change.yaml --offline manifests/
      kubectl policy diff --delete retrypolicy/resilience -n baker --offline manifests/
      kubectl policy diff --retarget retrypolicy/own=httproute/menu -n baker --offline manifests/
    """  # noqa: D301 (\b is typer's mark for a paragraph that keeps its line breaks)
    changes = [*(filename or ()), *(delete or ()), *(retarget or ())]
    if states and (offline or changes):
        raise UsageError("two states are compared as they are", "leave out --offline, -f, --delete and --retarget")
    if (states and len(states) != 2) or not (states or changes):  # noqa: PLR2004 (a pair)
        raise UsageError("diff takes two states, or the input and what is to be changed in it", _EXAMPLE)
    from kubectl_policy.questions.changes.diff import diff as ask  # noqa: PLC0415 (see options.read)

    if states:
        comparison = _two_states(states, profiles, setting, namespace, complete=complete)
    else:
        analysis = read(offline, profiles, setting, namespace, complete=complete)
        comparison = _what_if(analysis, filename or (), delete or (), retarget or (), namespace)
    difference = ask(comparison)
    show(difference, output, color)
    whole = output in {"tree", "yaml", "json"}
    told = (*difference.problems.introduced, *difference.problems.fixed) if whole else ()
    for state in (comparison.before, comparison.after)[0 if states else 1 :]:
        mention_the_rest(state, told, difference.unseen if whole else ())
    if difference.unseen and not allow_incomplete:
        return INCOMPLETE
    return FOUND if difference.changes else 0


def _two_states(
    states: "Sequence[str]",
    profiles: "Sequence[str] | None",
    settings: "Sequence[str] | None",
    namespace: str,
    *,
    complete: bool,
) -> "StateComparison":
    from kubectl_policy.cli.config import known  # noqa: PLC0415 (see options.read)
    from kubectl_policy.comparison import compare  # noqa: PLC0415 (see options.read)
    from kubectl_policy.sources import load_state  # noqa: PLC0415 (see options.read)

    told = known(profiles, settings)
    before, after = (load_state(state, namespace=namespace, complete=complete) for state in states)
    return compare(before, after, profiles=told.profiles, implementation=told.implementation)


def _what_if(
    analysis: "Analysis",
    filename: "Sequence[str]",
    delete: "Sequence[str]",
    retarget: "Sequence[str]",
    namespace: str,
) -> "StateComparison":
    from kubectl_policy.comparison import what_if  # noqa: PLC0415 (see options.read)
    from kubectl_policy.model.cascade import cascade  # noqa: PLC0415 (see options.read)
    from kubectl_policy.sources import load_manifests  # noqa: PLC0415 (see options.read)

    read_in = load_manifests(filename, namespace=namespace) if filename else None
    policies = [retargeted(analysis, word, namespace) for word in retarget]
    applied = [*(in_scope(resource, analysis.index) for resource in (read_in.resources if read_in else ())), *policies]
    deleted = deletions(analysis.index, delete, namespace)
    _refuse_twice(deleted, applied, policies)
    return what_if(analysis, applied=applied, deleted=cascade(analysis.index, deleted), unread=read_in)


def _refuse_twice(
    deleted: "Iterable[ObjectRef]", applied: "Sequence[Resource]", policies: "Sequence[Resource]"
) -> None:
    """Refuse what cannot be meant: one policy with two targets, or changed in two ways at once."""
    refs = [*deleted, *(resource.ref for resource in applied)]
    twice = next((policy.ref for policy in policies if refs.count(policy.ref) > 1), None)
    if twice:
        raise UsageError(
            f"{twice} is to be changed in two ways at once", "give it one target, and leave it in -f alone"
        )
