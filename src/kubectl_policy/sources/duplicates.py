"""One object for each name: which one counts where several have it, and when nothing tells which one is meant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model import Diagnostic, Gap
from kubectl_policy.sources.outline import mentions_of
from kubectl_policy.sources.tree import DELIVERING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from kubectl_policy.model import ObjectRef, Resource, Severity

# Of so many places, a message names no more.
_MOST_NAMED: Final = 3


def one_of_each(
    resources: Iterable[Resource],
    folder_of: Callable[[Resource], str],
    clusters_of: Callable[[Resource], frozenset[str]],
    argument_of: Callable[[Resource], int],
) -> tuple[tuple[Resource, ...], list[Diagnostic], list[Gap]]:
    """Resources with names that differ, what is wrong with the others, and which of them may be another one.

    Of what several paths of a call mean, the later one counts, as for `kubectl apply -f A -f B`. In one folder,
    whatever is read last counts; in several, the first one that has a `spec`, and it is in doubt.
    """
    by_ref: dict[ObjectRef, list[Resource]] = {}
    for resource in resources:
        by_ref.setdefault(resource.ref, []).append(resource)
    chosen: list[Resource] = []
    diagnostics: list[Diagnostic] = []
    gaps: list[Gap] = []
    for same_name in by_ref.values():
        if len(same_name) == 1:
            chosen += same_name
            continue
        last = max(map(argument_of, same_name))
        for earlier in [each for each in same_name if argument_of(each) < last]:
            later = next(each for each in same_name if argument_of(each) > argument_of(earlier))
            diagnostics.append(_duplicate(earlier, later))
            if _counting(earlier, later) is later:
                same_name.remove(earlier)
        # One folder may be for several clusters, and come to different ends there.
        by_folder: dict[tuple[str, frozenset[str]], Resource] = {}
        for resource in same_name:
            folder = folder_of(resource), clusters_of(resource)
            first = by_folder.get(folder)
            if first and first.origin != resource.origin:
                diagnostics.append(_duplicate(first, resource))
            by_folder[folder] = _counting(first, resource) if first else resource
        found = list(by_folder.values())
        counts = next((each for each in found if "spec" in each.raw), found[0])
        chosen.append(counts)
        others = [each for each in found if each.raw != counts.raw]
        if others:
            gaps.append(_alternatives(counts, others, folder_of, clusters_of))
        elif len(found) > 1:
            diagnostics += [_duplicate(counts, each) for each in found if each.origin != counts.origin]
    return tuple(chosen), diagnostics, gaps


def _counting(first: Resource, later: Resource) -> Resource:
    """Of two in one folder, the one that counts: what lacks a spec may be meant to patch the one that has it."""
    return first if "spec" in first.raw and "spec" not in later.raw else later


def _duplicate(first: Resource, later: Resource) -> Diagnostic:
    same = first.raw == later.raw
    where = "there" if _counting(first, later) is first else "here"
    message = f"{first.ref} is also in {first.origin}, " + (
        "with the same content" if same else f"with other content; what is {where} counts: remove one of the two"
    )
    severity: Severity = "info" if same else "warning"
    return Diagnostic(
        rule="duplicate-object", severity=severity, message=message, subject=first.ref, origin=later.origin
    )


def _alternatives(
    counts: Resource,
    others: Sequence[Resource],
    folder_of: Callable[[Resource], str],
    clusters_of: Callable[[Resource], frozenset[str]],
) -> Gap:
    """What is not known of an object that is there several times: which one is meant."""
    everything = (counts, *others)
    where = list(dict.fromkeys(str(each.origin) for each in others if each.origin != counts.origin))
    # Where one file comes to several ends, these are what tells them apart.
    where = where or list(dict.fromkeys(", ".join(sorted(clusters_of(each))) or folder_of(each) for each in others))
    named = ", ".join(where[:_MOST_NAMED]) + (f" and {len(where) - _MOST_NAMED} more" if where[_MOST_NAMED:] else "")
    clusters = [clusters_of(each) for each in everything]
    if all(clusters) and len(set(clusters)) > 1:
        remedy = " or ".join(f"--cluster {name}" for name in sorted(frozenset[str]().union(*clusters)))
    else:
        remedy = " or ".join(f"--offline {folder}" for folder in dict.fromkeys(map(folder_of, everything)))
    is_read = counts.ref.group_kind not in DELIVERING
    words = [mentions_of(each.ref.group_kind, each.raw) for each in others] if is_read else []
    return Gap(
        kind=counts.ref.kind,
        namespace=counts.ref.namespace,
        name=counts.ref.name,
        reason=f"it is different in {named}",
        origin=counts.origin,
        remedy=remedy,
        mentions=frozenset[str]().union(*filter(None, words)) if None not in words else None,
    )
