"""Remarks next to an answer, one line each on standard error, and the lines of fields in an answer."""

import shutil
import sys
from collections import Counter
from typing import TYPE_CHECKING, Final, TypeVar

from msgspec.structs import replace

from kubectl_policy.cli.terminal import write_remarks
from kubectl_policy.model.kinds import listed
from kubectl_policy.model.snapshot import UNLISTED, Origin
from kubectl_policy.render.wording.names import count

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Diagnostic, ObjectRef, Snapshot
    from kubectl_policy.model.snapshot import LeftOut
    from kubectl_policy.questions.blind_spots.unknowns import BlindSpot
    from kubectl_policy.questions.describe.description import Unattached
    from kubectl_policy.questions.shared.reasons import Reason
    from kubectl_policy.sources import Lines

# Manifests in a repository that `--render` would apply.
_TEMPLATE: Final = "Helm template"
_APPLIED: Final = ("patch", "replacement", "transformer", "generator", _TEMPLATE)
_MAX_NAMES: Final = 3
_MAX_LOCATED: Final = 200
Located = TypeVar("Located", "Diagnostic", "Reason", "Unattached")


def mention_waiting() -> None:
    """Mention that manifests are read from the keyboard, if they are."""
    if sys.stdin is not None and sys.stdin.isatty():
        write_remarks("reading manifests from the keyboard; Ctrl-D ends them")


def mention_remaining_problems(
    analysis: "Analysis", shown: "Collection[Diagnostic]" = (), unseen: "Collection[BlindSpot]" = ()
) -> None:
    """Mention problems with reading the input that the answer does not show.

    Problems with objects are not mentioned: to look for them would take longer than to answer.
    """
    origins = {gap.origin for gap in unseen if gap.origin}
    known = set(shown)
    remaining = [
        diagnostic
        for diagnostic in analysis.snapshot.diagnostics
        if diagnostic.severity != "info" and diagnostic not in known and diagnostic.origin not in origins
    ]
    if remaining:
        first = min(
            remaining,
            key=lambda problem: (problem.severity != "error", problem.origin or Origin(""), problem.message),
        )
        number = count(len(remaining), "more problem" if shown or unseen else "problem")
        example = ", for example" if len(remaining) > 1 else ""
        write_remarks(f"{number} in {analysis.index.source}{example}: {first.origin}: {first.message}")


# The fields of kustomizations and of Flux and Argo CD that set a namespace.
_NAMESPACE_FIELDS: Final = (
    "namespace",
    "spec.targetNamespace",
    "spec.source.kustomize.namespace",
    "spec.destination.namespace",
    "spec.template.spec.source.kustomize.namespace",
    "spec.template.spec.destination.namespace",
)


def mention_namespaces(analysis: "Analysis", refs: "Iterable[ObjectRef]") -> None:
    """Mention objects whose namespace is set by files around them, with an example."""
    objects = (analysis.index.get(ref) for ref in dict.fromkeys(refs))
    derived = [resource for resource in objects if resource and resource.namespace_from]
    if derived:
        from kubectl_policy.sources import Lines

        first, lines = derived[0], Lines()
        several = f"{len(derived)} of these get their namespace from other files; for example, " if derived[1:] else ""
        located = (at_field(first.namespace_from, field, lines) for field in _NAMESPACE_FIELDS)
        origin = next((line for line in located if line != first.namespace_from), first.namespace_from)
        write_remarks(f"{several}{first.ref} is in namespace {first.ref.namespace} by {origin}")


def mention_rendered(snapshot: "Snapshot") -> None:
    """Mention what was rendered, and with what, and the clusters of which it is read together."""
    if snapshot.rendered:
        write_remarks(f"rendered {snapshot.rendered}")
    if snapshot.clusters:
        write_remarks(f"clusters {listed(snapshot.clusters)} are read together: --cluster NAME reads one of them")


def mention_unapplied(*states: "Analysis") -> None:
    """Mention what changes or generates objects and was not rendered, and files that nothing applies."""
    # Several states may have left out the same patch; one state may have left out several at the same origin.
    left_out = Counter["LeftOut"]()
    for state in states:
        left_out |= Counter(state.snapshot.left_out)
    numbers = Counter(patch.subject for patch in left_out.elements() if patch.subject in _APPLIED)
    if numbers:
        counts = [(-number, change) for change, number in numbers.items()]
        phrases = [count(-number, change) for number, change in sorted(counts)]
        were = "was" if numbers.total() == 1 else "were"
        write_remarks(f"{listed(phrases)} {were} not applied: {_advice(numbers)}")
    unlisted = sorted({file.origin.source for file in left_out if file.subject == UNLISTED})
    if unlisted:
        hidden = [count(len(unlisted) - _MAX_NAMES, "more file")] if unlisted[_MAX_NAMES:] else []
        is_one = len(unlisted) == 1
        verb, pronoun = ("is", "it") if is_one else ("are", "them")
        names = listed([*unlisted[:_MAX_NAMES], *hidden])
        write_remarks(f"{names} {verb} not applied: no kustomization.yaml or Application takes {pronoun} in")


def _advice(unapplied: "Collection[str]") -> str:
    """Return what would apply patches and templates: the option, or the programs that have to be installed for it."""
    needed = {
        "helm": _TEMPLATE in unapplied,
        "kubectl or kustomize": any(subject != _TEMPLATE for subject in unapplied),
    }
    missing = [
        programs
        for programs, is_needed in needed.items()
        if is_needed and not any(map(shutil.which, programs.split(" or ")))
    ]
    return f"install {listed(missing)}" if missing else "--render"


def mention_assumed(analysis: "Analysis") -> None:
    """Mention objects that are assumed to exist by `--assume-exists`."""
    assumed = analysis.index.assumed_refs
    if assumed:
        shown = [str(ref) for ref in assumed[:_MAX_NAMES]]
        hidden = [count(len(assumed) - len(shown), "more object")] if len(assumed) > len(shown) else []
        are = "is" if len(assumed) == 1 else "are"
        names = listed([*shown, *hidden])
        write_remarks(f"assumed to exist (--assume-exists): {names}, which {are} not in {analysis.index.source}")


def at_fields(entries: "Sequence[Located]", lines: "Lines", *, or_above: bool = False) -> "tuple[Located, ...]":
    """Return entries with the lines of their fields instead of the lines of their objects.

    With `or_above`, an absent field has the line of its nearest parent.
    """
    return tuple(
        replace(entry, origin=at_field(entry.origin, entry.field, lines, or_above=or_above))
        if position < _MAX_LOCATED
        else entry
        for position, entry in enumerate(entries)
    )


def at_field(origin: "Origin | None", field: str, lines: "Lines", *, or_above: bool = False) -> "Origin | None":
    """Return the line of a field of an object; see `at_fields`."""
    from kubectl_policy.model import FieldPath, Origin

    while origin and field:
        if line := lines.locate(origin, FieldPath.parse(field)):
            return Origin(origin.source, line)
        field = field.rpartition(".")[0] if or_above else ""
    return origin
