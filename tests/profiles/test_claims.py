"""Each built-in profile attaches as its kind spells its references, and claims nothing where it has none."""

from typing import Final

import pytest

from kubectl_policy import Attachment, analyze
from kubectl_policy.model import GroupKind, Json, NodeRef, Resource
from kubectl_policy.model.kind_roles import GATEWAY_API, NAMESPACE, SERVICE
from kubectl_policy.network.kinds import EVALUATED_KINDS
from kubectl_policy.profiles import PolicyKindProfile
from kubectl_policy.profiles.load import built_in_profiles
from kubectl_policy.profiles.needs import RestrictedTarget
from tests.build import (
    gateway,
    gateway_class,
    grant,
    listener,
    listener_set,
    names,
    namespace,
    parent,
    ref,
    resource,
    route,
    rule,
    service,
    snapshot,
    with_metadata,
)
from tests.profiles.claims import (
    CLAIMS,
    GATEWAY,
    GATEWAY_CLASS,
    GRPC_ROUTE,
    HTTP_ROUTE,
    LISTENER_SET,
    NODE,
    PARTLY,
    POD,
    X_LISTENER_SET,
    Claim,
)

LABELS: Final = {"app": "x"}
CLUSTER_SCOPED: Final = {NAMESPACE, GATEWAY_CLASS, NODE}
SECTION: Final = {SERVICE: "port", HTTP_ROUTE: "first", GRPC_ROUTE: "first"}
BY_REFERENCE: Final = [claim for claim in CLAIMS if claim.fields]
# What stands in for a kind that takes any target.
ANYTHING: Final = (SERVICE, GroupKind("example.com", "Backend"))


def profile_of(claim: Claim) -> PolicyKindProfile:
    return built_in_profiles(claim.kind.group)[claim.kind]


def cases(*, sections: bool = False, elsewhere: bool = False) -> list[object]:
    """Every spelling of every target of every kind; of those that have `sections`, or may be `elsewhere`."""
    return [
        pytest.param(claim, field, target, id=f"{claim.kind}-{field}-{target}")
        for claim in BY_REFERENCE
        for field in claim.fields
        for target in (claim.sections if sections else claim.targets or ANYTHING)
        if not elsewhere or (field != "targetSelectors" and target not in {*CLUSTER_SCOPED, POD})
    ]


def reference(field: str, target: GroupKind, name: str = "x", **more: Json) -> Json:
    """A reference as the field spells it: by labels in `targetSelectors`, and for Pods; by name else."""
    entry: dict[str, Json] = {"group": target.group, "kind": target.kind, **more}
    if field == "targetSelectors":
        entry["matchLabels"] = LABELS
    elif target == POD:
        entry["selector"] = {"matchLabels": LABELS}
    else:
        entry["name"] = name
    return entry if field == "targetRef" else [entry]


def policy_to(claim: Claim, field: str, target: GroupKind, **more: Json) -> Resource:
    spec: dict[str, Json] = {field: reference(field, target, _name(claim, target), **more)}
    home = next((restricted.namespace for restricted in _restrictions(claim, target)), "default")
    return resource(claim.kind.kind, "p", spec, group=claim.kind.group, namespace=home)


def _name(claim: Claim, target: GroupKind) -> str:
    names = (name for restricted in _restrictions(claim, target) for name in restricted.names)
    return next(names, "default" if target == NAMESPACE else "x")


def _restrictions(claim: Claim, target: GroupKind) -> list[RestrictedTarget]:
    """Which policies may have a target of the kind, and which objects of it may be one."""
    restricted = profile_of(claim).with_settings({}).restricted_targets
    return [restriction for restriction in restricted if restriction.group_kind == target]


