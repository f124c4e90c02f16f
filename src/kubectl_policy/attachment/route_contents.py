"""Contents of routes that their controllers refuse, by the rules of profiles: values, repeated filters, backends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from kubectl_policy.attachment.values import value_problems
from kubectl_policy.model import FieldPath
from kubectl_policy.model.fields import items_at, mappings_at, text_at, value_at
from kubectl_policy.topology.references import parent_refs

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from kubectl_policy.model import GroupKind, Json, ObjectRef, Resource
    from kubectl_policy.profiles import Registry
    from kubectl_policy.profiles.controllers import GatewayProfile
    from kubectl_policy.profiles.values import Refuses
    from kubectl_policy.topology import Topology

# The steps of `spec.rules[0]`.
_RULE_DEPTH: Final = 3


class RefusedContent(Struct, frozen=True, kw_only=True):
    """A part of a route that a controller refuses."""

    field: str
    message: str
    # The reason of the condition on the route; "" if the controller has one of its own.
    reason: str = ""
    refuses: Refuses = "route"
    # Objects beside the route that take part.
    related: tuple[ObjectRef, ...] = ()

    @property
    def rule(self) -> object:
        """The index of the rule of the route."""
        steps = FieldPath.parse(self.field).steps
        return steps[_RULE_DEPTH - 1] if len(steps) >= _RULE_DEPTH else None


def refused_contents(topology: Topology, registry: Registry, route: Resource) -> Iterator[RefusedContent]:
    """Yield the parts of a route that the controllers of its parents refuse."""
    profiles: list[GatewayProfile] = []
    for parent in parent_refs(topology.index, route.ref):
        profile = topology.gateways.profile_of(topology.gateways.gateway_of(parent.object))
        if profile not in profiles:
            profiles.append(profile)
            yield from refused_values(route.ref.group_kind, route.raw, profile)
            if profile.filters_once:
                yield from _repeated_filters(topology, registry, route, profile.filters_once)
    if profiles:
        yield from _accompanied_backends(topology, registry, route)


def refused_values(kind: GroupKind, raw: Mapping[str, Json], profile: GatewayProfile) -> Iterator[RefusedContent]:
    """Yield the values of a route of a kind that the controllers of a profile refuse."""
    for rule in profile.route_rules:
        if not rule.targets or kind in rule.targets:
            for path, problem in value_problems(raw, rule):
                message = f"{path} {problem}"
                yield RefusedContent(field=path, message=message, reason=rule.reason, refuses=rule.refuses)


def is_refused(raw: Json, problems: Iterable[RefusedContent]) -> bool:
    """Whether problems lead to the refusal of a whole route: one of the route, or one in each of its rules."""
    problems = list(problems)
    rules = {problem.rule for problem in problems if problem.refuses == "rule"}
    return any(problem.refuses == "route" for problem in problems) or bool(
        rules and len(rules) == len(items_at(raw, "spec.rules"))
    )


def why_refused(topology: Topology, route: ObjectRef, gateways: Collection[ObjectRef]) -> str:
    """Return why all of some Gateways, which ignore what is invalid, refuse a route; "" if one of them accepts it."""
    raw, message = topology.index.defaulted(route), ""
    for gateway in sorted(gateways):
        profile = topology.gateways.profile_of(gateway)
        problems = list(refused_values(route.group_kind, raw, profile)) if profile.ignores_invalid else []
        if not is_refused(raw, problems):
            return ""
        message = f"{gateway} does not accept {route}: {problems[0].message}"
    return message


def _repeated_filters(
    topology: Topology, registry: Registry, route: Resource, fields: Collection[str]
) -> Iterator[RefusedContent]:
    """Yield the fields that two filters of one rule set, in the filter or in the object that it names."""
    named = {
        (ref.rule, ref.position): ref.object for ref in topology.relations.filters_of(route.ref) if not ref.backend
    }
    for number, rule in enumerate(mappings_at(route.raw, "spec.rules")):
        setters: dict[str, ObjectRef | None] = {}
        for position, content in enumerate(mappings_at(rule, "filters")):
            obj = named.get((number, position))
            resource = topology.index.get(obj) if obj else None
            settings = value_at(resource.raw, "spec") if resource else content
            profile = registry.profile_of(obj.group_kind) if obj else None
            if profile and profile.answers and value_at(settings, profile.answers) is not None:
                break
            for field in sorted(fields):
                if value_at(settings, field) is None:
                    continue
                if field in setters:
                    where = f"spec.rules[{number}].filters[{position}]"
                    message = f"{where} sets {field} a second time, and a rule can set it once"
                    related = tuple(ref for ref in (setters[field], obj) if ref)
                    yield RefusedContent(field=where, message=message, reason="UnsupportedValue", related=related)
                setters.setdefault(field, obj)


def _accompanied_backends(topology: Topology, registry: Registry, route: Resource) -> Iterator[RefusedContent]:
    """Yield the backends that must be the only ones of their rules and are not."""
    backends = [backend for backend in topology.backends(route.ref) if backend.ref.forwards]
    for backend in backends if len(backends) > 1 else ():
        obj = backend.ref.object
        profile = registry.backend_profile(obj.group_kind)
        resource = topology.index.get(obj) if profile and profile.alone else None
        if profile is None or resource is None:
            continue
        siblings = len(items_at(route.raw, f"spec.rules[{backend.ref.rule}].backendRefs")) - 1
        for field, value in profile.alone.items():
            if siblings > 0 and text_at(resource.raw, field) == value:
                message = f"{obj}, whose {field} is {value}, cannot share the requests of a rule with other backends"
                yield RefusedContent(field=backend.ref.field, message=message, refuses="backend", related=(obj,))
