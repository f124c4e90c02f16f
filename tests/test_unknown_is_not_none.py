"""Whatever kinds of objects were not read, nothing is said to fail for that."""

from __future__ import annotations

from contextlib import suppress
from itertools import combinations
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

import pytest
from msgspec.structs import replace

from kubectl_policy import MergeStrategy, PolicyKindProfile, TargetLevel, analyze
from kubectl_policy.errors import NotFoundError
from kubectl_policy.model import Gap, GroupKind, NodeRef
from kubectl_policy.model.kind_roles import GATEWAY_API, HIERARCHY
from kubectl_policy.model.snapshot import AssumedObjects
from kubectl_policy.profiles.controllers import ConditionWords, GatewayProfile, StatusProfile
from kubectl_policy.profiles.needs import RequiredObject, RequiredParameter
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.policy_rows import policy_row
from kubectl_policy.questions.predicted_conditions import PolicyStatuses
from kubectl_policy.topology import gateway_conditions, listener_set_conditions, route_parent_conditions
from tests import build

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_policy import Analysis
    from kubectl_policy.model import Json, ObjectRef, Resource
    from kubectl_policy.profiles.controllers import Event

OURS: Final = "example.com/gateway"
FAILURES: Final[tuple[Event, ...]] = (
    "target missing",
    "section missing",
    "not permitted",
    "kind unsupported",
    "conflicted",
    "invalid",
    "target invalid",
    "overlapping",
    "not enabled",
)
STATUS: Final = StatusProfile(
    placement="parents",
    narrowed_by="policies",
    conditions={
        "accepted": (ConditionWords("Accepted", "True", "Accepted"),),
        **{event: (ConditionWords("Accepted", "False", event),) for event in FAILURES},
    },
)
KIND: Final = PolicyKindProfile(
    GroupKind("example.com", "ColorPolicy"),
    "inherited",
    "profile",
    controllers=frozenset({OURS}),
    effective_targets=(TargetLevel(GroupKind(GATEWAY_API, "HTTPRoute"), section=True),),
    needs=(
        RequiredObject(field="spec.key", group="", kinds=("Secret",)),
        RequiredObject(
            field="spec.store",
            group="example.com",
            kinds=("Store",),
            through=(RequiredObject(field="spec.key", group="", kinds=("Secret",)),),
        ),
    ),
    enabled_by=RequiredParameter(GroupKind("example.com", "Settings"), "colours.enable"),
    overlap="refused",
    strategy=MergeStrategy.PATCH_DEFAULTS,
    stanzas="none",
    status=STATUS,
    gateways=GatewayProfile(invalid_parents="passedOver", address_types=frozenset({"IPAddress"})),
)
PROFILES: Final = (
    KIND,
    replace(
        KIND,
        group_kind=GroupKind("example.com", "BackendPolicy"),
        policy_class="direct",
        effective_targets=(),
        targets_exist="whenReferred",
        status=replace(STATUS, placement="parentGateways"),
    ),
    replace(
        KIND,
        group_kind=GroupKind("example.com", "EveryPolicy"),
        global_namespace="default",
        status=replace(STATUS, placement="owners"),
    ),
)
PARAMETERS: Final[Json] = {"group": "example.com", "kind": "Settings", "name": "s"}
TLS: Final[Json] = {"certificateRefs": [{"name": "cert"}]}
SELECTED: Final = build.allow("Selector", {"matchLabels": {"team": "edge"}})


def on(kind: str, name: str, *targets: Json, **spec: Json) -> Resource:
    """A policy of a kind, with what all of them need."""
    key: Json = {"name": "key"}
    fields: Json = {"targetRefs": [*targets], "key": key, "store": {"name": "store"}, "a": 1, **spec}
    return build.resource(kind, name, fields, group="example.com", age=1)


POLICIES: Final = (
    on("ColorPolicy", "on-gateway", build.target("g")),
    on("ColorPolicy", "on-listener", build.target("g", section="tls")),
    on("ColorPolicy", "on-set", build.target("ls", "ListenerSet"), build.target("ls", "ListenerSet", "more")),
    on("ColorPolicy", "on-route", build.target("r", "HTTPRoute"), build.target("r", "HTTPRoute", "rule[0]")),
    on("ColorPolicy", "on-child", build.target("of-set", "HTTPRoute")),
    on("BackendPolicy", "on-service", build.target("s", "Service", group="")),
    on("BackendPolicy", "on-port", build.target("s", "Service", "web", group="")),
    on("EveryPolicy", "on-all", {"group": GATEWAY_API, "kind": "HTTPRoute", "selector": {"matchLabels": {"a": "b"}}}),
)
WORLD: Final = (
    build.gateway_class(parametersRef={**PARAMETERS, "namespace": "infra"}),  # type: ignore[dict-item]  # JSON
    build.gateway(
        "g",
        build.listener("http", allowedRoutes=SELECTED),
        build.listener("tls", "HTTPS", 443, tls=TLS),
        infrastructure={"parametersRef": PARAMETERS},
        allowedListeners=SELECTED,
    ),
    build.listener_set("ls", build.listener("more", "HTTPS", 8443, tls=TLS)),
    build.route("r", parents=[build.parent("g", "http"), build.parent("g")], labels={"a": "b"}, hostnames=["a.org"]),
    build.route("of-set", parents=[build.parent("ls", kind="ListenerSet")], hostnames=["b.org"]),
    build.service("s", ("web", 8080)),
    build.namespace("default", {"team": "edge"}),
    build.resource("Settings", "s", {"colours": {"enable": False}}, group="example.com", namespace="infra"),
    build.resource("Settings", "s", {"colours": {"enable": True}}, group="example.com"),
    build.resource("Secret", "key", group=""),
    build.resource("Secret", "cert", group=""),
    build.resource("Store", "store", {"key": {"name": "key"}}, group="example.com"),
)
# What is read, or is not, as a whole: the objects of one kind in one namespace.
PARTS: Final = sorted({(found.ref.kind, found.ref.namespace) for found in WORLD})
UNREAD: Final = [*(unread for size in range(4) for unread in combinations(PARTS, size)), tuple(PARTS)]


