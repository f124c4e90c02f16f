"""Sections that several answers have: problems, reports, references, events, blind spots, next commands."""

from __future__ import annotations

from itertools import groupby, islice
from typing import TYPE_CHECKING, Final, TypeAlias

from kubectl_policy.model.kinds import listed
from kubectl_policy.model.refs import UNKNOWN_NAMESPACE
from kubectl_policy.model.world import grouped_by
from kubectl_policy.render.output.escape import escape_controls
from kubectl_policy.render.output.text import Line, Segment, prose_line
from kubectl_policy.render.wording.blind_spots import remedy_phrase
from kubectl_policy.render.wording.names import at_origin, count, node_label

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.attachment import SettingsReference
    from kubectl_policy.attachment.settings import Without
    from kubectl_policy.model import Diagnostic, ObjectRef
    from kubectl_policy.questions.blind_spots.unknowns import BlindSpot
    from kubectl_policy.questions.predicted_conditions import AncestorStatus, PolicyCondition
    from kubectl_policy.questions.shared.failing_routes import FailingRoute
    from kubectl_policy.questions.shared.not_looked_into import NotLookedInto, ReferenceRole
    from kubectl_policy.questions.shared.reported import ReportedCondition, ReportedEvent
    from kubectl_policy.render.output.text import Style, View

BLANK: Final = Line()
_WORDS: Final[dict[str, tuple[str, Style]]] = {
    "error": ("error", "error"),
    "warning": ("warning", "warning"),
    "info": ("note", "aside"),
}


def headline_line(text: str) -> Line:
    """Return the sentence that an answer opens with, as its first line."""
    return prose_line(text, "title", 0, 2)


def section(title: str, lines: Iterable[Line]) -> tuple[Line, ...]:
    """Return a titled part after a blank line; nothing at all if it has no lines."""
    body = tuple(lines)
    return (BLANK, Line((Segment(title, "heading"),)), *body) if body else ()


def reported_section(reported: Sequence[ReportedCondition]) -> tuple[Line, ...]:
    """Return the reported conditions: a line for each parent, ancestor or listener and each controller."""
    lines: list[Line] = []
    for (about, controller), conditions in groupby(reported, lambda condition: (condition.about, condition.controller)):
        label = about + (f" (by {controller})" if controller else "")
        spans = [Segment(f"{label}:" if label else "")]
        for index, condition in enumerate(conditions):
            lead = ", " if index else " " if label else ""
            spans.append(Segment(f"{lead}{condition.type} {condition.status}", prose=True))
            # A reason that repeats the type ("Accepted True, Accepted") tells nothing.
            details = [condition.reason] if condition.reason not in {"", condition.type} else []
            details += [condition.message] if condition.status != "True" and condition.message else []
            spans += [Segment(f" ({': '.join(details)})", prose=True)] if details else []
            if condition.stale:
                spans.append(Segment(" [stale: not of the object's present generation]", "warning", prose=True))
        lines.append(Line(tuple(span for span in spans if span.text), 2))
    return section("Reported in the status, not computed", lines)


def expected_section(expected: Sequence[PolicyCondition]) -> tuple[Line, ...]:
    """Return the conditions that controllers of policy kinds should report on an object that is no policy."""
    return section(
        "Controllers of policies should report", (Line(tuple(_conditions([condition])), 2, 4) for condition in expected)
    )


def expected_places_section(expected: Sequence[AncestorStatus]) -> tuple[Line, ...]:
    """Return the conditions that controllers should report on a policy: a line for each ancestor."""
    lines: list[Line] = []
    for status in expected:
        label = (Segment(f"{node_label(status.ancestor)}: "),) if status.ancestor else ()
        lines.append(Line((*label, *_conditions(status.conditions)), 2, 4))
    return section("Its controllers should report", lines)


_WELL: Final = frozenset({"Accepted", "Enforced"})
_DONE: Final = frozenset({"Attached", "Programmed", "ResolvedRefs"})


def _conditions(conditions: Iterable[PolicyCondition]) -> Iterator[Segment]:
    mentioned: set[str] = set()
    for number, condition in enumerate(conditions):
        yield Segment(f"{', ' if number else ''}{condition.type} {condition.status}", prose=True)
        named = condition.reason != condition.type
        # That all is well needs no reason, and one message will do for several conditions.
        if condition.status == "True" and (condition.type in _WELL or (condition.type in _DONE and not named)):
            continue
        message = "" if condition.message in mentioned else condition.message
        mentioned.add(condition.message)
        details = ": ".join(filter(None, [condition.reason if named else "", message]))
        if details:
            yield Segment(f" ({details})", prose=True)


_WITHOUT: Final[Mapping[Without, str]] = {
    "requests fail": "without it, requests to its targets get an error response",
    "policy invalid": "without it, the policy is not valid",
    "setting ignored": "without it, requests go on without that setting",
    "calls fail": "without it, the requests that the policy sends there fail",
    "one less": "without it, what it holds no longer counts there",
    "unknown": "what happens without it is not known",
}


def references_section(references: Iterable[SettingsReference], subject: ObjectRef) -> tuple[Line, ...]:
    """Return the settings of policies that name an object, or something in it, and what follows if it is not there."""
    return section("Referred to by", (_reference(reference, subject) for reference in references))


def _reference(reference: SettingsReference, subject: ObjectRef) -> Line:
    obj, whose = reference.object, f" of {reference.of}" if reference.of else ""
    selects = reference.without == "one less"
    verb = ("seems to " if reference.guessed else "") + ("select" if selects else "refer to")
    verb = verb if reference.guessed else "selects" if selects else "refers to"
    name = "it" if obj.qualified_name == subject.qualified_name else str(obj)
    phrase = f" {verb} {name} ({reference.field}{whose}); {_WITHOUT[reference.without]}"
    return Line((Segment(str(reference.policy), "subject"), Segment(phrase, prose=True)), 2, 4)


