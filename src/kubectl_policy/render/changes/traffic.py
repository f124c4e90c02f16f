"""Routes that lose or get traffic: clauses of a sentence, and a line for each route with its hostnames."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.model.kind_roles import GRPC_ROUTE, HTTP_ROUTE, UDP_ROUTE
from kubectl_policy.model.kinds import listed, names, plural
from kubectl_policy.model.refs import is_unnamed
from kubectl_policy.model.world import grouped
from kubectl_policy.questions.differences.traffic import RouteTraffic
from kubectl_policy.render.output.text import Line, Segment, cells, in_a_row, pad, prose_line
from kubectl_policy.render.wording.names import count, namespaces_phrase, sections_phrase
from kubectl_policy.render.wording.sections import section

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from kubectl_policy.model import GroupKind, NodeRef, ObjectRef
    from kubectl_policy.questions.diff import StateDiff
    from kubectl_policy.questions.differences.serving import RouteBehind
    from kubectl_policy.questions.differences.traffic import FailingRule, TrafficOneWay
    from kubectl_policy.render.output.text import View

# So many routes, hostnames or objects are shown of each sort where lists are cut.
SHOWN: Final = 12
REST: Final = "--show-all"
_NAMED: Final = 3
_WIDEST: Final = 40
_ANY_HOST: Final = "*"


class _Fate(Struct, frozen=True, kw_only=True):
    """Fate of requests without a backend, in words after `makes 90% of them` and after `90% of them`."""

    noun: str = "connections"
    infinitive: str = "fail"
    plain: str = "are refused"


# "500 status codes MUST be returned" (HTTPBackendRef), "MUST receive an UNAVAILABLE status" (GRPCRouteRule); of TCP and
# TLS connections are to be rejected, of UDP packets are to be dropped.
_FATES: Final[Mapping[GroupKind, _Fate]] = {
    HTTP_ROUTE: _Fate(noun="requests", infinitive="fail with 500", plain="get 500"),
    GRPC_ROUTE: _Fate(noun="requests", infinitive="fail with UNAVAILABLE", plain="get UNAVAILABLE"),
    UDP_ROUTE: _Fate(noun="packets", infinitive="get lost", plain="are dropped"),
}


def _fate(traffic: RouteTraffic) -> _Fate:
    """Say what becomes of the failing requests of a route; if a filter answers all of them, its status."""
    statuses = {rule.status for rule in traffic.failing}
    status = statuses.pop() if len(statuses) == 1 else 0
    if not status:
        return _FATES.get(traffic.route.group_kind, _Fate())
    return _Fate(noun="requests", infinitive=f"get {status}", plain=f"get {status}")


def routes_phrase(routes: Collection[RouteTraffic | RouteBehind], owner_key: str = "") -> str:
    """`8 routes in 4 namespaces (12 hostnames, teams search and shop)`, `HTTPRoute shop/cart (hostname a.example)`."""
    refs = [traffic.route for traffic in routes]
    about = routes_details(routes, owner_key)
    if len(refs) == 1:
        return f"{refs[0]}{about}"
    return f"{count(len(refs), 'route')}{namespaces_phrase(ref.namespace for ref in refs)}{about}"


def routes_details(routes: Collection[RouteTraffic | RouteBehind], owner_key: str = "") -> str:
    """` (12 hostnames, teams search and shop)`; empty if there is neither."""
    names = sorted({name for traffic in routes for name in traffic.hostnames})
    of_any = sum(_ANY_HOST in traffic.hostnames for traffic in routes)
    details = [*hostname_phrases(names, of_any), *owner_phrases({traffic.owner for traffic in routes}, owner_key)]
    return f" ({', '.join(details)})" if details else ""


def hostname_phrases(names: Collection[str], of_any: int = 0) -> list[str]:
    """`hostname a.example`, `12 hostnames`, and that so many routes take any hostname; nothing without any."""
    named = [name for name in names if name != _ANY_HOST]
    if not named:
        return ["any hostname"] if names else []
    phrases = [f"hostname {named[0]}" if len(named) == 1 else count(len(named), "hostname")]
    if len(named) < len(names):
        phrases.append(f"any hostname on {count(of_any, 'route')}" if of_any else "and any hostname on other routes")
    return phrases


def owner_phrases(owners: Iterable[str], owner_key: str) -> list[str]:
    """`team shop`, `teams search and shop`; nothing if no owner is named."""
    named = sorted({*owners} - {""})
    noun = owner_noun(owner_key)
    return [f"{noun if len(named) == 1 else plural(noun)} {listed(named)}"] if named else []


def owner_noun(owner_key: str) -> str:
    """Name an owner after the label or annotation that holds it: `team` for `acme.com/team`."""
    return owner_key.rpartition("/")[2]


def _share(failing: FailingRule) -> str:
    """`all`, `90%`, `less than 1%`."""
    if failing.failing == failing.total:
        return "all"
    percent = 100 * failing.failing / failing.total
    return "less than 1%" if percent < 1 else "more than 99%" if percent > 99 else f"{percent:.0f}%"  # noqa: PLR2004


def _failing_phrase(traffic: RouteTraffic) -> str:
    """`90% of the requests of HTTPRoute search/query`, with its rule if only one of several is concerned."""
    fate, shares = _fate(traffic), {_share(failing) for failing in traffic.failing}
    if len(shares) > 1 or 1 < len(traffic.failing) < traffic.rules:
        return f"part of the {fate.noun} of {traffic.route}"
    share = shares.pop()
    some = f"all {fate.noun}" if share == "all" else f"{share} of the {fate.noun}"
    rule = "" if len(traffic.failing) == traffic.rules else f" of {_rule(traffic.failing[0])}"
    return f"{some}{rule} of {traffic.route}"


def _rule(failing: FailingRule) -> str:
    """`rule cart`, `rule[0]`, `the former rule[0]`."""
    section = failing.rule.section
    if section.startswith("former "):
        return f"the {section}"
    return section if is_unnamed(section) else f"rule {section}"


def _split(routes: Collection[RouteTraffic]) -> tuple[list[RouteTraffic], list[RouteTraffic]]:
    failing = [traffic for traffic in routes if traffic.failing]
    return failing, [traffic for traffic in routes if not traffic.failing]


def ending_clauses(lost: TrafficOneWay, owner_key: str, subject: ObjectRef | None = None) -> Iterator[str]:
    """List the clauses about traffic that ends, for a sentence that begins with the deleted object."""
    if len(lost.all) == 1 and lost.all[0].route == subject:
        yield f"ends all its traffic{routes_details(lost.all, owner_key)}"
    elif lost.all:
        yield f"ends all traffic for {routes_phrase(lost.all, owner_key)}"
    failing, moved = _split(lost.some)
    if len(failing) == 1:
        fate = _fate(failing[0])
        yield f"makes {_failing_phrase(failing[0])} {fate.infinitive}{routes_details(failing, owner_key)}"
    elif failing:
        yield f"makes part of the requests fail for {routes_phrase(failing, owner_key)}"
    if moved and not (lost.all or failing):
        yield f"ends part of the traffic for {routes_phrase(moved, owner_key)}"


def keeping_clause(lost: TrafficOneWay) -> str:
    """`; 1 route keeps another Gateway`; empty if none does, or no other loses more."""
    failing, moved = _split(lost.some)
    if not moved or not (lost.all or failing):
        return ""
    at_gateways = all(
        {node.object for node in traffic.kept}.isdisjoint(node.object for node in traffic.lost) for traffic in moved
    )
    verb, noun = "keeps" if len(moved) == 1 else "keep", "Gateway" if at_gateways else "listener"
    return f"; {count(len(moved), 'route')} {verb} another {noun}"


def passing_clauses(difference: StateDiff) -> Iterator[str]:
    """List the clauses about traffic that ends and begins, each with a subject of its own."""
    traffic = difference.traffic
    key = traffic.owner_key
    if traffic.lost.all:
        yield f"traffic ends for {routes_phrase(traffic.lost.all, key)}"
    failing, moved = _split(traffic.lost.some)
    if len(failing) == 1:
        fate = _fate(failing[0])
        yield f"{_failing_phrase(failing[0])} {fate.plain}{routes_details(failing, key)}"
    elif failing:
        yield f"part of the requests fail for {routes_phrase(failing, key)}"
    if moved:
        yield f"part of the traffic ends for {routes_phrase(moved, key)}"
    if traffic.gained.all:
        yield f"traffic starts for {routes_phrase(traffic.gained.all, key)}"
    if traffic.gained.some:
        yield f"more traffic comes to {routes_phrase(traffic.gained.some, key)}"
    if traffic.uncontrolled:
        verb = "is" if len(traffic.uncontrolled) == 1 else "are"
        yield f"{routes_phrase(traffic.uncontrolled, key)} {verb} left behind Gateways without a controller"


def traffic_sections(difference: StateDiff, view: View) -> tuple[Line, ...]:
    """Return the routes that lose traffic, what nothing reaches any more, and the routes that get traffic."""
    traffic = difference.traffic
    lost, gained, key = traffic.lost, traffic.gained, traffic.owner_key
    # That a parent is gone is reason enough.
    gone = {*difference.deleted}
    reasons = {
        change.route: change.message
        for change in reversed(difference.parents)
        if change.message and change.parent.object not in gone
    }
    return (
        *section("Lose all traffic", _rows(lost.all, key, view, reasons)),
        *section("Lose some traffic", _rows(lost.some, key, view, reasons)),
        *section("Behind Gateways left without a controller", _rows(traffic.uncontrolled, key, view)),
        *section("No longer reachable", _unreached(lost, view)),
        *section("Get traffic", _rows(gained.all, key, view, gained=True)),
        *section("Get more traffic", _rows(gained.some, key, view, gained=True)),
    )


def behind_section(routes: Sequence[RouteBehind], owner_key: str, view: View) -> tuple[Line, ...]:
    """Return the routes whose requests come through the listeners that a policy affects."""
    return section("Through these listeners", _table([(route, []) for route in routes], owner_key, view))


def _rows(
    routes: Sequence[RouteTraffic],
    owner_key: str,
    view: View,
    reasons: Mapping[ObjectRef, str] = MappingProxyType({}),
    *,
    gained: bool = False,
) -> list[Line]:
    """Return a line for each route and, where it is not all of its traffic or not clear why, what of it and why."""
    rows: list[tuple[RouteTraffic, list[str]]] = []
    for traffic in routes:
        reason = reasons.get(traffic.route, "") if traffic.lost else ""
        rows.append((traffic, [*details(traffic, gained=gained), *filter(None, [reason])]))
    return _table(rows, owner_key, view)


def details(traffic: RouteTraffic, *, gained: bool) -> Iterator[str]:
    """List the details of a route: the part of its traffic that it loses or gets, and the part that it keeps."""
    fate = _fate(traffic)
    for failing in traffic.failing:
        rule = _rule(failing)
        lead = f"{rule}: " if traffic.rules > 1 else ""
        if failing.gone:
            yield f"{rule} is new" if gained else f"no rule gets the requests of {rule}"
        elif gained:
            yield f"{lead}{_share(failing)} of its {fate.noun} are answered again"
        else:
            reason = f" [{failing.reason}]" if failing.reason else ""
            message = f": {failing.message}{reason}" if failing.message else ""
            yield f"{lead}{_share(failing)} of its {fate.noun} {fate.plain}{message}"
    if traffic.lost and traffic.kept:
        yield f"at {nodes_phrase(traffic.lost)}" if gained else f"keeps {nodes_phrase(traffic.kept)}"


def nodes_phrase(nodes: Iterable[NodeRef]) -> str:
    """`Gateway infra/edge, listeners a and b`, `HTTPRoute a/b, rule[0] and rule c`; of several objects one by one."""
    sections: dict[ObjectRef, list[str]] = {}
    for node in nodes:
        sections.setdefault(node.object, []).extend([node.section] if node.section else [])
    return "; ".join(
        ", ".join(filter(None, [str(obj), sections_phrase(obj.group_kind, names)])) for obj, names in sections.items()
    )


def _table(rows: Sequence[tuple[RouteTraffic | RouteBehind, list[str]]], owner_key: str, view: View) -> list[Line]:
    shown, rest = view.first(rows, SHOWN)
    routes = [str(traffic.route) for traffic, _ in shown]
    hosts = [_hostnames_phrase(traffic.hostnames, view) for traffic, _ in shown]
    first = max(map(cells, routes), default=0)
    second = max((width for width in map(cells, hosts) if width <= _WIDEST), default=0)
    lines: list[Line] = []
    for (traffic, details), route, text in zip(shown, routes, hosts, strict=True):
        rules = [count(traffic.rules, "rule")] if isinstance(traffic, RouteTraffic) else []
        about = ", ".join([*rules, *owner_phrases([traffic.owner], owner_key)])
        spans = [Segment(pad(route, first) if text or about else route, "subject")]
        spans += [Segment(f"   {pad(text, second) if about else text}")] if text or about else []
        spans += [Segment(f"   {about}", "aside")] if about else []
        lines.append(Line(tuple(spans), 2, 6))
        lines.extend(prose_line(detail, indent=4, hang=6) for detail in details)
    return [*lines, more_line(rest, "route")] if rest else lines


def _hostnames_phrase(names: Sequence[str], view: View) -> str:
    phrases = ["any hostname" if name == _ANY_HOST else name for name in names]
    return listed(phrases, _NAMED) if view.cuts and len(phrases) > _NAMED else ", ".join(phrases)


def _unreached(lost: TrafficOneWay, view: View) -> list[Line]:
    rows = [
        ("hostnames", ["any hostname" if name == _ANY_HOST else name for name in lost.hostnames]),
        ("listeners", _by_object(lost.listeners)),
        ("backends", [str(ref) for ref in lost.backends]),
    ]
    shown = [(label, items) for label, items in rows if items]
    width = max((len(label) for label, _ in shown), default=0)
    lines = [list_line(items, view, lead=f"{pad(label, width)}   ") for label, items in shown]
    partly = {entry.route for entry in lost.some}
    for entry in lost.answered:
        if not partly.issuperset(entry.by):
            hosts = ", ".join("other hostnames" if name == _ANY_HOST else name for name in entry.hostnames)
            verb = "answers" if len(entry.by) == 1 else "answer"
            lines.append(prose_line(f"{names(entry.by)} still {verb} {hosts}", "aside", 2))
    return lines


def _by_object(nodes: Iterable[NodeRef]) -> list[str]:
    """`admin, http of Gateway infra/edge`."""
    sections = grouped((node.object, node.section) for node in nodes)
    return [f"{', '.join(names)} of {obj}" if any(names) else str(obj) for obj, names in sections.items()]


def list_line(items: Sequence[str], view: View, indent: int = 2, lead: str = "") -> Line:
    """Return a line with a list; where lists are cut with its first items and the number of the rest."""
    shown, rest = view.first(items, SHOWN)
    remark = [Segment(f" and {rest:,} more: {REST}", "aside", prose=True)] if rest else []
    return Line((Segment(lead), *in_a_row(shown), *remark), indent, indent + len(lead))


def more_line(rest: int, noun: str) -> Line:
    """Return a line with the number of the rest, and the option that shows it."""
    return prose_line(f"and {rest:,} more {noun if rest == 1 else plural(noun)}: {REST}", "aside", 2)