def world(claim: Claim, target: GroupKind, where: str = "default") -> list[Resource]:
    """An object of a kind, labelled, and the Gateway and GatewayClass that put it under the kind's controller."""
    (controller,) = profile_of(claim).with_settings({}).controllers or {"example.com/controller"}
    edge = gateway("edge", namespace=where)
    objects = {
        GATEWAY_CLASS: gateway_class(_name(claim, GATEWAY_CLASS), controller),
        GATEWAY: gateway("x", listener("first"), namespace=where),
        LISTENER_SET: listener_set("x", listener("first"), parent="edge", namespace=where),
        X_LISTENER_SET: listener_set(
            "x", listener("first"), parent="edge", namespace=where, group=X_LISTENER_SET.group
        ),
        HTTP_ROUTE: route("x", parents=[parent("edge")], rules=[rule(name="first")], namespace=where),
        GRPC_ROUTE: route("x", kind="GRPCRoute", parents=[parent("edge")], rules=[rule(name="first")], namespace=where),
        SERVICE: service("x", ("port", 80), namespace=where),
        NAMESPACE: namespace("default"),
    }
    found = objects.get(target) or resource(target.kind, "x", {}, group=target.group, namespace=where)
    labelled = with_metadata(found, labels=LABELS)
    return [gateway_class("public", controller, **_enabling(claim)), edge, labelled, *_required(claim, target, where)]


def _enabling(claim: Claim) -> dict[str, Json]:
    """What a GatewayClass says so that policies of the kind may be used on its Gateways."""
    enabling = profile_of(claim).enabled_by
    if enabling is None:
        return {}
    kind = enabling.group_kind
    return {"parametersRef": {"group": kind.group, "kind": kind.kind, "name": "on", "namespace": "default"}}


def _required(claim: Claim, target: GroupKind, where: str) -> list[Resource]:
    """What has to be there besides: parameters that let the kind be used, a route that sends requests to a target."""
    profile = profile_of(claim)
    found: list[Resource] = []
    if profile.enabled_by:
        kind = profile.enabled_by.group_kind
        spec: dict[str, Json] = {}
        for key in reversed(profile.enabled_by.field.split(".")):
            spec = {key: spec or True}
        found.append(resource(kind.kind, "on", spec, group=kind.group))
    if profile.targets_exist == "whenReferred":
        backend: dict[str, Json] = {"group": target.group, "kind": target.kind, "name": "x", "port": 80}
        found.append(route("user", parents=[parent("edge")], rules=[rule(backend)], namespace=where))
    return found


def attachments_of(policy: Resource, *objects: Resource) -> tuple[Attachment, ...]:
    """The attachments of a policy in a world of which everything is known."""
    return analyze(snapshot(policy, *objects, complete=True)).attachments[policy.ref]


@pytest.mark.parametrize(("claim", "field", "target"), cases())
def test_a_kind_attaches_by_its_own_spelling(claim: Claim, field: str, target: GroupKind) -> None:
    (attachment,) = attachments_of(policy_to(claim, field, target), *world(claim, target))
    assert (attachment.state, attachment.target) == (
        "attached",
        NodeRef(ref(target.kind, _name(claim, target), group=target.group)),
    )


@pytest.mark.parametrize(("claim", "field", "target"), cases(sections=True))
def test_a_kind_attaches_to_the_sections_that_it_may_name(claim: Claim, field: str, target: GroupKind) -> None:
    """Listeners, rules and ports by name; one that does not exist is none."""
    section = SECTION.get(target, "first")
    found = policy_to(claim, field, target, sectionName=section)
    (attachment,) = attachments_of(found, *world(claim, target))
    assert (attachment.state, attachment.target) == (
        "attached",
        NodeRef(ref(target.kind, "x", group=target.group), section),
    )
    (missing,) = attachments_of(policy_to(claim, field, target, sectionName="other"), *world(claim, target))
    assert missing.state == "section missing"


@pytest.mark.parametrize("claim", BY_REFERENCE, ids=lambda claim: str(claim.kind))
def test_a_spelling_that_the_kind_does_not_have_attaches_nothing(claim: Claim) -> None:
    """An API server drops fields that the definition lacks."""
    target = (claim.targets or ANYTHING)[0]
    for field in {"targetRef", "targetRefs", "targetSelectors"} - set(claim.fields):
        assert attachments_of(policy_to(claim, field, target), *world(claim, target)) == ()


