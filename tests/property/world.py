"""A small world, described plainly: what the oracle reads, and what becomes a snapshot for the engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random
from typing import Final, Literal, NamedTuple, TypeAlias

from msgspec.structs import replace

from kubectl_policy.model import GroupKind, Json, NodeRef, ObjectRef, Resource, Snapshot
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.profiles import MergeStrategy, PolicyKindProfile, TargetLevel
from kubectl_policy.profiles.fields import Fold, MergesWith, Nulls, RefusedOn, SameLevel, Sections, Stanzas
from kubectl_policy.profiles.merging import Chooser
from tests import build

POLICIES = "example.com"
OURS = "example.com/gateway"
WEIGHT = "example.com/weight"
STRATEGIES = ("None", "Atomic defaults", "Atomic overrides", "Patch defaults", "Patch overrides")
# `apart`: all policies apply, each with settings of its own; `keyed`: they merge strategically, lists by `LIST_KEYS`.
Style: TypeAlias = Literal["bare", "plural", "singular", "apart", "keyed"]
LIST_KEYS: Final[Mapping[str, str]] = {"l": "name", "b": ""}
_FIXED: Final[Mapping[Style, MergeStrategy]] = {
    "apart": MergeStrategy.ALL_APPLY,
    "keyed": MergeStrategy.STRATEGIC_MERGE,
}
_STANZAS: Final[Mapping[Style, Stanzas]] = {
    "bare": "none",
    "plural": "plural",
    "singular": "singular",
    "apart": "none",
    "keyed": "none",
}
Levels: TypeAlias = "tuple[tuple[GroupKind, bool], ...]"


class Gateway(NamedTuple):
    """A Gateway; a listener is a name and where it takes routes from (`Same`, `All`)."""

    namespace: str
    name: str
    gateway_class: str
    listeners: tuple[tuple[str, str], ...]


class Rule(NamedTuple):
    """A rule of a route; a backend is a namespace, a name and a port number (None: the whole Service)."""

    name: str
    backends: tuple[tuple[str, str, int | None], ...]


class Route(NamedTuple):
    """An HTTPRoute; a parent is a namespace, a name and a section; `own` are settings of the route itself."""

    namespace: str
    name: str
    parents: tuple[tuple[str, str, str], ...]
    rules: tuple[Rule, ...]
    own: Mapping[str, Json]


class Service(NamedTuple):
    """A Service; a port is a name (empty: none) and a number."""

    namespace: str
    name: str
    ports: tuple[tuple[str, int], ...]


class Kind(NamedTuple):
    """A policy kind. `levels` are (kind of object, whether its sections) at which it takes effect.

    `ordered` policies have numbers, `weighted` ones weights. A policy of a kind that is `about` a field is empty
    without it.
    """

    name: str
    direct: bool
    style: Style
    fold: Fold | None = None
    same_level: SameLevel | None = None
    levels: Levels = ()
    object_fields: Mapping[str, str] = {}
    whole: frozenset[str] = frozenset()
    chooser: Chooser = "established"
    merges_with: MergesWith = "every"
    merge_parents: Levels = ()
    sections: Sections | None = None
    controllers: frozenset[str] = frozenset()
    nulls: Nulls = "remove"
    ordered: bool = False
    about: str = ""
    refusal: RefusedOn = "there"
    weighted: bool = False


class Policy(NamedTuple):
    """A policy. `parts` are (strategy, spec), overrides first; a bare policy has exactly one."""

    kind: str
    namespace: str
    name: str
    created: int | None
    targets: tuple[NodeRef, ...]
    parts: tuple[tuple[str, Mapping[str, Json]], ...]
    number: int | None = None
    weight: int | None = None

    @property
    def ref(self) -> ObjectRef:
        """The policy as an object."""
        return ObjectRef(GroupKind(POLICIES, self.kind), self.namespace, self.name)


class World(NamedTuple):
    """Everything that there is: a class is a name and a controller.

    A grant (from, to) lets policies and routes of one namespace refer into another.
    """

    namespaces: tuple[str, ...]
    classes: tuple[tuple[str, str], ...]
    gateways: tuple[Gateway, ...]
    routes: tuple[Route, ...]
    services: tuple[Service, ...]
    grants: tuple[tuple[str, str], ...]
    kinds: tuple[Kind, ...]
    policies: tuple[Policy, ...]


def profiles_of(world: World) -> tuple[PolicyKindProfile, ...]:
    """The kinds of a world as a user would describe them."""
    return tuple(
        PolicyKindProfile(
            GroupKind(POLICIES, kind.name),
            "direct" if kind.direct else "inherited",
            "profile",
            strategy=_FIXED.get(kind.style),
            strategy_field="" if kind.style in _FIXED else "spec.mode",
            list_keys=LIST_KEYS if kind.style == "keyed" else {},
            stanzas=_STANZAS[kind.style],
            fold=kind.fold,
            same_level=kind.same_level,
            effective_targets=tuple(TargetLevel(*level) for level in kind.levels),
            object_fields=kind.object_fields,
            whole_fields=kind.whole,
            chooser=kind.chooser,
            merges_with=kind.merges_with,
            merge_parents=tuple(TargetLevel(*level) for level in kind.merge_parents),
            sections=kind.sections,
            controllers=kind.controllers,
            nulls=kind.nulls,
            order_field="priority" if kind.ordered else "",
            empty_without=kind.about,
            refusal=kind.refusal,
            weight_annotation=WEIGHT if kind.weighted else "",
        )
        for kind in world.kinds
    )


def snapshot_of(world: World, *, complete: bool = True) -> Snapshot:
    """A world as objects; if it is complete, all that is not in it does not exist."""
    return build.snapshot(*_objects(world), *(_policy(world, policy) for policy in world.policies), complete=complete)


def shuffled(snapshot: Snapshot, random: Random) -> Snapshot:
    """Return a snapshot with its objects in another order."""
    resources = list(snapshot.resources)
    random.shuffle(resources)
    return replace(snapshot, resources=tuple(resources))


def _objects(world: World) -> Iterator[Resource]:
    for name in world.namespaces:
        yield build.namespace(name)
    for name, controller in world.classes:
        yield build.gateway_class(name, controller)
    for gateway in world.gateways:
        listeners = [
            build.listener(name, port=80 + number, allowedRoutes=build.allow(source))
            for number, (name, source) in enumerate(gateway.listeners)
        ]
        yield build.gateway(gateway.name, *listeners, class_name=gateway.gateway_class, namespace=gateway.namespace)
    for route in world.routes:
        yield _route(route)
    for service in world.services:
        yield build.service(service.name, *(_port(*port) for port in service.ports), namespace=service.namespace)
    for home, abroad in world.grants:
        yield _grant(world, home, abroad)


def _route(route: Route) -> Resource:
    parents = [build.parent(name, section, namespace=namespace) for namespace, name, section in route.parents]
    rules = [
        build.rule(*(build.backend(name, port, namespace=namespace) for namespace, name, port in rule.backends))
        | ({"name": rule.name} if rule.name else {})
        for rule in route.rules
    ]
    built = build.route(route.name, parents=parents, rules=rules, namespace=route.namespace)
    spec = built.raw["spec"]
    assert isinstance(spec, dict)
    spec["own"] = route.own
    return built


def _port(name: str, number: int) -> int | tuple[str, int]:
    return (name, number) if name else number


def _grant(world: World, home: str, abroad: str) -> Resource:
    sources = [(GATEWAY_API, "HTTPRoute", home), *((POLICIES, kind.name, home) for kind in world.kinds)]
    targets = [("", "Service"), (GATEWAY_API, "Gateway"), (GATEWAY_API, "HTTPRoute")]
    return build.grant(f"from-{home}", namespace=abroad, sources=sources, targets=targets)


def _policy(world: World, policy: Policy) -> Resource:
    style: Style = next(kind.style for kind in world.kinds if kind.name == policy.kind)
    targets = [
        build.target(
            target.object.name,
            target.object.kind,
            target.section,
            group=target.object.group_kind.group,
            **({"namespace": target.object.namespace} if target.object.namespace else {}),
        )
        for target in policy.targets
    ]
    spec: dict[str, Json] = {"targetRefs": targets}
    for strategy, part in policy.parts:
        spec |= _part(strategy, part, style)
    built = build.resource(
        policy.kind,
        policy.name,
        spec,
        group=POLICIES,
        namespace=policy.namespace,
        age=policy.created,
        priority=policy.number,
    )
    return built if policy.weight is None else build.with_metadata(built, annotations={WEIGHT: str(policy.weight)})


def _part(strategy: str, part: Mapping[str, Json], style: Style) -> dict[str, Json]:
    if style in _FIXED:
        return dict(part)
    if style == "bare":
        return {**part, "mode": MergeStrategy(strategy).name.replace("_", "-").lower()}
    stanza = ("override" if strategy.endswith("overrides") else "default") + ("s" if style == "plural" else "")
    patches = {"strategy": "patch"} if style == "plural" and strategy.startswith("Patch") else {}
    return {stanza: {**part, **patches}}
