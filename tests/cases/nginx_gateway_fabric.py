"""Compare this project's answers with recorded cases of NGINX Gateway Fabric.

`python -m tests.cases.nginx_gateway_fabric FOLDER` reads FOLDER/<case>/manifests.yaml and expected.yaml. It translates
this project's values into the cases' words and knows no rule of NGINX Gateway Fabric: those are in the profiles.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from kubectl_policy import Analysis, Attachment, EffectivePolicy, NodeRef, ObjectRef, analyze
from kubectl_policy.model import Json
from kubectl_policy.model.fields import mapping_at, mappings_at, strings_at, text_at
from kubectl_policy.questions.predicted_conditions import PolicyStatuses, target_conditions
from kubectl_policy.topology import attached_hostnames, gateway_conditions, route_conditions, route_parent_conditions
from kubectl_policy.topology.references import parent_refs
from tests.cases.names import ROUTES
from tests.cases.nginx_gateway_fabric_effective import (
    Key,
    LeftOut,
    Named,
    Place,
    Setting,
    Settings,
    expected_settings,
    listener_name,
    node_name,
    outcome,
    place_of,
    rules,
    upstreams,
)
from tests.cases.report import NOTHING, NodeInForce, main
from tests.cases.worlds import read, world

MARKER: Final = "expected.yaml"
NOT_SERVED: Final = "not served"
NOT_SET: Final = "not set"
ABSENT: Final = "absent"


def judge(folder: Path) -> Iterator[NodeInForce]:
    """Judge every fact of one case."""
    expected = read(folder / MARKER)
    analysis = analyze(world([folder / "manifests.yaml"]))
    return _NginxWorld(text_at(expected, "case", folder.name), analysis, LeftOut(expected)).outcomes(
        mapping_at(expected, "expect")
    )


class _NginxWorld:
    """The world of one case."""

    def __init__(self, case: str, analysis: Analysis, left_out: LeftOut) -> None:
        self.case, self.analysis, self.left_out = case, analysis, left_out
        self.named, self.statuses = Named(analysis), PolicyStatuses(analysis)

    def outcomes(self, expect: Mapping[str, Json]) -> Iterator[NodeInForce]:
        """Judge every fact that is expected, with a miss for each answer too many."""
        for entry in mappings_at(expect, "policies"):
            yield from self._ancestors(entry)
            yield self._attached(entry)
        for entry in mappings_at(expect, "load_balancers"):
            yield self._load_balancer(entry)
        for entry in mappings_at(expect, "affected"):
            yield self._affected(entry)
        served = {place_of(entry): entry for entry in mappings_at(expect, "effective")}
        yield from self._settings("effective", served, rules(self.analysis))
        reached = {place_of(entry): entry for entry in mappings_at(expect, "backends")}
        yield from self._settings("backends", reached, upstreams(self.analysis))
        for entry in mappings_at(expect, "routes"):
            yield from self._parents(entry)
            yield from self._listeners(entry)
        for entry in mappings_at(expect, "gateways"):
            yield from self._gateway(entry)

    def _outcome(self, type_: str, fact: str, expected: object, got: object, sort: object = None) -> NodeInForce:
        return NodeInForce(self.case, type_, fact, expected, got, sort)

    def _reported(self, policy: ObjectRef | None) -> dict[str, dict[str, str]]:
        """Return the conditions that would be reported on a policy, by ancestor ("" for the policy's own) and type."""
        return {
            node_name(status.ancestor) if status.ancestor else "": {
                condition.type: outcome(condition) for condition in status.conditions
            }
            for status in (self.statuses.of(policy) if policy else ())
        }

    def _ancestors(self, entry: Mapping[str, Json]) -> Iterator[NodeInForce]:
        name, expected = text_at(entry, "policy"), mappings_at(entry, "ancestors")
        policy = self.named.policies.get(name)
        reported = self._reported(policy)
        wanted = sorted(text_at(ancestor, "ref") for ancestor in expected)
        got = sorted(filter(None, reported)) if policy else "no such policy"
        yield self._outcome("ancestors", f"ancestors of {name}", wanted, got, len(wanted))
        for ancestor in expected:
            reference = text_at(ancestor, "ref")
            for type_ in (key for key in ancestor if key != "ref"):
                fact = f"{type_} of {name} at {reference}"
                verdict = reported.get(reference, {}).get(type_, ABSENT)
                yield self._outcome(f"condition {type_}", fact, ancestor[type_], verdict)

    def _attached(self, entry: Mapping[str, Json]) -> NodeInForce:
        name, wanted = text_at(entry, "policy"), sorted(strings_at(entry, "attached"))
        policy = self.named.policies.get(name)
        attachments = self.analysis.attachments[policy] if policy else ()
        targets = {attachment.target for attachment in attachments if self._holds(attachment)}
        got = sorted(node_name(target) for target in targets if target) if policy else "no such policy"
        return self._outcome("attached", f"targets that carry {name}", wanted, got, len(wanted))

    def _holds(self, attachment: Attachment) -> bool:
        """Whether a policy is attached to a target and not refused there on at least one path.

        Where no path to a route counts, since no listener takes it that could, the route alone is looked at.
        """
        if attachment.state != "attached" or attachment.target is None:
            return False
        kind, node = attachment.policy.group_kind, attachment.target
        on_paths = [self.analysis.resolver.effective_of(kind, path) for path in self.analysis.topology.paths(node)]
        policies = [effective for effective in on_paths if effective]
        if not policies and node.kind in ROUTES:
            without_path = self.analysis.resolver.effective_of(kind, (node,))
            policies = [without_path] if without_path else []
        return any(_takes_part(attachment, effective) for effective in policies)

    def _load_balancer(self, entry: Mapping[str, Json]) -> NodeInForce:
        name = text_at(entry, "policy")
        reported = self._reported(self.named.policies.get(name)).values()
        verdicts = sorted({conditions["Accepted"] for conditions in reported if "Accepted" in conditions})
        got = verdicts[0] if len(verdicts) == 1 else verdicts or ABSENT
        return self._outcome("load_balancers", f"Accepted of {name}", entry.get("Accepted"), got)

    def _affected(self, entry: Mapping[str, Json]) -> NodeInForce:
        name, wanted = text_at(entry, "object"), sorted(strings_at(entry, "conditions"))
        obj = self.named.hierarchy.get(name)
        conditions = target_conditions(self.analysis, NodeRef(obj)) if obj else ()
        got = sorted({condition.type for condition in conditions}) if obj else "no such object"
        return self._outcome("affected", f"conditions of {name}", wanted, got)

    def _settings(
        self, type_: str, expected: Mapping[Place, Mapping[str, Json]], served: Mapping[Place, Sequence[Settings]]
    ) -> Iterator[NodeInForce]:
        """Judge the settings of every place that is expected, with a miss for each other place."""
        for place, entry in expected.items():
            yield from self._at(type_, place, expected_settings(entry), served.get(place, ()))
        for place in served:
            if place not in expected and not self.left_out.names(*place.names):
                yield self._outcome(type_, str(place), NOTHING, "served")

    def _at(
        self, type_: str, place: Place, wanted: Mapping[Key, Setting], answers: Sequence[Settings]
    ) -> Iterator[NodeInForce]:
        """Judge the settings that are expected at a place, with a miss for each other setting."""
        ours = dict.fromkeys(key for answer in answers for key in answer)
        if not wanted:
            surplus = {" ".join(key): _at_key(answers, key) for key in ours}
            yield self._outcome(type_, str(place), {}, surplus if answers else NOT_SERVED)
            return
        for key, setting in wanted.items():
            yield self._outcome(type_, f"{place}: {' '.join(key)}", setting, _at_key(answers, key))
        for key in ours:
            if key not in wanted and not self.left_out.names(*place.names, key.field):
                yield self._outcome(type_, f"{place}: {' '.join(key)}", NOTHING, _at_key(answers, key))

    def _parents(self, entry: Mapping[str, Json]) -> Iterator[NodeInForce]:
        name = text_at(entry, "route")
        route = self.named.hierarchy.get(name)
        ours = list(self._parents_of(route)) if route else []
        for wanted in mappings_at(entry, "parents"):
            answer = next((candidate for candidate in ours if candidate["parent"] == wanted.get("parent")), None)
            if answer:
                ours.remove(answer)
            sort = [value for key, value in wanted.items() if key != "parent"]
            fact = f"{name} at {text_at(wanted, 'parent')}"
            yield self._outcome("parents", fact, dict(wanted), answer or "no such parent", sort)
        for answer in ours:
            if not self.left_out.names(name, str(answer["parent"])):
                yield self._outcome("parents", f"{name} at {answer['parent']}", NOTHING, answer)

    def _parents_of(self, route: ObjectRef) -> Iterator[dict[str, object]]:
        """Yield each parent of a route, with its conditions if it is the implementation's and has a say."""
        heard = {node for node, _ in route_parent_conditions(self.analysis.topology, route)}
        for entry in parent_refs(self.analysis.index, route):
            node = NodeRef(entry.object, entry.section)
            is_managed = self.named.is_managed(entry.object) and node in heard
            answer: dict[str, object] = {"parent": node_name(node), "managed": is_managed}
            if is_managed:
                conditions = route_conditions(self.analysis.topology, route, entry.position)
                answer |= {condition.type: outcome(condition) for condition in conditions}
            yield answer

    def _listeners(self, entry: Mapping[str, Json]) -> Iterator[NodeInForce]:
        name = text_at(entry, "route")
        wanted = {
            listener: sorted(map(str, hostnames)) if isinstance(hostnames, list) else hostnames
            for listener, hostnames in mapping_at(entry, "listeners").items()
        }
        route = self.named.hierarchy.get(name)
        got = self._listeners_of(route) if route else "no such route"
        yield self._outcome("listeners", f"listeners that take {name}", wanted, got, len(wanted))

    def _listeners_of(self, route: ObjectRef) -> dict[str, list[str]]:
        topology = self.analysis.topology
        return {
            listener_name(binding.listener): sorted(attached_hostnames(topology, binding.listener, route, counted=True))
            for binding in topology.bindings(route)
            if binding.listener and binding.counts_as_attached and self.named.is_managed(binding.parent)
        }

    def _gateway(self, entry: Mapping[str, Json]) -> Iterator[NodeInForce]:
        name = text_at(entry, "gateway")
        gateway = self.named.hierarchy.get(name)
        is_managed = self.named.is_managed(gateway) if gateway else "no such Gateway"
        yield self._outcome("gateway managed", name, entry.get("managed"), is_managed)
        if "Accepted" in entry:
            conditions = gateway_conditions(self.analysis.topology.gateways, gateway) if gateway else ()
            accepted = next((outcome(condition) for condition in conditions if condition.type == "Accepted"), ABSENT)
            yield self._outcome("gateway Accepted", name, entry["Accepted"], accepted)


def _takes_part(attachment: Attachment, effective: EffectivePolicy) -> bool:
    sources = {part.source for part in effective.resolution.contributions} - effective.resolution.rejected
    return any((source.object, source.target) == (attachment.policy, attachment.target) for source in sources)


def _at_key(answers: Sequence[Settings], key: Key) -> object:
    """Return a setting on every way to a place, or a list where the ways differ."""
    settings = [answer.get(key, NOT_SET) for answer in answers] or [NOT_SERVED]
    return settings[0] if all(setting == settings[0] for setting in settings) else settings


if __name__ == "__main__":
    sys.exit(main(judge, MARKER, sys.argv[1:], recall=True))