@pytest.mark.parametrize("claim", [claim for claim in BY_REFERENCE if claim.targets], ids=lambda claim: str(claim.kind))
def test_a_foreign_target_is_refused(claim: Claim) -> None:
    """A kind that names its targets takes no others."""
    foreign = GroupKind("example.com", "Widget")
    (attachment,) = attachments_of(policy_to(claim, claim.fields[0], foreign), *world(claim, foreign))
    assert attachment.state == "kind unsupported"


@pytest.mark.parametrize(("claim", "field", "target"), cases(elsewhere=True))
def test_another_namespace_is_refused_or_needs_a_grant(claim: Claim, field: str, target: GroupKind) -> None:
    """A local kind never reaches another namespace, whatever grants are there; the others need one."""
    far = policy_to(claim, field, target, namespace="other")
    (alone,) = attachments_of(far, *world(claim, target, "other"))
    assert alone.state == "not permitted"
    permission = grant(
        namespace="other",
        sources=[(claim.kind.group, claim.kind.kind, "default")],
        targets=[(target.group, target.kind)],
    )
    (granted,) = attachments_of(far, permission, *world(claim, target, "other"))
    assert granted.state == ("attached" if claim.crosses else "not permitted")


@pytest.mark.parametrize(
    "claim",
    [claim for claim in BY_REFERENCE if GATEWAY in claim.targets and profile_of(claim).controllers],
    ids=lambda claim: str(claim.kind),
)
def test_a_gateway_of_another_controller_is_none_of_its_business(claim: Claim) -> None:
    """By the controllerName of its GatewayClass."""
    elsewhere = [gateway_class("public", "example.com/other"), gateway("x")]
    (attachment,) = attachments_of(policy_to(claim, claim.fields[0], GATEWAY), *elsewhere)
    assert attachment.state == "not managed"


@pytest.mark.parametrize("claim", BY_REFERENCE, ids=lambda claim: str(claim.kind))
def test_a_policy_without_references(claim: Claim) -> None:
    """It has no effect, unless its kind attaches in another way as well: then nothing is claimed."""
    found = resource(claim.kind.kind, "p", {"selector": {"matchLabels": LABELS}}, group=claim.kind.group)
    analysis = analyze(snapshot(found, *world(claim, SERVICE), complete=True))
    rules, state = ((), "Unknown") if claim.kind in PARTLY else (("no-target",), "Invalid")
    state = "NoEffect" if claim.filters else state
    assert tuple(problem.rule for problem in analysis.problems_of(found.ref)) == rules
    assert analysis.enforcement(found.ref).state == state


def by_filter(claim: Claim, kind: GroupKind, *, backend: bool = False) -> tuple[str, NodeRef | None]:
    """State and target of the attachment of a policy that a filter of a rule, or of its backendRef, names."""
    (gateways, edge, _), found = world(claim, GATEWAY), [names("p", claim.kind.kind, claim.kind.group)]
    buy = rule({"name": "s", "filters": found}) if backend else rule(filters=found)
    one = route("x", kind=kind.kind, parents=[parent("edge")], rules=[buy])
    policy = resource(claim.kind.kind, "p", {}, group=claim.kind.group)
    (attachment,) = attachments_of(policy, gateways, edge, one)
    return attachment.state, attachment.target


@pytest.mark.parametrize("claim", [claim for claim in CLAIMS if claim.filters], ids=lambda claim: str(claim.kind))
class TestByFilters:
    def test_of_rules(self, claim: Claim) -> None:
        for kind in (HTTP_ROUTE, GRPC_ROUTE):
            state = "attached" if kind in claim.filters else "filter unsupported"
            assert by_filter(claim, kind) == (state, NodeRef(ref(kind.kind, "x"), "rule[0]"))

    def test_of_backends(self, claim: Claim) -> None:
        """They apply to that backend alone, which is not computed of policies, or are refused."""
        taken = "not computed" if claim.fields else "attached"
        state = taken if claim.backends else "filter unsupported"
        assert by_filter(claim, claim.filters[0], backend=True)[0] == state


