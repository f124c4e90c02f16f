"""Who loses traffic and who gets some: a clause for a sentence, and a line for each route, with its hostnames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.model.kinds import listed, plural
from kubectl_policy.model.refs import is_unnamed
from kubectl_policy.questions.differences.traffic import RouteTraffic
from kubectl_policy.render.output.text import Line, Span, cells, pad
from kubectl_policy.render.words.names import count, names, sections_words
from kubectl_policy.render.words.sections import section
from kubectl_policy.topology.references import GRPC_ROUTE, HTTP_ROUTE, UDP_ROUTE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.model import GroupKind, NodeRef, ObjectRef
    from kubectl_policy.questions.changes.behind import RouteBehind
    from kubectl_policy.questions.changes.diff import StateDiff
    from kubectl_policy.questions.differences.traffic import FailingRule, TrafficOneWay
    from kubectl_policy.render.output.text import View

# So many routes, hostnames or objects are shown of each sort where lists are cut.
SHOWN: Final = 12
REST: Final = "--show-all"
_NAMED: Final = 3
_WIDEST: Final = 40
_ANY_HOST: Final = "*"


class _Fate(Struct, frozen=True, kw_only=True):
    """What becomes of requests for which there is no backend, after `makes 90% of them` and after `90% of them`.

    "500 status codes MUST be returned" (HTTPBackendRef), "MUST receive an UNAVAILABLE status" (GRPCRouteRule); of TCP
    and TLS connections are to be rejected, of UDP packets are to be dropped.
    """

    noun: str = "connections"
    infinitive: str = "fail"
    plain: str = "are refused"


_FATES: Final[Mapping[GroupKind, _Fate]] = {
    HTTP_ROUTE: _Fate(noun="requests", infinitive="fail with 500", plain="get 500"),
    GRPC_ROUTE: _Fate(noun="requests", infinitive="fail with UNAVAILABLE", plain="get UNAVAILABLE"),
    UDP_ROUTE: _Fate(noun="packets", infinitive="get lost", plain="are dropped"),
}
_CONNECTION: Final = _Fate()


def _fate(found: RouteTraffic) -> _Fate:
    """What becomes of the requests of a route that fail; where a filter answers all of them, with its status."""
    statuses = {each.status for each in found.failing}
    status = statuses.pop() if len(statuses) == 1 else 0
    if not status:
        return _FATES.get(found.route.group_kind, _CONNECTION)
    return _Fate(noun="requests", infinitive=f"get {status}", plain=f"get {status}")


def hit_words(routes: Collection[RouteTraffic | RouteBehind], owner_key: str = "") -> str:
    """`8 routes in 4 namespaces (12 hostnames, teams search and shop)`, `HTTPRoute shop/cart (hostname a.example)`."""
    refs = [each.route for each in routes]
    about = about_words(routes, owner_key)
    if len(refs) == 1:
        return f"{refs[0]}{about}"
    namespaces = sorted({ref.namespace for ref in refs})
    where = f"namespace {namespaces[0]}" if len(namespaces) == 1 else count(len(namespaces), "namespace")
    return f"{count(len(refs), 'route')} in {where}{about}"


def about_words(routes: Collection[RouteTraffic | RouteBehind], owner_key: str = "") -> str:
    """` (12 hostnames, teams search and shop)`; empty if there is neither."""
    names = sorted({name for each in routes for name in each.hostnames})
    of_any = sum(_ANY_HOST in each.hostnames for each in routes)
    said = [*hostname_words(names, of_any), *owner_words({each.owner for each in routes}, owner_key)]
    return f" ({', '.join(said)})" if said else ""


def hostname_words(names: Collection[str], of_any: int = 0) -> list[str]:
    """`hostname a.example`, `12 hostnames`, and that so many routes take any hostname; nothing without any."""
    named = [name for name in names if name != _ANY_HOST]
    if not named:
        return ["any hostname"] if names else []
    words = [f"hostname {named[0]}" if len(named) == 1 else count(len(named), "hostname")]
    if len(named) < len(names):
        words.append(f"any hostname on {count(of_any, 'route')}" if of_any else "and any hostname on other routes")
    return words


def owner_words(owners: Iterable[str], owner_key: str) -> list[str]:
    """`team shop`, `teams search and shop`; nothing if no owner is named."""
    named = sorted({*owners} - {""})
    noun = owner_noun(owner_key)
    return [f"{noun if len(named) == 1 else plural(noun)} {listed(named)}"] if named else []


def owner_noun(owner_key: str) -> str:
    """What an owner is called by a label or annotation: `team` by `acme.com/team`."""
    return owner_key.rpartition("/")[2]


def _share(failing: FailingRule) -> str:
    """`all`, `90%`, `less than 1%`."""
    if failing.failing == failing.total:
        return "all"
    percent = 100 * failing.failing / failing.total
    return "less than 1%" if percent < 1 else "more than 99%" if percent > 99 else f"{percent:.0f}%"  # noqa: PLR2004


def _failing_words(found: RouteTraffic) -> str:
    """`90% of the requests of HTTPRoute search/query`, with its rule if only one of several is concerned."""
    fate, shares = _fate(found), {_share(each) for each in found.failing}
    if len(shares) > 1 or 1 < len(found.failing) < found.rules:
        return f"part of the {fate.noun} of {found.route}"
    share = shares.pop()
    some = f"all {fate.noun}" if share == "all" else f"{share} of the {fate.noun}"
    rule = "" if len(found.failing) == found.rules else f" of {_rule(found.failing[0])}"
    return f"{some}{rule} of {found.route}"


def _rule(failing: FailingRule) -> str:
    """`rule cart`, `rule[0]`, `the former rule[0]`."""
    section = failing.rule.section
    if section.startswith("former "):
        return f"the {section}"
    return section if is_unnamed(section) else f"rule {section}"


def _split(routes: Iterable[RouteTraffic]) -> tuple[list[RouteTraffic], list[RouteTraffic]]:
    """The routes of which requests fail, and those that only lose a listener."""
    failing: list[RouteTraffic] = []
    moved: list[RouteTraffic] = []
    for each in routes:
        (failing if each.failing else moved).append(each)
    return failing, moved


def ending_clauses(lost: TrafficOneWay, owner_key: str, subject: ObjectRef | None = None) -> Iterator[str]:
    """The traffic that deleting an object ends, after its name."""
    if len(lost.all) == 1 and lost.all[0].route == subject:
        yield f"ends all its traffic{about_words(lost.all, owner_key)}"
    elif lost.all:
        yield f"ends all traffic for {hit_words(lost.all, owner_key)}"
    failing, moved = _split(lost.some)
    if len(failing) == 1:
        fate = _fate(failing[0])
        yield f"makes {_failing_words(failing[0])} {fate.infinitive}{about_words(failing, owner_key)}"
    elif failing:
        yield f"makes part of the requests fail for {hit_words(failing, owner_key)}"
    if moved and not (lost.all or failing):
        yield f"ends part of the traffic for {hit_words(moved, owner_key)}"


def keeping_clause(lost: TrafficOneWay) -> str:
    """`; 1 route keeps another Gateway`; empty if none does, or no other loses more."""
    failing, moved = _split(lost.some)
    if not moved or not (lost.all or failing):
        return ""
    others = all(
        {place.object for place in each.kept}.isdisjoint(place.object for place in each.lost) for each in moved
    )
    verb, what = "keeps" if len(moved) == 1 else "keep", "Gateway" if others else "listener"
    return f"; {count(len(moved), 'route')} {verb} another {what}"


def passing_clauses(difference: StateDiff) -> Iterator[str]:
    """The traffic that ends, and begins, as parts of a sentence of their own."""
    traffic = difference.traffic
    key = traffic.owner_key
    if traffic.lost.all:
        yield f"traffic ends for {hit_words(traffic.lost.all, key)}"
    failing, moved = _split(traffic.lost.some)
    if len(failing) == 1:
        fate = _fate(failing[0])
        yield f"{_failing_words(failing[0])} {fate.plain}{about_words(failing, key)}"
    elif failing:
        yield f"part of the requests fail for {hit_words(failing, key)}"
    if moved:
        yield f"part of the traffic ends for {hit_words(moved, key)}"
    if traffic.gained.all:
        yield f"traffic starts for {hit_words(traffic.gained.all, key)}"
    if traffic.gained.some:
        yield f"more traffic comes to {hit_words(traffic.gained.some, key)}"
    if traffic.uncontrolled:
        verb = "is" if len(traffic.uncontrolled) == 1 else "are"
        yield f"{hit_words(traffic.uncontrolled, key)} {verb} left behind Gateways without a controller"


def lost_sections(difference: StateDiff, view: View) -> tuple[Line, ...]:
    """Whom the traffic ends for, whom a part of it, and what nothing reaches any more."""
    traffic = difference.traffic
    lost, key = traffic.lost, traffic.owner_key
    why = _reasons(difference)
    return (
        *section("Lose all traffic", _rows(lost.all, key, view, why)),
        *section("Lose some traffic", _rows(lost.some, key, view, why)),
        *section("Behind Gateways left without a controller", _rows(traffic.uncontrolled, key, view)),
        *section("No longer reachable", _unreached(lost, view)),
    )


def gained_sections(difference: StateDiff, view: View) -> tuple[Line, ...]:
    """For whom traffic begins, and who gets more of it."""
    gained, key = difference.traffic.gained, difference.traffic.owner_key
    return (
        *section("Get traffic", _rows(gained.all, key, view, gained=True)),
        *section("Get more traffic", _rows(gained.some, key, view, gained=True)),
    )


def _reasons(difference: StateDiff) -> Mapping[ObjectRef, str]:
    """Why routes lose parents that are still there, by the route; that a parent is gone is reason enough."""
    gone = {*difference.deleted}
    return {
        change.route: change.message
        for change in reversed(difference.parents)
        if change.message and change.parent.object not in gone
    }


def behind_section(routes: Sequence[RouteBehind], owner_key: str, view: View) -> tuple[Line, ...]:
    """The routes whose requests come through the listeners that a policy affects."""
    return section("Through these listeners", _table([(each, []) for each in routes], owner_key, view))


def _rows(
    routes: Sequence[RouteTraffic],
    owner_key: str,
    view: View,
    why: Mapping[ObjectRef, str] | None = None,
    *,
    gained: bool = False,
) -> list[Line]:
    """A line for each route and, where it is not all of its traffic or not clear why, what of it and why."""
    told = why or {}
    rows = [
        (each, [*details(each, gained=gained), *([told[each.route]] if each.lost and each.route in told else [])])
        for each in routes
    ]
    return _table(rows, owner_key, view)


def details(found: RouteTraffic, *, gained: bool) -> Iterator[str]:
    """Which part of its traffic a route loses, or gets, and what it keeps."""
    fate = _fate(found)
    for failing in found.failing:
        rule = _rule(failing)
        lead = f"{rule}: " if found.rules > 1 else ""
        if failing.is_gone:
            yield f"{rule} is new" if gained else f"no rule takes what {rule} took"
        elif gained:
            yield f"{lead}{_share(failing)} of its {fate.noun} are answered again"
        else:
            reason = f" [{failing.reason}]" if failing.reason else ""
            message = f": {failing.message}{reason}" if failing.message else ""
            yield f"{lead}{_share(failing)} of its {fate.noun} {fate.plain}{message}"
    if found.lost and found.kept:
        yield f"at {places_words(found.lost)}" if gained else f"keeps {places_words(found.kept)}"


def places_words(places: Iterable[NodeRef]) -> str:
    """`Gateway infra/edge, listeners a and b`, `HTTPRoute a/b, rule[0] and rule c`; of several objects one by one."""
    sections: dict[ObjectRef, list[str]] = {}
    for place in places:
        sections.setdefault(place.object, []).extend([place.section] if place.section else [])
    return "; ".join(
        ", ".join(filter(None, [str(obj), sections_words(obj.group_kind, names)])) for obj, names in sections.items()
    )


def _table(rows: Sequence[tuple[RouteTraffic | RouteBehind, list[str]]], owner_key: str, view: View) -> list[Line]:
    """Routes with their hostnames and owners in columns, and with details below each."""
    shown = rows[:SHOWN] if view.cuts else rows
    routes = [str(each.route) for each, _ in shown]
    hosts = [_hosts(each.hostnames, view) for each, _ in shown]
    first = max(map(cells, routes), default=0)
    second = max((width for width in map(cells, hosts) if width <= _WIDEST), default=0)
    lines: list[Line] = []
    for (each, details), route, text in zip(shown, routes, hosts, strict=True):
        about = ", ".join([*_rules(each), *(owner_words([each.owner], owner_key) if each.owner else ())])
        spans = [Span(pad(route, first) if text or about else route, "subject")]
        spans += [Span(f"   {pad(text, second) if about else text}")] if text or about else []
        spans += [Span(f"   {about}", "aside")] if about else []
        lines.append(Line(tuple(spans), 2, 6))
        lines.extend(Line((Span(detail, prose=True),), 4, 6) for detail in details)
    if len(shown) < len(rows):
        lines.append(more_line(len(rows) - len(shown), "route"))
    return lines


def _rules(each: RouteTraffic | RouteBehind) -> list[str]:
    return [count(each.rules, "rule")] if isinstance(each, RouteTraffic) else []


def _hosts(names: Sequence[str], view: View) -> str:
    said = ["any hostname" if name == _ANY_HOST else name for name in names]
    if view.cuts and len(said) > _NAMED:
        return f"{', '.join(said[: _NAMED - 1])} and {len(said) - _NAMED + 1:,} more"
    return ", ".join(said)


def _unreached(lost: TrafficOneWay, view: View) -> list[Line]:
    rows = [
        ("hostnames", ["any hostname" if name == _ANY_HOST else name for name in lost.hostnames]),
        ("listeners", _by_object(lost.listeners)),
        ("backends", [str(ref) for ref in lost.backends]),
    ]
    told = [(label, words) for label, words in rows if words]
    width = max((len(label) for label, _ in told), default=0)
    lines = [list_line(words, view, lead=f"{pad(label, width)}   ") for label, words in told]
    partly = {each.route for each in lost.some}
    for each in lost.answered:
        if not partly.issuperset(each.by):
            hosts = ", ".join("other hostnames" if name == _ANY_HOST else name for name in each.hostnames)
            verb = "answers" if len(each.by) == 1 else "answer"
            lines.append(Line((Span(f"{names(each.by)} still {verb} {hosts}", "aside", prose=True),), 2))
    return lines


def _by_object(places: Iterable[NodeRef]) -> list[str]:
    """`admin, http of Gateway infra/edge`."""
    by_object: dict[ObjectRef, list[str]] = {}
    for place in places:
        by_object.setdefault(place.object, []).append(place.section)
    return [f"{', '.join(names)} of {obj}" if any(names) else str(obj) for obj, names in by_object.items()]


def list_line(words: Sequence[str], view: View, indent: int = 2, lead: str = "") -> Line:
    """Things one after another; where lists are cut the first ones of many, with how many more there are."""
    shown = list(words[:SHOWN]) if view.cuts else list(words)
    left, last = len(words) - len(shown), len(shown) - 1
    spans = [Span(f"{' ' if place else ''}{text}{',' if place < last else ''}") for place, text in enumerate(shown)]
    more = [Span(f" and {left:,} more: {REST}", "aside", prose=True)] if left else []
    return Line((Span(lead), *spans, *more), indent, indent + len(lead))


def more_line(left: int, noun: str, indent: int = 2) -> Line:
    """How many more there are, and what shows them."""
    return Line(
        (Span(f"and {left:,} more {noun if left == 1 else plural(noun)}: {REST}", "aside", prose=True),), indent
    )