def failing_section(failing: Iterable[FailingRoute]) -> tuple[Line, ...]:
    """Return the routes of which requests get an error response, and why."""
    lines: list[Line] = []
    for route in failing:
        rules = "" if route.whole else f" ({listed([rule.section for rule in route.rules])})"
        phrase = f"{rules}: {route.policy} is not valid: {route.message}"
        lines.append(Line((Segment(str(route.route), "subject"), Segment(phrase, prose=True)), 2, 4))
    return section("Requests that get an error response", lines)


# What something that is not looked into is to what names it.
_WHAT: Final[Mapping[ReferenceRole, str]] = {
    "filter": "a filter of",
    "backend": "a backend of",
    "parameters": "the parameters of",
}


def not_looked_into_section(references: Iterable[NotLookedInto]) -> tuple[Line, ...]:
    """Return the references that lead out of what is known: a line per object, with all that name it."""
    lines: list[Line] = []
    for (obj, sort), alike in grouped_by(references, lambda reference: (reference.object, reference.as_)).items():
        by = dict.fromkeys(f"{_WHAT[sort]} {node_label(reference.by)}" for reference in alike)
        fields = ", ".join(dict.fromkeys(reference.field for reference in alike))
        lead = Segment(f"{obj}{at_origin(alike[0].origin, ' ({})')}:")
        lines.append(Line((lead, Segment(f" {listed(list(by))}", prose=True), Segment(f" ({fields})", "aside")), 2, 4))
    return section("Not looked into", lines)


def events_section(events: Sequence[ReportedEvent]) -> tuple[Line, ...]:
    """Return the Events about an object, newest last."""
    lines: list[Line] = []
    for event in events:
        details = [" ".join(filter(None, (event.type, event.reason))) or "Event"]
        details += [f"from {event.from_}"] if event.from_ else []
        details += [f"{event.count} times"] if event.count > 1 else []
        details += [f"last at {event.last}"] if event.last else []
        lead = Segment(f"{', '.join(details)}:", "warning" if event.type == "Warning" else "", prose=True)
        lines.append(Line((lead, Segment(f" {event.message}", prose=True)), 2))
    return section("Events", lines)


def unseen_section(unseen: Sequence[BlindSpot]) -> tuple[Line, ...]:
    """Return the blind spots, with their reasons and remedies."""
    lines: list[Line] = []
    for spot in unseen:
        where = at_origin(spot.origin, " ({})")
        remedy = Segment(f" {spot.reason}. {remedy_phrase(spot)}", prose=True)
        lines.append(Line((Segment(f"{spot.what}{where}:"), remedy), 2))
    return section("Could not be seen", lines)


def problems_section(diagnostics: Iterable[Diagnostic], mentioned: Iterable[str] = ()) -> tuple[Line, ...]:
    """Return the problems that concern the answer, but for those whose message the answer gives elsewhere."""
    elsewhere = tuple(message for message in mentioned if message)
    lines = (
        problem_line(diagnostic)
        for diagnostic in diagnostics
        if not (elsewhere and diagnostic.message.endswith(elsewhere))
    )
    return section("Problems", lines)


def problem_line(diagnostic: Diagnostic) -> Line:
    """Return a problem: how bad it is, where, and what is wrong."""
    label, style = _WORDS[diagnostic.severity]
    where = at_origin(diagnostic.origin, " {}")
    message = f" {diagnostic.message}" + (f" [{diagnostic.reason}]" if diagnostic.reason else "")
    return Line((Segment(label, style), Segment(f"{where}:"), Segment(message, prose=True)), 2)


Command: TypeAlias = tuple[str, ...]


def next_section(commands: Iterable[Command], view: View) -> tuple[Line, ...]:
    """Return at most two next commands, ready to paste with the present options; at a terminal only."""
    if not view.terminal:
        return ()
    import shlex  # noqa: PLC0415 (only a terminal needs it)

    texts = (shlex.join(escape_controls(part) for part in (*command, *view.options)) for command in islice(commands, 2))
    return section("Next", (Line((Segment(f"{view.program} {text}", "command"),), 2) for text in texts))


def describing(ref: ObjectRef, *options: str) -> Command:
    """Return the command that describes an object."""
    # An object of an unknown namespace is found in any.
    is_known = ref.namespace and not ref.namespace.startswith(UNKNOWN_NAMESPACE)
    namespace = ("-n", ref.namespace) if is_known else ()
    return ("describe", f"{ref.kind.lower()}/{ref.name}", *namespace, *options)


def nothing_found(namespace: str, elsewhere: Sequence[str], noun: str) -> list[str]:
    """Return kubectl's words for an empty list, and a hint where there is something."""
    return [f"No resources found{f' in {namespace} namespace.' if namespace else ''}", *elsewhere_hint(elsewhere, noun)]


def elsewhere_hint(elsewhere: Sequence[str], noun: str) -> list[str]:
    """Return a hint where there is something; `elsewhere` has a namespace for each such object."""
    if not elsewhere:
        return []
    namespaces = sorted(set(elsewhere))
    is_one = len(namespaces) == 1
    where = f"namespace {namespaces[0]}: add -n {namespaces[0]}" if is_one else f"{len(namespaces)} namespaces: add -A"
    verb = "is" if len(elsewhere) == 1 else "are"
    return [f"hint: there {verb} {count(len(elsewhere), noun)} in {where}"]