# Manifests may not be all; or a cluster did not give out the parts; or the user says that they exist, and no more.
Absence: TypeAlias = Literal["open world", "gaps", "assumed"]
ABSENCES: Final = get_args(Absence)


def analysed(unread: tuple[tuple[str, str], ...], absence: Absence) -> Analysis:
    """The world without some of its parts, of which nothing is known but that they may exist."""
    read = [found for found in WORLD if (found.ref.kind, found.ref.namespace) not in unread]
    gaps = [Gap(kind, namespace, "forbidden") for kind, namespace in unread] if absence == "gaps" else []
    state = build.snapshot(*read, *POLICIES, complete=absence != "open world", gaps=gaps)
    if absence == "assumed":
        state = replace(state, assumed=tuple(AssumedObjects(kind.lower(), namespace) for kind, namespace in unread))
    return analyze(state, profiles=PROFILES)


def claims(analysis: Analysis) -> Iterator[str]:
    """Everything that is said to fail: attachments, and conditions that are False."""
    for policy in analysis.policies:
        for attachment in analysis.attachments[policy.ref]:
            if attachment.state not in {"attached", "target unknown"}:
                yield f"{policy.ref}: {attachment.message}"
        for place in PolicyStatuses(analysis).of(policy.ref):
            yield from (f"{policy.ref} at {place}" for found in place.conditions if found.status == "False")
    for obj in (found.ref for found in WORLD):
        yield from (f"{obj}: {message}" for message in _refusals(analysis, obj))


def _refusals(analysis: Analysis, obj: ObjectRef) -> Iterator[str]:
    topology = analysis.topology
    conditions = [*gateway_conditions(topology.gateways, obj), *listener_set_conditions(topology.gateways, obj)]
    conditions += [found for _, each in route_parent_conditions(topology, obj) for found in each]
    yield from (found.message for found in conditions if found.status == "False")
    yield from (found.message for found in topology.bindings(obj) if found.state == "refused")


def test_nothing_fails_where_everything_was_read() -> None:
    """So that whatever fails else fails for want of something."""
    analysis = analysed((), "gaps")
    assert list(claims(analysis)) == []
    assert {found.state for each in analysis.attachments.values() for found in each} == {"attached"}


@pytest.mark.unmeasured
@pytest.mark.parametrize("absence", ABSENCES)
def test_nothing_fails_for_what_was_not_read(absence: Absence) -> None:
    """Any three kinds, each in a namespace, or all of them."""
    found = {unread: said for unread in UNREAD if (said := list(claims(analysed(unread, absence))))}
    assert found == {}


def effects(analysis: Analysis) -> Iterator[tuple[str, object]]:
    """Everything that is said without a blind spot of what affects an object, and of what becomes of a policy."""
    for obj in (found.ref for found in WORLD if found.ref.group_kind in HIERARCHY):
        with suppress(NotFoundError):
            described = describe(analysis, NodeRef(obj))
            yield from [(str(obj), described.policies)] if described.complete else []
    for policy in analysis.policies:
        row = policy_row(analysis, policy)
        if row.complete and row.enforcement.state != "Unknown":
            yield str(policy.ref), (row.enforcement.state, {node.object for node in row.affected or ()})


@pytest.mark.unmeasured
@pytest.mark.parametrize("absence", ABSENCES)
def test_no_effect_is_denied_for_what_was_not_read(absence: Absence) -> None:
    """Of one kind in a namespace, or of all."""
    everything = dict(effects(analysed((), "gaps")))
    assert len(everything) == len(POLICIES) + sum(found.ref.group_kind in HIERARCHY for found in WORLD)
    for unread in (*((part,) for part in PARTS), tuple(PARTS)):
        known = dict(effects(analysed(unread, absence)))
        assert known == {subject: everything[subject] for subject in known}, unread


@pytest.mark.parametrize("kind", ["Gateway", "HTTPRoute", "ListenerSet", "Secret", "Settings", "Store"])
def test_something_fails_for_what_does_not_exist(kind: str) -> None:
    """Where the world is known to be complete, that is."""
    read = [found for found in WORLD if found.ref.kind != kind]
    assert list(claims(analyze(build.snapshot(*read, *POLICIES, complete=True), profiles=PROFILES)))
