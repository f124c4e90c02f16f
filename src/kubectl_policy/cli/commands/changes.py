"""`diff` and `blast-radius`: changes of the effects of policies between two states, or without an object."""

from shlex import quote
from typing import TYPE_CHECKING, Annotated, Final

import typer
from msgspec.structs import replace

from kubectl_policy.cli.call import CommandCall, shared_options
from kubectl_policy.cli.options import (
    AllowIncomplete,
    AppliedFiles,
    DeletedObjects,
    ExitCodeOption,
    OutputOption,
    Retargetings,
    ShowAll,
)
from kubectl_policy.cli.options import exit_code as ending
from kubectl_policy.cli.remarks import at_fields, mention_namespaces
from kubectl_policy.cli.states import compare_changes, compare_states
from kubectl_policy.cli.syntax import split_objects
from kubectl_policy.cli.terminal import write_remarks
from kubectl_policy.errors import UsageError
from kubectl_policy.lazy import LazyFunctions
from kubectl_policy.render.output.formats import Renderers, format_of

if TYPE_CHECKING:
    from kubectl_policy.questions.blast_radius import BlastRadius
    from kubectl_policy.questions.diff import StateDiff
    from kubectl_policy.render.changes import headlines, rows, text
else:
    headlines, rows, text = (
        LazyFunctions(f"kubectl_policy.render.changes.{name}") for name in ("headlines", "rows", "text")
    )

_EXAMPLE = "for example: diff main:manifests manifests, or diff -f change.yaml --offline manifests"

DIFF: Final["Renderers[StateDiff]"] = Renderers(
    kind="PolicyDiff",
    headline=headlines.diff_headline,
    tree=text.diff_text,
    table=lambda difference, _: [rows.diff_table(difference)],
    names=rows.diff_names,
    markdown=rows.diff_markdown,
    summary=headlines.diff_headline,
)
BLAST_RADIUS: Final["Renderers[BlastRadius]"] = Renderers(
    kind="BlastRadius",
    headline=headlines.blast_headline,
    tree=text.blast_radius_text,
    table=lambda answer, _: [rows.diff_table(answer.difference)],
    names=lambda answer: rows.diff_names(answer.difference),
    markdown=rows.blast_radius_markdown,
    summary=headlines.blast_headline,
)


@shared_options(DIFF)
def diff(
    call: CommandCall,
    states: Annotated[
        list[str] | None,
        typer.Argument(metavar="[BEFORE AFTER]", help="Two states: each a file, directory, REV:PATH in git, or live."),
    ] = None,
    *,
    filename: AppliedFiles = None,
    delete: DeletedObjects = None,
    retarget: Retargetings = None,
    allow_incomplete: AllowIncomplete = False,
    show_all: ShowAll = False,
) -> int:
    """Compare the effects of policies in two states.

    Compares effects, not text: either two states, one of which may be the cluster (live), or the input before and after
    changes. Shows which settings are lost, changed and gained, on which objects, and by which policy; which routes and
    policies lose or gain a target; and which problems appear or disappear. Exits with 1 if anything changes, and with 4
    if relevant input could not be read.

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
    from kubectl_policy.questions.diff import diff as ask

    comparison = compare_states(call, states) if states else compare_changes(call, filename, delete, retarget)
    difference = _at_lines(ask(comparison, separate=bool(states)), call)
    problems = (*difference.problems.introduced, *difference.problems.fixed)
    # Problems with reading the input are the same after changes to it.
    analyses = (comparison.before, comparison.after) if states else (comparison.after,)
    call.show(DIFF, difference, *analyses, problems=problems, unseen=difference.unseen, everything=show_all)
    if states and difference.fragment:
        write_remarks(_applying(call.program, *states, fragment=difference.fragment))
    return ending(differs=bool(difference.changes), incomplete=bool(difference.unseen) and not allow_incomplete)


@shared_options(BLAST_RADIUS)
def blast_radius(
    call: CommandCall,
    objects: Annotated[
        list[str] | None, typer.Argument(metavar="TYPE/NAME | TYPE NAME", help="The object that might be deleted.")
    ] = None,
    *,
    owner: Annotated[
        str,
        OutputOption(metavar="KEY", help="Count by owner: a label or annotation of the objects or their Namespace."),
    ] = "",
    exit_code: Annotated[
        bool, ExitCodeOption("--exit-code", help="Exit with 1 if the deletion would change other objects.")
    ] = False,
    allow_incomplete: AllowIncomplete = False,
    show_all: ShowAll = False,
) -> int:
    """Show what deleting an object would change.

    Nothing is deleted. For a policy: the objects that it affects, the objects where other policies override it, and the
    settings that each object would have instead. For any other object, such as a Gateway, route, Service, Namespace or
    ReferenceGrant: what would lose its parents, targets, traffic or settings. Exits with 4 if relevant input could not
    be read.

    \b
    Examples:
      kubectl policy blast-radius retrypolicy/resilience -n baker --offline manifests/
      kubectl policy blast-radius gateway/edge -n infra --owner team --offline manifests/
      kubectl policy blast-radius namespace/pastry -o json --offline all.yaml
    """
    [(type_name, name)] = split_objects("blast-radius", objects or [], single=True)
    analysis = call.read(routes=True)
    from kubectl_policy.cli.config import owner_key
    from kubectl_policy.questions.blast_radius import blast_radius as ask
    from kubectl_policy.questions.shared.selection import find

    answer = ask(analysis, find(analysis, type_name, name, call.in_namespace), owner or owner_key())
    reasons = at_fields(answer.reasons, call.lines, or_above=True)
    answer = replace(answer, difference=_at_lines(answer.difference, call), reasons=reasons)
    unseen = answer.difference.unseen
    call.show(BLAST_RADIUS, answer, analysis, unseen=unseen, everything=show_all)
    mention_namespaces(analysis, [answer.subject])
    return ending(differs=exit_code and bool(answer.changes), incomplete=bool(unseen) and not allow_incomplete)


def _applying(program: str, before: str, after: str, *, fragment: str) -> str:
    """Return the hint at `-f` for the case that one of two states is meant to be applied to the other."""
    from kubectl_policy.sources import is_live

    part, whole = (after, before) if fragment == "after" else (before, after)
    if is_live(part):
        return f"hint: is {part} the cluster that you mean? It has hardly any of the objects of {whole}"
    target, offline = ("the cluster", "") if is_live(whole) else (whole, f" --offline {quote(whole)}")
    return f"hint: for what changes when {part} is applied to {target}, write {program} diff -f {quote(part)}{offline}"


def _at_lines(difference: "StateDiff", call: CommandCall) -> "StateDiff":
    """Add the lines of effective values, which only documents show."""
    from kubectl_policy.questions.diff import with_lines

    return with_lines(difference, call.lines.locate) if format_of(call.output).part == "document" else difference
