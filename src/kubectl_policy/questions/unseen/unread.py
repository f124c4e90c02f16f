"""What could not be read, in words: of what a cluster did not give out, all of one kind and for one reason as one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_policy.model.kinds import listed, plural
from kubectl_policy.questions.unseen.things import Unseen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Gap

FIX: Final = "fix or leave out this input"
# So many names are told; where there are more, one less than that.
_MOST_NAMES: Final = 5


def gaps(analysis: Analysis, found: Iterable[Gap]) -> Iterator[Unseen]:
    """What could not be read, or not as it is; what a cluster did not give out of one kind for one reason, as one."""
    together: dict[tuple[str, str | None, str, bool], list[Gap]] = {}
    for number, gap in enumerate(found):
        alone = "" if gap.group is not None and gap.kind else str(number)
        together.setdefault((gap.kind, gap.group, f"{gap.reason}{alone}", bool(gap.name)), []).append(gap)
    for several in together.values():
        gap = several[0]
        is_there = analysis.index.absence.is_read(gap)
        known = tuple(several) if gap.group is not None else ()
        remedy = gap.remedy or FIX
        yield Unseen(
            what=_called(several), reason=gap.reason, remedy=remedy, origin=gap.origin, is_there=is_there, gaps=known
        )


def _called(several: Sequence[Gap]) -> str:
    """Gaps of one kind in words: `RetryPolicies in namespaces baker and infra`, `Gateway infra/edge`."""
    first = several[0]
    kind, namespaces = first.kind, list(dict.fromkeys(gap.namespace for gap in several))
    if first.name:
        names = [f"{gap.namespace}/{gap.name}" if gap.namespace else gap.name for gap in several]
        return f"{kind if len(names) == 1 else plural(kind)} {listed(names, _MOST_NAMES)}"
    if not kind:
        where = f" in namespace {first.namespace}" if first.namespace else ""
        return f"objects of any kind{where}" if not first.group else f"objects of API group {first.group}"
    if first.group is None:
        return f"{kind} in namespace {first.namespace}" if first.namespace else kind
    if "" not in namespaces:
        return f"{plural(kind)} {in_namespaces(namespaces)}"
    read = sorted(frozenset[str]().union(*(gap.besides for gap in several)))
    return f"{plural(kind)} not {in_namespaces(read)}" if read else plural(kind)


def in_namespaces(names: Sequence[str]) -> str:
    """`in namespace a`, `in namespaces a and b`; of many the first ones, and how many others there are."""
    return f"in namespace{'' if len(names) == 1 else 's'} {listed(names, _MOST_NAMES)}"
