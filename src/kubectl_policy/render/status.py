"""`status` as text and a table: reported conditions next to computed ones, disagreements first."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, Final, TypeAlias

from kubectl_policy.model.kinds import plural
from kubectl_policy.questions.status.comparison import Comparison, ObjectStatus
from kubectl_policy.render.output.columns import Column, Table
from kubectl_policy.render.output.text import Line, Segment, prose_line
from kubectl_policy.render.wording.headlines import status_headline
from kubectl_policy.render.wording.names import at_origin, count, node_label
from kubectl_policy.render.wording.sections import (
    BLANK,
    describing,
    headline_line,
    next_section,
    section,
    unseen_section,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from kubectl_policy.model.snapshot import SnapshotSource
    from kubectl_policy.questions.status.comparison import Claim, Explanation
    from kubectl_policy.questions.status.report import StatusReport
    from kubectl_policy.render.output.text import Document, Style, View

# So many objects are shown in each part of an answer at a terminal.
_SHOWN: Final = 10
_SILENT: Final = (
    "Controllers write a status into the cluster, not into manifests. To compare, read the objects from there, with "
    "whatever else they refer to:"
)
_UNEXPLAINED: Final = (
    "Where nothing known here explains a disagreement, either the controller has a reason that is not in {place}, or "
    "what is computed is wrong. If it is wrong, please report it, with the objects and the version of the controller."
)
_NO_STATUS: Final[Mapping[SnapshotSource, str]] = {
    "the input": "No status in the input",
    "the cluster": "No status in the cluster",
}
# What would explain a disagreement: as it fits into a column, and in a sentence.
_EXPLANATIONS: Final[Mapping[Explanation, tuple[str, str]]] = {
    "not in spec": ("not in its spec", "its spec does not name {where} (any more)"),
    "older generation": (
        "older generation",
        "the report is for generation {seen}, and the object is at generation {now} now",
    ),
    "class unread": ("GatewayClass not read", "no GatewayClass was read that says whether its controller acts there"),
    "no class": (
        "no class of its controller",
        "no GatewayClass in {place}, or none that is accepted, is its controller's",
    ),
    "other class": (
        "class of another controller",
        "it is by {controller}, and {where} is another controller's, by its GatewayClass",
    ),
    "silent controller": (
        "controller reports nothing",
        "its controller has reported on no {kind} in {place}: it may not be running, or be of another version",
    ),
    "approximate profile": (
        "kind known in part",
        "not everything about {kinds} is computed: explain {name} says what is not",
    ),
    "inferred profile": (
        "kind not known",
        "how {kinds} work is guessed: explain {name} says from what, and how to fix it",
    ),
    "assumed status": (
        "reports not known",
        "how {kinds} report is assumed, because no profile says: explain {name} says what is known",
    ),
    "input incomplete": ("input read only in part", "part of {place} could not be read, and may hold the reason"),
    "none": ("none known", "nothing that is known here explains it; see the end"),
}


def status_text(report: StatusReport, view: View) -> Document:
    """Return the report, disagreements first; if everything is asked for, also what agrees, and nothing is cut."""
    disagreeing = (_block(status, report.place, lambda comparison: comparison.disagrees) for status in report.items)
    undecided = (
        _block(status, report.place, lambda comparison: comparison.verdict == "Undecided") for status in report.items
    )
    stale: list[tuple[Line, ...]] = []
    as_computed: list[tuple[Line, ...]] = []
    for status in report.items:
        agreeing = [comparison for comparison in status.conditions if comparison.verdict == "Agrees"]
        now = f"the object at {status.generation}"
        old = [
            f"{_where(comparison)} is of generation {comparison.observed_generation}, {now}"
            for comparison in agreeing
            if comparison.stale
        ]
        stale.append(_listed(status, old))
        claims = (
            f"{_where(comparison)}: {claim_phrase(comparison.computed or comparison.reported)}"
            for comparison in (agreeing if view.everything else ())
        )
        as_computed.append(_listed(status, claims))
    # That none has a status the headline says.
    silent = [status for status in report.items if not status.has_status]
    named = ((_name(status),) for status in silent if len(silent) < len(report.items))
    return (
        headline_line(status_headline(report)),
        *section("Disagreements", _first(disagreeing, view)),
        *section("Cannot be decided", _first(undecided, view)),
        *section("Of an older generation, but as computed", _first(stale, view)),
        *(section("As computed", _first(as_computed, view)) if view.everything else ()),
        *section(_NO_STATUS[report.place], _first(named, view)),
        *section("Not compared", _not_compared(report)),
        *unseen_section(report.unseen),
        *_asides(report, view),
        *next_section((describing(status.resource.ref) for status in report.items if not status.agrees), view),
    )


def _first(blocks: Iterable[tuple[Line, ...]], view: View) -> Iterable[Line]:
    """Return the lines of each object; where lists are cut of the first ones, with the number of the rest."""
    shown, rest = view.first([block for block in blocks if block], _SHOWN)
    remark = f"and {count(rest, 'more object')}: --show-all shows them"
    return chain(*shown, [prose_line(remark, "aside", 2, 4)] if rest else ())


def _block(status: ObjectStatus, world: SnapshotSource, wanted: Callable[[Comparison], bool]) -> tuple[Line, ...]:
    """Return an object with the comparisons that are wanted, with both sides of each; nothing if there is none."""
    chosen = [comparison for comparison in status.conditions if wanted(comparison)]
    if not chosen:
        return ()
    guessed = " (assumed to be a policy)" if "being a policy" in status.assumed else ""
    subject = (
        Segment(str(status.resource.ref), "subject"),
        Segment(f"{guessed}{at_origin(status.resource.origin, ' ({})')}", "aside"),
    )
    return (Line(subject, 2, 4), *(line for comparison in chosen for line in _compared(status, comparison, world)))


def _where(comparison: Comparison) -> str:
    return f"{comparison.type or '(no type)'}{f' at {node_label(comparison.at)}' if comparison.at else ''}"


def _compared(status: ObjectStatus, comparison: Comparison, world: SnapshotSource) -> Iterator[Line]:
    """Return both sides of a comparison, its blind spots, and the explanation of a disagreement."""
    claims = {"reported": comparison.reported, "computed": comparison.computed}
    sides = [(label, claim_phrase(claim), claim.message if claim else "") for label, claim in claims.items()]
    yield Line((Segment(_where(comparison)),), 4, 6)
    for label, phrase, why in (*sides, *(("unseen", spot.what, spot.reason) for spot in comparison.unseen)):
        detail = (Segment(f": {why}", prose=True),) if why else ()
        yield Line((Segment(f"{label:<11}"), Segment(phrase, prose=True), *detail), 6, 17)
    if comparison.explanation:
        style: Style = "aside" if comparison.explanation == "none" else "warning"
        yield Line((Segment("why        "), Segment(long_reason(status, comparison, world), style, prose=True)), 6, 17)


def _name(status: ObjectStatus) -> Line:
    return Line((Segment(str(status.resource.ref)),), 2, 4)


def _listed(status: ObjectStatus, texts: Iterable[str]) -> tuple[Line, ...]:
    lines = tuple(prose_line(text, indent=4, hang=6) for text in texts)
    return (_name(status), *lines) if lines else ()


def _not_compared(report: StatusReport) -> Iterator[Line]:
    controllers = Counter(entry.controller for status in report.items for entry in status.other_controllers)
    for controller, number in controllers.items():
        text = f" {count(number, 'entry')} of another controller"
        yield Line((Segment(f"{controller or '(no controllerName)'}:"), Segment(text, prose=True)), 2, 4)
    types = Counter(comparison.type for _, comparison in report.comparisons if comparison.verdict == "UnknownType")
    for type_, number in types.items():
        text = f" reported {count(number, 'time')}; when it is due is not known here"
        yield Line((Segment(f"{type_ or '(no type)'}:"), Segment(text, prose=True)), 2, 4)


def _asides(report: StatusReport, view: View) -> Iterator[Line]:
    if report.place == "the input" and report.items and not any(status.has_status for status in report.items):
        yield BLANK
        yield prose_line(_SILENT, "aside", 0, 2)
        kinds = ",".join(f"{names.plural}.{names.group_kind.group}".rstrip(".") for names in report.names)
        command = f"kubectl get gatewayclasses,{kinds} -A -o yaml | {view.program} status -A --offline -"
        yield Line((Segment(command, "command"),), 2, 4)
    if any(comparison.explanation == "none" for _, comparison in report.comparisons):
        yield BLANK
        yield prose_line(_UNEXPLAINED.format(place=report.place), "aside", 0, 0)


def claim_phrase(claim: Claim | None, nothing: str = "nothing") -> str:
    """`True (Accepted)`; a count alone; `nothing` where one side has none."""
    if claim is None:
        return nothing
    return f"{claim.status} ({claim.reason})" if claim.reason else claim.status or '""'


def short_reason(comparison: Comparison) -> str:
    """Say why a comparison does not agree, in few enough words for a column."""
    if comparison.unseen:
        return f"unseen: {', '.join(spot.what for spot in comparison.unseen)}"
    return _EXPLANATIONS[comparison.explanation][0] if comparison.explanation else ""


def long_reason(status: ObjectStatus, comparison: Comparison, world: SnapshotSource) -> str:
    """Explain a disagreement, as a sentence without its end; empty if there is none."""
    if not comparison.explanation:
        return ""
    kind = (comparison.policy_kind or status.resource.ref.group_kind).kind
    return _EXPLANATIONS[comparison.explanation][1].format(
        where=node_label(comparison.at) if comparison.at else str(status.resource.ref),
        seen=comparison.observed_generation,
        now=status.generation,
        controller=comparison.controller or "another controller",
        kind=kind,
        kinds=plural(kind),
        name=kind.lower(),
        place=world,
    )


_Row: TypeAlias = tuple[ObjectStatus, Comparison]


def _number(number: int | None) -> str:
    return "" if number is None else str(number)


_COLUMNS: Final[tuple[Column[_Row], ...]] = (
    Column("OBJECT", lambda row: str(row[0].resource.ref)),
    Column("AT", lambda row: str(row[1].at or "")),
    Column("CONDITION", lambda row: row[1].type),
    Column("REPORTED", lambda row: claim_phrase(row[1].reported, "")),
    Column("COMPUTED", lambda row: claim_phrase(row[1].computed, "")),
    Column("VERDICT", lambda row: row[1].verdict),
    Column("EXPLAINED BY", lambda row: short_reason(row[1])),
    Column("CONTROLLER", lambda row: row[1].controller, narrow=False),
    Column("SEEN", lambda row: _number(row[1].observed_generation), narrow=False),
    Column("GENERATION", lambda row: _number(row[0].generation), narrow=False),
    Column("MESSAGE", lambda row: row[1].reported.message if row[1].reported else "", narrow=False),
)


def status_table(report: StatusReport, view: View) -> Table[_Row]:
    """Return a row for each comparison that disagrees; if everything is asked for, for all of them."""
    return Table(_COLUMNS, [row for row in report.comparisons if view.everything or row[1].disagrees])
