"""Duplicates: choose the object that counts of several with one name, and report the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model import Diagnostic, Gap
from kubectl_policy.sources.mentions import mentions_of
from kubectl_policy.sources.tree import DELIVERING, AppliedBy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from kubectl_policy.model import Resource, Severity
    from kubectl_policy.sources.reading import Reading

# A message names no more locations.
_MAX_NAMED: Final = 3


def choose_object(
    resources: Iterable[Resource], reading: Reading, applied_by: Callable[[Resource], AppliedBy] = lambda _: AppliedBy()
) -> Resource:
    """Return the object that counts of several with one name; note what is wrong with the others.

    The later argument of a call counts, as for `kubectl apply -f A -f B`. In one folder, the object that is read last
    counts; in several folders, the first one that has a `spec`, and it is in doubt.
    """
    same_name = {resource: applied_by(resource) for resource in resources}
    last = max(origin.argument for origin in same_name.values())
    for earlier, (argument, *_) in [*same_name.items()]:
        if argument < last:
            later = next(resource for resource, by in same_name.items() if by.argument > argument)
            reading.diagnostics.append(_duplicate(earlier, later))
            if _preferred(earlier, later) is later:
                del same_name[earlier]
    # One folder may be for several clusters, and come to different ends there.
    by_folder: dict[tuple[str, frozenset[str]], Resource] = {}
    for resource, (_, folder, clusters) in same_name.items():
        first = by_folder.get((folder, clusters))
        if first and first.origin != resource.origin:
            reading.diagnostics.append(_duplicate(first, resource))
        by_folder[folder, clusters] = _preferred(first, resource) if first else resource
    candidates = {resource: same_name[resource] for resource in by_folder.values()}
    counting = next((resource for resource in candidates if "spec" in resource.raw), next(iter(candidates)))
    if any(resource.raw != counting.raw for resource in candidates):
        reading.gaps.append(_alternatives(counting, candidates))
    else:
        copies = [resource for resource in candidates if resource.origin != counting.origin]
        reading.diagnostics += [_duplicate(counting, resource) for resource in copies]
    return counting


def _preferred(first: Resource, later: Resource) -> Resource:
    """Return the object that counts of two in one folder: one without a spec may be meant as a patch of the other."""
    return first if "spec" in first.raw and "spec" not in later.raw else later


def _duplicate(first: Resource, later: Resource) -> Diagnostic:
    same = first.raw == later.raw
    where = "there" if _preferred(first, later) is first else "here"
    message = f"{first.ref} is also in {first.origin}, " + (
        "with the same content" if same else f"with other content; what is {where} counts: remove one of the two"
    )
    severity: Severity = "info" if same else "warning"
    return Diagnostic("duplicate-object", severity, message, first.ref, origin=later.origin)


def _alternatives(counting: Resource, candidates: Mapping[Resource, AppliedBy]) -> Gap:
    """Return the gap of an object that is there several times: which one is meant is unknown."""
    alternatives = [resource for resource in candidates if resource.raw != counting.raw]
    locations = dict.fromkeys(str(resource.origin) for resource in alternatives if resource.origin != counting.origin)
    # Where one file comes to several ends, these are what tells them apart.
    ends = (candidates[resource] for resource in alternatives)
    names = list(locations or dict.fromkeys(", ".join(sorted(by.clusters)) or by.folder for by in ends))
    named = ", ".join(names[:_MAX_NAMED]) + (f" and {len(names) - _MAX_NAMED} more" if names[_MAX_NAMED:] else "")
    applied = [candidates[resource] for resource in (counting, *alternatives)]
    clusters = {by.clusters for by in applied}
    if all(clusters) and len(clusters) > 1:
        remedy = " or ".join(f"--cluster {name}" for name in sorted(frozenset[str]().union(*clusters)))
    else:
        remedy = " or ".join(f"--offline {folder}" for folder in dict.fromkeys(by.folder for by in applied))
    is_read = counting.ref.group_kind not in DELIVERING
    mentions = [mentions_of(resource.ref.group_kind, resource.raw) for resource in alternatives] if is_read else []
    return Gap(
        kind=counting.ref.kind,
        namespace=counting.ref.namespace,
        name=counting.ref.name,
        reason=f"it is different in {named}",
        origin=counting.origin,
        remedy=remedy,
        mentions=frozenset[str]().union(*filter(None, mentions)) if None not in mentions else None,
    )