@pytest.mark.parametrize("claim", [claim for claim in CLAIMS if claim.parameters], ids=lambda claim: str(claim.kind))
class TestAsParameters:
    """Kinds that Gateways and their classes name as their parameters."""

    @pytest.mark.parametrize("holder", [GATEWAY_CLASS, GATEWAY])
    def test_of_gateways_and_classes(self, claim: Claim, holder: GroupKind) -> None:
        """Those of the controllers of the kind; a Gateway's are in its namespace, a class says where its are."""
        controllers = sorted(profile_of(claim).with_settings({}).controllers) or ["example.com/controller"]
        reference: dict[str, Json] = {"group": claim.kind.group, "kind": claim.kind.kind, "name": "p"}
        if holder == GATEWAY_CLASS:
            of_class = {**reference, "namespace": "infra"}
            found = resource(claim.kind.kind, "p", {}, group=claim.kind.group, namespace="infra")
            named = gateway_class("x", controllers[0], parametersRef=of_class)
            foreign = gateway_class("y", "example.com/other", parametersRef=of_class)
            objects = [named, foreign]
        else:
            found = resource(claim.kind.kind, "p", {}, group=claim.kind.group)
            named = gateway("x", class_name="x", infrastructure={"parametersRef": reference})
            foreign = gateway("y", class_name="y", infrastructure={"parametersRef": reference})
            objects = [gateway_class("x", controllers[0]), gateway_class("y", "example.com/other"), named, foreign]
        states = {
            attachment.target: (attachment.state, attachment.declared.way)
            for attachment in attachments_of(found, *objects)
        }
        assert states == {
            NodeRef(named.ref): ("attached", "parameters"),
            NodeRef(foreign.ref): ("not managed", "parameters"),
        }


@pytest.mark.parametrize(
    "claim",
    [claim for claim in CLAIMS if not (claim.fields or claim.filters or claim.parameters)],
    ids=lambda claim: str(claim.kind),
)
class TestNotByReference:
    """Kinds that attach in a way that is not computed."""

    def test_nothing_is_claimed_of_what_it_affects(self, claim: Claim) -> None:
        """Whatever looks like a reference: no attachment, no problem, no effect, and an enforcement that is unknown."""
        spec: dict[str, Json] = {
            "podSelector": {},
            "targetRef": {"group": GATEWAY_API, "kind": "Gateway", "name": "edge"},
            "targetRefs": [{"group": "", "kind": "Service", "name": "x"}],
        }
        found = resource(claim.kind.kind, "p", spec, group=claim.kind.group)
        analysis = analyze(snapshot(found, *world(claim, SERVICE), complete=True))
        assert found in analysis.policies
        assert analysis.attachments[found.ref] == ()
        assert analysis.problems_of(found.ref) == ()
        # To which Pods it applies is computed of the kinds whose rules are evaluated, and there are none.
        has_none = claim.kind in EVALUATED_KINDS or claim.kind.kind.startswith("Staged")
        assert analysis.enforcement(found.ref).state == ("NoEffect" if has_none else "Unknown")
        assert analysis.affected_by(NodeRef(ref("Service", "x", group=""))) == ()
        assert analysis.affected_by(NodeRef(ref("Gateway", "edge"))) == ()

    def test_a_person_is_told_how_it_attaches(self, claim: Claim) -> None:
        """In a sentence, since nothing else can say it."""
        assert profile_of(claim).notes.endswith(".")


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: str(claim.kind))
def test_the_profile_says_what_is_claimed(claim: Claim) -> None:
    """Class, target kinds, namespaces and merging, and no more than that."""
    profile = profile_of(claim)
    assert profile.policy_class == claim.policy_class
    assert profile.declared_targets == set(claim.targets)
    assert profile.target_fields == tuple(f"spec.{field}" for field in claim.fields)
    assert profile.cross_namespace is claim.crosses
    assert (profile.filter_routes, profile.backend_filters) == (frozenset(claim.filters), claim.backends)
    assert (profile.role == "parameters") is claim.parameters
    match claim.merges:
        case "":
            assert (profile.strategy, profile.assumed) == (None, ())
        case "assumed":
            assert (profile.strategy, profile.assumed) == (None, ("merge strategy",))
        case "stanzas":
            assert (profile.strategy, profile.stanzas, profile.assumed) == (None, "singular", ())
        case strategy:
            assert (profile.strategy, profile.assumed) == (strategy, ())
