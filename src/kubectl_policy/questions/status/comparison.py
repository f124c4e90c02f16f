"""One condition twice: as it is computed and as it was reported, and whether the two agree."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kubectl_policy.model import GroupKind, NodeRef, ObjectRef, Resource
    from kubectl_policy.questions.shared.reported import ReportedCondition, ReportedPlace
    from kubectl_policy.questions.shared.unseen import Unseen

# "undecided" depends on something that was not read; of an "unknown type" nobody has said when it is to be reported.
Verdict: TypeAlias = Literal["agrees", "differs", "not reported", "not expected", "undecided", "unknown type"]
DISAGREEMENTS: Final[frozenset[Verdict]] = frozenset({"differs", "not reported", "not expected"})

# What would explain a disagreement, the likeliest first; "none" is known where nothing is.
Explanation: TypeAlias = Literal[
    "older generation",
    "not in spec",
    "class unread",
    "no class",
    "other class",
    "silent controller",
    "approximate profile",
    "inferred profile",
    "assumed status",
    "input incomplete",
    "none",
]

# The type under which the number of a listener's routes, or of a Gateway's ListenerSets, stands beside conditions.
ATTACHED_ROUTES: Final = "attachedRoutes"
ATTACHED_LISTENER_SETS: Final = "attachedListenerSets"
COUNTS: Final = frozenset({ATTACHED_ROUTES, ATTACHED_LISTENER_SETS})

# What a count is made of is named up to here.
_LISTED: Final = 5


class Claim(NamedTuple):
    """What one side says: status and reason are compared, the message never is."""

    status: str
    reason: str = ""
    message: str = ""


class Counted(NamedTuple):
    """What is counted and the number that was reported; where the world `is_open`, more may exist than was read."""

    computed: tuple[ObjectRef, ...]
    reported: int
    is_open: bool


class Predicted(Protocol):
    """A condition that should be reported, whoever predicts it."""

    @property
    def type(self) -> str:
        """As in `metav1.Condition`."""
        ...

    @property
    def status(self) -> str:
        """As in `metav1.Condition`."""
        ...

    @property
    def reason(self) -> str:
        """As in `metav1.Condition`; Pending where the status is Unknown because something was not read."""
        ...

    @property
    def message(self) -> str:
        """Why, in our words."""
        ...


@dataclass(frozen=True, slots=True)
class Comparison:
    """One type of condition in one place: an ancestor, a parent or a listener, None for the object's own conditions.

    `computed` is None where nothing should be reported, `reported` where nothing was. `controller` is who reported, as
    far as the status says so, `seen` the generation of the object that it had seen. A disagreement has an
    `explanation`; what is undecided has `doubts`, or a computed message that says on what it depends. `kind` is the
    policy kind whose controllers mark what policies affect, where the condition is such a mark.
    """

    at: NodeRef | None
    type: str
    computed: Claim | None
    reported: Claim | None
    verdict: Verdict
    controller: str = ""
    seen: int | None = None
    stale: bool = False
    explanation: Explanation | None = None
    doubts: tuple[Unseen, ...] = ()
    kind: GroupKind | None = None

    @property
    def disagrees(self) -> bool:
        """Whether the two sides are known to say different things."""
        return self.verdict in DISAGREEMENTS

    @property
    def is_compared(self) -> bool:
        """Whether both sides could be held against each other."""
        return self.disagrees or self.verdict == "agrees"


class Foreign(NamedTuple):
    """A place in a status that another controller writes, whose business it is."""

    at: NodeRef | None
    controller: str


@dataclass(frozen=True, slots=True)
class ObjectStatus:
    """The report on one object beside what is computed; without a report (`reported`) there is nothing to compare."""

    resource: Resource
    generation: int | None
    comparisons: tuple[Comparison, ...] = ()
    foreign: tuple[Foreign, ...] = ()
    is_policy: bool = field(kw_only=True)
    reported: bool = field(kw_only=True)

    @property
    def disagrees(self) -> bool:
        """Whether anything in the report is known not to be as computed."""
        return any(found.disagrees for found in self.comparisons)


def compare(
    at: NodeRef | None,
    computed: Iterable[Predicted],
    reported: Iterable[ReportedCondition],
    spoken: Mapping[str, frozenset[str]],
    *,
    optional: Iterable[tuple[str, str]] = (),
) -> Iterator[Comparison]:
    """The conditions of one place, type by type: first those that are computed, then what else is reported.

    `spoken` are the types of which it is known when they are reported, with the statuses that they then have: one of
    these that is reported and not computed is not expected. What is `optional`, by type and status, may be left out. Of
    two conditions of one type the first counts, as types are the keys of the list (`+listMapKey=type`).
    """
    said: dict[str, ReportedCondition] = {}
    for condition in reported:
        said.setdefault(condition.type, condition)
    for wanted in computed:
        found = said.pop(wanted.type, None)
        if found or (wanted.type, wanted.status) not in optional:
            yield _beside(at, Claim(wanted.status, wanted.reason, wanted.message), found, wanted.type)
    for found in said.values():
        known = found.status in spoken.get(found.type, ())
        yield _comparison(at, found.type, None, found, "not expected" if known else "unknown type")


def compare_count(at: NodeRef | None, name: str, counted: Counted, place: ReportedPlace) -> Comparison:
    """A number that a controller reports in a place; `name` takes the place of a condition's type."""
    computed, reported = len(counted.computed), counted.reported
    more_may_exist = counted.is_open and reported > computed
    verdict: Verdict = "agrees" if computed == reported else "undecided" if more_may_exist else "differs"
    listed = ", ".join(map(str, counted.computed[:_LISTED]))
    left = f" and {computed - _LISTED} more" if computed > _LISTED else ""
    seen = min((one.seen for one in place.conditions if one.seen is not None), default=None)
    stale = any(one.stale for one in place.conditions)
    return Comparison(
        at, name, Claim(str(computed), "", listed + left), Claim(str(reported)), verdict, seen=seen, stale=stale
    )


def _beside(at: NodeRef | None, wanted: Claim, found: ReportedCondition | None, type_: str) -> Comparison:
    if wanted.status == "Unknown" and wanted.reason == "Pending":
        return _comparison(at, type_, wanted, found, "undecided")
    if found is None:
        return _comparison(at, type_, wanted, found, "not reported")
    same = (wanted.status, wanted.reason) == (found.status, found.reason)
    return _comparison(at, type_, wanted, found, "agrees" if same else "differs")


def _comparison(
    at: NodeRef | None, type_: str, wanted: Claim | None, found: ReportedCondition | None, verdict: Verdict
) -> Comparison:
    if found is None:
        return Comparison(at, type_, wanted, None, verdict)
    said = Claim(found.status, found.reason, found.message)
    return Comparison(at, type_, wanted, said, verdict, found.controller, found.seen, found.stale)
