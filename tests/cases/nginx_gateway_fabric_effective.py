"""Settings in force for rules and upstreams, as the cases of NGINX Gateway Fabric write them: value and source."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Final, NamedTuple, TypeAlias

from kubectl_policy import Analysis, EffectivePolicy, GroupKind, Leaf, NodeRef, ObjectRef, Path, leaves
from kubectl_policy.model import Json
from kubectl_policy.model.fields import items_at, mapping_at, text_at
from kubectl_policy.questions.predicted_conditions import PolicyCondition
from kubectl_policy.resolution import field_name
from kubectl_policy.topology import Condition, attached_hostnames
from kubectl_policy.topology.controllers import is_managed
from tests.cases.names import ROUTES, WITH_LISTENERS, WITH_RULES, listener_on, objects, sections, slashed
from tests.cases.worlds import fields, items, scalars

# A setting as the cases write it: its value and the policy that it is from, or only the policies.
Setting: TypeAlias = "Mapping[str, object]"
# The settings at one place.
Settings: TypeAlias = "dict[Key, Setting]"

_RULES: Final = ("rateLimit", "local", "rules")
_SNIPPETS: Final = ("snippets",)
# Of these, the cases give the source alone.
_SOURCE_ONLY: Final = ("processors", "policySource")
# What the cases read of these kinds; of all others it is every field.
_READ: Final = {
    "ObservabilityPolicy": ("tracing.strategy", "tracing.ratio", "tracing.spanName"),
    "PayloadProcessor": ("processors",),
    "SnippetsPolicy": ("snippets",),
    "WAFPolicy": ("policySource",),
}


class Key(NamedTuple):
    """A field of a policy kind."""

    kind: str
    field: str


class Place(NamedTuple):
    """A rule of a route, by its index, or a Service (`rule` is empty) under one Gateway."""

    gateway: str
    below: str
    rule: str = ""

    @property
    def names(self) -> tuple[str, str]:
        """The names of the objects."""
        return (self.gateway, self.below)

    def __str__(self) -> str:
        """Return the names, then the index."""
        return " ".join(filter(None, self))


def place_of(entry: Mapping[str, Json]) -> Place:
    """Return the place that an entry of a case is about."""
    rule = str(entry["rule"]) if "rule" in entry else ""
    return Place(text_at(entry, "gateway"), text_at(entry, "route") or text_at(entry, "service"), rule)


def rules(analysis: Analysis) -> dict[Place, list[Settings]]:
    """Return the settings in force for each rule that requests reach below a Gateway, once per way to it."""
    named = Named(analysis)
    settings: dict[Place, list[Settings]] = {}
    for number, rule in sections(analysis, *WITH_RULES):
        for gateway, path in _below_gateways(analysis, named, rule):
            if _carries_requests(analysis, path):
                answers = settings.setdefault(Place(gateway, slashed(rule.object), str(number)), [])
                answers.append(settings_on(analysis, path))
    return settings


def upstreams(analysis: Analysis) -> dict[Place, list[Settings]]:
    """Return the settings in force for each Service that attached rules below a Gateway name, once per way to it.

    There is an upstream for every attached rule, also where another listener is more specific about all its hostnames.
    """
    named = Named(analysis)
    settings: dict[Place, list[Settings]] = {}
    for service, users in _users(analysis).items():
        for gateway, path in _below_gateways(analysis, named, NodeRef(service)):
            if users.intersection(path):
                settings.setdefault(Place(gateway, slashed(service)), []).append(settings_on(analysis, path))
    return settings


def _users(analysis: Analysis) -> dict[ObjectRef, set[NodeRef]]:
    """Return the rules that send requests to each backend; a reference that leads nowhere sends none."""
    users: dict[ObjectRef, set[NodeRef]] = {}
    for number, rule in sections(analysis, *WITH_RULES):
        for backend in analysis.topology.backends(rule.object):
            if backend.ref.rule == number and backend.ref.forwards and backend.state != "broken":
                users.setdefault(backend.node.object, set()).add(rule)
    return dict(sorted(users.items()))


def _below_gateways(analysis: Analysis, named: Named, node: NodeRef) -> Iterator[tuple[str, Path]]:
    """Yield the ways to a node from the Gateways of the implementation, with the name of each."""
    for path in analysis.topology.paths(node):
        gateway = next((ancestor.object for ancestor in path if ancestor.kind == "Gateway"), None)
        if gateway and named.is_managed(gateway) and analysis.topology.carries_traffic(path):
            yield slashed(gateway), path


def _carries_requests(analysis: Analysis, path: Path) -> bool:
    """Whether there are hostnames for which requests at the listener of a path reach its route."""
    at = listener_on(path)
    route = next((node.object for node in path if node.kind in WITH_RULES), None)
    return bool(at and route and attached_hostnames(analysis.topology, at[1], route))


def settings_on(analysis: Analysis, path: Path) -> Settings:
    """Return every setting that is in force at the end of a path."""
    effective = (policy for policy in analysis.effective_on(path) if policy.resolution.kind.group == GROUP)
    return {
        Key(policy.resolution.kind.kind, field): setting
        for policy in effective
        for field, setting in settings_of(policy).items()
        if _is_read(policy.resolution.kind.kind, field)
    }


def settings_of(effective: EffectivePolicy) -> dict[str, Setting]:
    """Return the settings of one kind, with a setting for each part of a map."""
    settings: dict[str, Setting] = {}
    listed: dict[str, list[str]] = {}
    for path, leaf in leaves(effective.resolution.spec):
        # Where all policies of a kind apply, each one's settings stand below its name.
        policy = leaf.source.object.qualified_name
        field = path[1:] if path[:1] == (policy,) else path
        if leaf.removed:
            continue
        if field[: len(_RULES)] == _RULES:
            listed.setdefault(field_name(_RULES), []).extend(_elements(field, leaf))
        elif field[: len(_SNIPPETS)] == _SNIPPETS:
            for context in _contexts(leaf):
                listed.setdefault(f"snippets[{context}]", []).append(policy)
        elif field[0] in _SOURCE_ONLY:
            listed.setdefault(field[0], []).append(policy)
        else:
            # A map that a policy sets as a whole counts for what is in it, an empty one for nothing.
            parts = scalars(field_name(field), leaf.value)
            settings |= {name: {"value": part, "from": policy} for name, part in parts}
    return settings | {name: {"from": _sources(name, sources)} for name, sources in listed.items() if sources}


def expected_settings(entry: Mapping[str, Json]) -> Settings:
    """Return the settings of an entry of a case."""
    return {
        Key(kind, name): _normal(name, fields(setting))
        for kind, named in mapping_at(entry, "fields").items()
        for name, setting in fields(named).items()
    }


def _normal(name: str, setting: Mapping[str, Json]) -> Setting:
    """Return a setting of a case as `settings_of` writes it: the order of policies counts for snippets alone."""
    sources = setting.get("from")
    if name.startswith("snippets[") or not isinstance(sources, list):
        return setting
    return {**setting, "from": sorted(map(str, sources))}


def _is_read(kind: str, field: str) -> bool:
    return kind not in _READ or any(field == read or field.startswith(f"{read}[") for read in _READ[kind])


def _sources(name: str, sources: Iterable[str]) -> object:
    distinct = list(dict.fromkeys(sources))
    if name.startswith("snippets["):
        return distinct
    return distinct[0] if name in _SOURCE_ONLY and len(distinct) == 1 else sorted(distinct)


def _elements(field: tuple[str, ...], leaf: Leaf) -> list[str]:
    """Return the elements of a list, `policy#index`: of the whole list, or the one under a key of its own."""
    if len(field) > len(_RULES):
        return [element_name(field[len(_RULES)])]
    return [f"{leaf.source.object.qualified_name}#{number}" for number, _ in enumerate(items(leaf.value))]


def _contexts(leaf: Leaf) -> list[str]:
    return [text_at(entry, "context") for entry in items(leaf.value)]


GROUP: Final = "gateway.nginx.org"
# Whose controllers they are is what the profile of any kind of the implementation says.
_ANY_KIND: Final = GroupKind(GROUP, "ClientSettingsPolicy")
_ELEMENT: Final = re.compile(r"(.+)\[(\d+)\]")


class Named:
    """The objects of a world by their names in cases."""

    def __init__(self, analysis: Analysis) -> None:
        """Remember where to look."""
        self._analysis = analysis

    @cached_property
    def policies(self) -> dict[str, ObjectRef]:
        """Every policy of the implementation's own kinds."""
        refs = (policy.ref for policy in self._analysis.policies)
        return {slashed(ref): ref for ref in refs if ref.group_kind.group == GROUP}

    @cached_property
    def hierarchy(self) -> dict[str, ObjectRef]:
        """Every Gateway, ListenerSet and route."""
        return {slashed(ref): ref for ref in objects(self._analysis, *WITH_LISTENERS, *ROUTES)}

    def is_managed(self, parent: ObjectRef) -> bool | None:
        """Whether a Gateway, or what hangs on it, belongs to the implementation; None where that is unknown."""
        return is_managed(self._analysis.topology, parent, self._analysis.registry.profile(_ANY_KIND).controllers)


class LeftOut:
    """The facts that a case leaves unjudged, since its own runs differ on them."""

    def __init__(self, expected: Mapping[str, Json]) -> None:
        """Read the names, which stand beside the facts or beside their list."""
        left_out = [*items_at(expected, "left_out"), *items_at(expected, "expect.left_out")]
        self._texts = [json.dumps(item, ensure_ascii=False) for item in left_out]

    def names(self, *parts: str) -> bool:
        """Whether one of the facts that are left out has all of these words in its name."""
        return any(all(part in text for part in parts) for text in self._texts)


def node_name(node: NodeRef) -> str:
    """Return `Kind/namespace/name`, with `#section`."""
    return slashed(node.object) + (f"#{node.section}" if node.section else "")


def listener_name(listener: NodeRef) -> str:
    """Return `Kind/namespace/name/listener`."""
    return f"{slashed(listener.object)}/{listener.section}"


def element_name(key: str) -> str:
    """Return `policy#index` for the list element that this project calls `policy[index]`."""
    match = _ELEMENT.fullmatch(key)
    return f"{match[1]}#{match[2]}" if match else key


def outcome(condition: Condition | PolicyCondition) -> str:
    """Return `Status/Reason` of a condition."""
    return f"{condition.status}/{condition.reason}"
