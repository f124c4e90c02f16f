"""Compare this project's answers with recorded cases of network policies.

`python -m tests.cases.network_policy FOLDER` reads FOLDER/<case>/expected.yaml and manifests.yaml. A namespace without
a Namespace object has no labels in these cases: the object is added. The answers are those of `describe POLICY` and of
`describe SOURCE --to DESTINATION --port PORT/PROTOCOL`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from kubectl_policy import Analysis, analyze
from kubectl_policy.errors import PolicyError
from kubectl_policy.model import Json, ObjectRef
from kubectl_policy.model.fields import mapping_at, mappings_at, text_at
from kubectl_policy.network.policy import DIRECTIONS, PROTOCOLS, PortRange
from kubectl_policy.network.ports import PortSpace
from kubectl_policy.questions.connections.connection import ConnectionDescription, PortQuery, describe_connection
from kubectl_policy.questions.connections.endpoints import NamedEnd, end_at_address, end_of
from kubectl_policy.questions.connections.network_policy import describe_network_policy
from kubectl_policy.questions.connections.rule_views import RuleView
from kubectl_policy.questions.connections.verdicts import SideVerdict
from kubectl_policy.questions.shared.selection import find
from kubectl_policy.topology.workloads.workload import parse_address
from tests.build import namespace
from tests.cases.report import NodeInForce, main
from tests.cases.worlds import fields, items, read, world

MARKER: Final = "expected.yaml"
_NO_SIDE: Final = "no verdict on this side"


def judge(folder: Path) -> Iterator[NodeInForce]:
    """Judge every fact of one case."""
    expected = mapping_at(read(folder / MARKER), "expect")
    analysis = _analysis(folder / "manifests.yaml")
    for policy, pods in mapping_at(expected, "selects").items():
        got = _selected(analysis, policy)
        yield NodeInForce(folder.name, "selects", policy, frozenset(map(str, items(pods))), got)
    end = cache(lambda text: _end(analysis, text))
    for fact in mappings_at(expected, "connections"):
        ends = end(text_at(fact, "from")), end(text_at(fact, "to"))
        port = PortQuery.parse(f"{fact['port']}/{fact['protocol']}")
        yield from _connection(folder.name, fact, describe_connection(analysis, *ends, port))
    for fact in mappings_at(expected, "reach"):
        ends = end(text_at(fact, "from")), end(text_at(fact, "to"))
        answer = describe_connection(analysis, *ends, None)
        wanted = _ranges(mapping_at(fact, "connections"))
        yield NodeInForce(folder.name, "reach", _title(fact), wanted, _open(answer))


def _analysis(manifests: Path) -> Analysis:
    snapshot = world([manifests])
    homes = sorted({resource.ref.namespace for resource in snapshot.resources} - {""})
    known = {resource.ref.name for resource in snapshot.resources if resource.ref.kind == "Namespace"}
    missing = [namespace(name) for name in homes if name not in known]
    return analyze(replace(snapshot, resources=(*snapshot.resources, *missing)))


def _end(analysis: Analysis, text: str) -> NamedEnd:
    address = parse_address(text)
    return end_at_address(analysis, address) if address else end_of(analysis, _ref(analysis, text))


def _ref(analysis: Analysis, text: str) -> ObjectRef:
    """Return the object that a case names `Kind/namespace/name` or `Kind/name`."""
    kind, _, name = text.partition("/")
    return find(analysis, kind.lower(), name, "")


def _name(ref: ObjectRef) -> str:
    return "/".join(filter(None, (ref.kind, ref.namespace, ref.name)))


def _selected(analysis: Analysis, policy: str) -> object:
    try:
        answer = describe_network_policy(analysis, _ref(analysis, policy))
    except PolicyError as error:
        return str(error)
    return frozenset(map(_name, answer.selects)) if not answer.may_select else "it may select more"


def _title(fact: Mapping[str, Json]) -> str:
    port = f" {fact['port']}/{fact['protocol']}" if "port" in fact else ""
    return f"{fact['from']} to {fact['to']}{port}"


def _connection(case: str, fact: Mapping[str, Json], answer: ConnectionDescription) -> Iterator[NodeInForce]:
    title = _title(fact)
    [checked] = answer.connections
    yield NodeInForce(case, "allowed", title, fact["allowed"], answer.allowed)
    sides = {"egress": checked.verdict.egress, "ingress": checked.verdict.ingress}
    for direction in DIRECTIONS:
        wanted, side = fields(fact.get(direction)), sides[direction]
        for key, expected in _expected(wanted).items():
            got = _NO_SIDE if side is None else _answered(side)[key]
            yield NodeInForce(case, key, f"{title}, {direction}", expected, got)


def _expected(wanted: Mapping[str, Json]) -> dict[str, object]:
    """Return the facts of one side by their type."""
    facts: dict[str, object] = {}
    if "allowed" in wanted:
        facts |= {"direction": wanted["allowed"], "tier": wanted["tier"]}
        facts["by"] = frozenset(map(str, items(wanted.get("by"))))
    if "rule" in wanted:
        facts["rule"] = frozenset({str(wanted["rule"])})
    if "passed" in wanted:
        passed = wanted["passed"]
        facts["passed"] = frozenset(map(str, items(passed) or [passed]))
    return facts


def _answered(side: SideVerdict) -> dict[str, object]:
    return {
        "direction": side.allowed,
        "tier": side.tier,
        "by": _policies(side.deciding),
        "rule": frozenset(view.rule for view in side.deciding),
        "passed": _policies(side.passing),
    }


def _policies(views: Sequence[RuleView]) -> frozenset[str]:
    return frozenset(_name(view.policy.policy) for view in views)


def _ranges(by_protocol: Mapping[str, Json]) -> frozenset[PortRange]:
    """Return ranges such as `80,8080-8090`; ranges that are next to each other are one."""
    ranges = {PortRange(protocol, *_ends(part)) for protocol in PROTOCOLS for part in _parts(by_protocol.get(protocol))}
    space = PortSpace(ranges)
    ports = 0
    for found in ranges:
        ports |= space.of_range(found)
    return frozenset(space.ranges_in(ports))


def _parts(text: Json) -> list[str]:
    return [part for part in str(text or "").split(",") if part]


def _ends(part: str) -> tuple[int, int]:
    first, _, last = part.partition("-")
    return int(first), int(last or first)


def _open(answer: ConnectionDescription) -> object:
    [between] = answer.open
    return "some ports are not decided" if between.undecided else frozenset(between.allowed)


if __name__ == "__main__":
    sys.exit(main(judge, MARKER, sys.argv[1:], recall=True))
