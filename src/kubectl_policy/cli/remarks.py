"""What is said beside an answer, a line each, and on which lines the fields are written that are spoken of."""

from collections import Counter
from typing import TYPE_CHECKING, Final, TypeVar

from kubectl_policy.model.values import replace

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Diagnostic, ObjectRef, Origin
    from kubectl_policy.model.snapshot import LeftOut
    from kubectl_policy.questions.describe.surroundings import Unattached
    from kubectl_policy.questions.shared.reasons import Reason
    from kubectl_policy.questions.unseen.things import Unseen
    from kubectl_policy.sources import Lines

# What of a tree `--render` would apply; the rest of what is no object only serves these.
_APPLIED: Final = ("patch", "replacement", "transformer", "generator", "Helm template")
# Of each one, the object is read again.
_MOST_NAMED: Final = 3
_MOST_LOCATED: Final = 200
Located = TypeVar("Located", "Diagnostic", "Reason", "Unattached")


def mention_waiting() -> None:
    """One line about what is waited for, where a person has to type it."""
    import sys

    if sys.stdin is not None and sys.stdin.isatty():
        from kubectl_policy.cli.terminal import complain

        complain("reading manifests from the keyboard; Ctrl-D ends them")


def mention_the_rest(
    analysis: "Analysis", shown: "Collection[Diagnostic]" = (), unseen: "Collection[Unseen]" = ()
) -> None:
    """One line about what was wrong with reading the input, as far as the answer does not show it.

    Only about reading: to know what is wrong with every object would take longer than to answer for one.
    """
    origins = {thing.origin for thing in unseen if thing.origin}
    known = set(shown)
    rest = [
        diagnostic
        for diagnostic in analysis.snapshot.diagnostics
        if diagnostic.severity != "info" and diagnostic not in known and diagnostic.origin not in origins
    ]
    if rest:
        from kubectl_policy.cli.terminal import complain
        from kubectl_policy.render.words.names import count

        first = min(
            rest, key=lambda diagnostic: (diagnostic.severity != "error", str(diagnostic.origin), diagnostic.message)
        )
        number = count(len(rest), "more problem" if shown or unseen else "problem")
        example = ", for example" if len(rest) > 1 else ""
        complain(f"{number} in {analysis.index.place}{example}: {first.origin}: {first.message}")


# Where kustomizations, and what delivers them, say a namespace.
_NAMESPACE_FIELDS: Final = (
    "namespace",
    "spec.targetNamespace",
    "spec.source.kustomize.namespace",
    "spec.destination.namespace",
    "spec.template.spec.source.kustomize.namespace",
    "spec.template.spec.destination.namespace",
)


def mention_namespaces(analysis: "Analysis", refs: "Iterable[ObjectRef]") -> None:
    """One line about objects that name no namespace, of which files around them say it, with an example."""
    objects = (analysis.index.get(ref) for ref in dict.fromkeys(refs))
    derived = [found for found in objects if found and found.namespace_from]
    if derived:
        from kubectl_policy.cli.terminal import complain

        first = derived[0]
        several = f"{len(derived)} of these are where files around them put them; for example, " if derived[1:] else ""
        said_by = first.namespace_from
        for field in _NAMESPACE_FIELDS:
            said_by = at_field(said_by, field) if said_by == first.namespace_from else said_by
        complain(f"{several}{first.ref} is in namespace {first.ref.namespace} by {said_by}")


def mention_what_was_not_applied(*states: "Analysis", rendered: bool) -> None:
    """One line about patches, templates and the like: what is no object of its own, and changes or makes others."""
    # What is left out of several states is left out once; of the same place there may be several.
    left_out = Counter["LeftOut"]()
    for state in states:
        left_out |= Counter(state.snapshot.left_out)
    numbers = Counter(each.what for each in left_out.elements() if each.what in _APPLIED)
    if numbers:
        from kubectl_policy.cli.terminal import complain
        from kubectl_policy.render.words.names import count, listed

        words = [count(number, what) for what, number in sorted(numbers.items(), key=lambda each: (-each[1], each[0]))]
        were = "was" if numbers.total() == 1 else "were"
        complain(f"{listed(words)} {were} not applied{'' if rendered else ': --render'}")


def mention_what_was_assumed(analysis: "Analysis") -> None:
    """One line about what is not in the input and was taken to exist, because the call says so."""
    taken = analysis.index.taken_to_exist
    if taken:
        from kubectl_policy.cli.terminal import complain
        from kubectl_policy.render.words.names import count, listed

        shown = [str(ref) for ref in taken[:_MOST_NAMED]]
        more = [count(len(taken) - len(shown), "more object")] if len(taken) > len(shown) else []
        are = "is" if len(taken) == 1 else "are"
        complain(
            f"assumed to exist (--assume-exists): {listed([*shown, *more])}, which {are} not in {analysis.index.place}"
        )


def at_fields(
    entries: "Sequence[Located]", *, or_above: bool = False, lines: "Lines | None" = None
) -> "tuple[Located, ...]":
    """What was found, with the lines of the fields that it is about instead of those of their objects.

    A field that is not there has the line of what it would stand in, if `or_above`. `lines` are those of the command.
    """
    from kubectl_policy.sources import Lines

    lines = lines or Lines()
    return tuple(
        replace(entry, origin=at_field(entry.origin, entry.field, or_above=or_above, lines=lines))
        if place < _MOST_LOCATED
        else entry
        for place, entry in enumerate(entries)
    )


def at_field(
    origin: "Origin | None", field: str, *, or_above: bool = False, lines: "Lines | None" = None
) -> "Origin | None":
    """The line of a field of an object that was read somewhere; see `at_fields`."""
    from kubectl_policy.model import FieldPath, Origin
    from kubectl_policy.sources import Lines

    lines = lines or Lines()
    while origin and field:
        if line := lines.locate(origin, FieldPath.parse(field)):
            return Origin(origin.source, line)
        field = field.rpartition(".")[0] if or_above else ""
    return origin
