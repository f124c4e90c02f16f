"""Two states of one world: what each knows by way of the other, and what is deleted with an object."""

from __future__ import annotations

from itertools import product
from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy.model import Diagnostic, Gap, Json, ObjectRef, Resource, Snapshot
from kubectl_policy.model.index import Index
from kubectl_policy.model.unknown import unknown_namespace
from kubectl_policy.states import apply_changes, cascade, in_scope, overlay, pair_states, same_object
from tests import build

ONE: Final = build.gateway("one")
TWO: Final = build.gateway("two")
FORBIDDEN: Final = Gap("Gateway", "default", "forbidden")


def policy(color: str = "red", age: int | None = None, *, status: Json = None, priority: Json = None) -> Resource:
    spec: Json = {"targetRefs": [build.target("g")], "color": color}
    return build.resource("ColorPolicy", "p", spec, group="example.com", age=age, status=status, priority=priority)


def said(*resources: Resource) -> list[tuple[object, ...]]:
    """All that two resources have in common that are the same."""
    return [(resource.ref, resource.raw, resource.created) for resource in resources]


def presence(snapshot: Snapshot, ref: ObjectRef) -> str:
    """Whether an object exists in a state."""
    return Index(snapshot).presence(ref)


@pytest.mark.parametrize(
    ("gap", "covered"),
    [
        (Gap("Service", "default", ""), False),
        (Gap("Gateway", "other", ""), False),
        (Gap("Gateway", "default", ""), True),
        (Gap("Gateway", "", ""), True),
        (Gap("", "default", ""), True),
        (Gap("", "", ""), True),
    ],
)
def test_what_a_gap_covers(gap: Gap, *, covered: bool) -> None:
    assert gap.covers(ONE.ref) is covered


def test_objects_are_not_the_same_for_a_field_or_an_age() -> None:
    assert not same_object(policy("red"), policy("blue"))
    assert not same_object(policy(age=1), replace(policy(age=1), created=policy(age=2).created))
    assert not same_object(policy(priority=1), policy(priority=True))
    assert same_object(policy(age=1), policy(age=1))


class TestPaired:
    """Two states that were read apart."""

    def test_nothing_differs(self) -> None:
        """Then neither knows of anything beside it."""
        assert pair_states(build.snapshot(ONE), build.snapshot(ONE)) == (build.snapshot(ONE), build.snapshot(ONE))

    def test_what_vanished_is_missing_and_what_was_created_was(self) -> None:
        before, after = pair_states(build.snapshot(ONE), build.snapshot())
        assert (before.other_state, before.gone) == ((), frozenset())
        assert after.other_state == (ONE,)
        assert after.gone == {ONE.ref}
        assert presence(build.snapshot(), ONE.ref) == "unknown"
        assert presence(after, ONE.ref) == "missing"
        assert presence(after, TWO.ref) == "unknown"
        assert pair_states(build.snapshot(), build.snapshot(ONE)) == (after, before)

    def test_what_may_have_another_name_did_not_vanish(self) -> None:
        for name, namespace in (("${NAME}", ONE.ref.namespace), (ONE.ref.name, unknown_namespace("apps"))):
            other = replace(ONE, ref=replace(ONE.ref, name=name, namespace=namespace))
            _, after = pair_states(build.snapshot(ONE), build.snapshot(other))
            assert after.gone == frozenset()
            assert presence(after, ONE.ref) == "unknown"

    def test_what_a_gap_covers_is_unknown(self) -> None:
        _, after = pair_states(build.snapshot(ONE), build.snapshot(gaps=[FORBIDDEN]))
        assert (after.other_state, after.gone) == ((ONE,), frozenset())
        assert presence(after, ONE.ref) == "unknown"

    def test_what_both_have_otherwise(self) -> None:
        before, after = pair_states(build.snapshot(policy("red")), build.snapshot(policy("blue")))
        assert said(*before.other_state) == said(policy("blue"))
        assert said(*after.other_state) == said(policy("red"))
        assert before.gone == after.gone == frozenset()

    def test_a_namespace_in_which_something_lives_is_there(self) -> None:
        """Also if its own object was read in the other state alone."""
        _, after = pair_states(build.snapshot(build.namespace("default"), ONE), build.snapshot(ONE))
        assert after.gone == frozenset()
        assert presence(after, build.ref("Namespace", "default", group="")) == "present"

    def test_a_namespace_that_vanished_with_all_that_lived_there(self) -> None:
        space = build.namespace("default")
        _, after = pair_states(build.snapshot(space, ONE), build.snapshot())
        assert after.gone == {space.ref, ONE.ref}
        assert presence(after, space.ref) == "missing"

    def test_of_two_objects_of_one_name_the_later_counts(self) -> None:
        """As for `kubectl apply`."""
        _, after = pair_states(build.snapshot(policy("red"), policy("blue")), build.snapshot(policy("blue")))
        assert after.other_state == ()


class TestChanged:
    def test_what_is_deleted_is_gone_whatever_a_gap_covers(self) -> None:
        before, after = apply_changes(build.snapshot(ONE, gaps=[FORBIDDEN]), deleted={ONE.ref, TWO.ref})
        assert before.other_state == ()
        assert (tuple(after.resources), after.other_state) == ((), (ONE,))
        assert after.gone == {ONE.ref, TWO.ref}
        assert presence(after, ONE.ref) == "missing"
        assert presence(before, TWO.ref) == "unknown"

    def test_an_inhabited_namespace_that_is_deleted_is_gone(self) -> None:
        space = build.namespace("default")
        _, after = apply_changes(build.snapshot(space, ONE), deleted={space.ref})
        assert after.gone == {space.ref}
        assert presence(after, space.ref) == "missing"

    def test_what_is_deleted_and_applied_is_there(self) -> None:
        before, after = apply_changes(build.snapshot(policy(age=1)), [policy()], {policy().ref})
        assert (before.other_state, after.other_state, after.gone) == ((), (), frozenset())
        assert said(*after.resources) == said(policy(age=1))

    def test_what_is_applied_keeps_what_no_manifest_states(self) -> None:
        known = policy("red", age=1, status={"ancestors": []}, priority=1)
        known = build.with_metadata(known, uid="1-2", resourceVersion="7", labels={"a": "b"})
        _, after = apply_changes(build.snapshot(known), [policy("blue")])
        (applied,) = after.resources
        assert applied.created == known.created
        assert applied.raw == {
            **policy("blue").raw,
            "metadata": {
                "name": "p",
                "namespace": "default",
                "creationTimestamp": "2026-01-01T00:01:00Z",
                "uid": "1-2",
            },
            "status": {"ancestors": []},
        }

    def test_what_is_applied_may_state_them(self) -> None:
        _, after = apply_changes(build.snapshot(policy(age=1, status={"a": 1})), [policy(age=2, status={"b": 1})])
        assert said(*after.resources) == said(policy(age=2, status={"b": 1}))

    def test_what_kubectl_writes_for_a_dry_run_states_nothing(self) -> None:
        dry = build.with_metadata(policy(status={}), creationTimestamp=None)
        known = policy(age=1, status={"a": 1})
        _, after = apply_changes(build.snapshot(known), [dry])
        assert said(*after.resources) == said(known)
        assert after.other_state == ()

    def test_what_is_new_is_as_it_is_applied(self) -> None:
        before, after = apply_changes(build.snapshot(ONE), [policy()])
        assert said(*after.resources) == said(ONE, policy())
        assert said(*before.other_state) == said(policy())
        assert before.gone == {policy().ref}

    def test_what_could_not_be_read_of_it(self) -> None:
        old, new = Diagnostic("yaml", "error", "old"), Diagnostic("yaml", "error", "new")
        snapshot = replace(build.snapshot(ONE), diagnostics=(old,))
        unread = replace(build.snapshot(gaps=[FORBIDDEN]), diagnostics=(new,))
        before, after = apply_changes(snapshot, unread=unread)
        assert (before.gaps, before.diagnostics) == ((), (old,))
        assert (after.gaps, after.diagnostics) == ((FORBIDDEN,), (old, new))


class TestLaidOver:
    def test_where_both_have_an_object_its_own_counts(self) -> None:
        around, own = build.snapshot(ONE, policy("red")), build.snapshot(policy("blue"), TWO)
        both = overlay(around, own)
        assert said(*both.resources) == said(ONE, policy("blue"), TWO)
        assert (both.other_state, both.gone) == ((), frozenset())

    def test_what_could_not_be_read_of_either(self) -> None:
        """It may be there, whichever of them it was to be read for."""
        gap = Gap("Service", "default", "broken")
        both = overlay(build.snapshot(gaps=[FORBIDDEN]), build.snapshot(gaps=[gap]))
        assert both.gaps == (FORBIDDEN, gap)
        assert presence(both, ONE.ref) == "unknown"

    @pytest.mark.parametrize(("around", "own"), [*product((False, True), repeat=2)])
    def test_what_is_all_there_is(self, *, around: bool, own: bool) -> None:
        both = overlay(build.snapshot(ONE, complete=around), build.snapshot(TWO, complete=own))
        assert both.complete == (around or own)
        services = build.service().ref.group_kind
        parts = [build.listed(build.snapshot(ONE)), replace(build.snapshot(), listed=frozenset({(services, "far")}))]
        assert overlay(*parts).listed == parts[0].listed | parts[1].listed
        assert presence(overlay(*parts), build.ref("Gateway", "three")) == "missing"

    def test_what_is_said_of_its_reading_is_its_own(self) -> None:
        """Where it was read, and what it was told; what is around it was read for it alone."""
        around = replace(build.snapshot(ONE), source="the cluster", ignored=7)
        both = overlay(around, replace(build.snapshot(), ignored=1))
        assert (both.source, both.ignored) == ("the input", 1)

    def test_the_definition_of_a_kind_may_be_around(self) -> None:
        """What is cluster-scoped by it is so in the state as well, so that both have one object."""
        definition = build.crd("ColorPolicy", cluster_scoped=True)
        there = replace(policy("red"), ref=replace(policy().ref, namespace=""))
        both = overlay(build.snapshot(definition, there), build.snapshot(policy("blue")))
        assert [(resource.ref, resource.raw) for resource in both.resources][1:] == [(there.ref, policy("blue").raw)]


@pytest.mark.parametrize("cluster_scoped", [False, True])
def test_a_namespace_goes_where_a_kind_has_none(*, cluster_scoped: bool) -> None:
    scopes = build.index(build.crd("ColorPolicy", cluster_scoped=cluster_scoped))
    red, public = policy(age=1), build.gateway_class()
    placed = in_scope(red, scopes)
    assert placed.ref == replace(red.ref, namespace="" if cluster_scoped else "default")
    assert (placed.raw, placed.origin, placed.created) == (red.raw, red.origin, red.created)
    assert in_scope(public, scopes) is public


def owned(name: str, *owners: tuple[str, str, str], kind: str = "Service", namespace: str = "default") -> Resource:
    """An object with owners: their apiVersions, kinds and names; each has some uid."""
    references: list[Json] = [
        {"apiVersion": version, "kind": owner, "name": called, "uid": f"uid-{place}"}
        for place, (version, owner, called) in enumerate(owners)
    ]
    built = build.resource(kind, name, {}, group="" if kind == "Service" else "example.com", namespace=namespace)
    return build.with_metadata(built, ownerReferences=references)


def with_it(*resources: Resource, deleted: ObjectRef, complete: bool = False) -> set[str]:
    """Return the objects that are deleted with an object, as text."""
    found = cascade(build.index(*resources, complete=complete), [deleted])
    assert deleted in found
    return {str(ref) for ref in found - {deleted}}


GATEWAY = ("gateway.networking.k8s.io/v1", "Gateway", "g")
G = build.ref("Gateway", "g")


def test_what_only_refers_to_an_object_stays() -> None:
    assert with_it(build.gateway(), build.route(), build.service(), deleted=G) == set()
    assert with_it(build.route(), build.service(), deleted=build.ref("Service", "s", group="")) == set()


def test_what_was_not_read_can_be_deleted() -> None:
    assert with_it(deleted=G) == set()


def test_with_a_namespace_goes_what_is_in_it() -> None:
    deleted = with_it(
        build.namespace("a"),
        build.gateway(namespace="a"),
        build.policy("p", namespace="a"),
        build.gateway(namespace="b"),
        build.namespace("b"),
        build.gateway_class("a"),
        deleted=build.ref("Namespace", "a", group=""),
    )
    assert deleted == {"Gateway a/g", "ColorPolicy a/p"}


def test_with_a_definition_goes_every_object_of_its_kind() -> None:
    definition = build.crd("ColorPolicy")
    deleted = with_it(
        definition,
        build.policy("p"),
        build.policy("p", namespace="b"),
        build.policy("p", group="other.com"),
        build.policy("p", kind="OtherPolicy"),
        deleted=definition.ref,
    )
    assert deleted == {"ColorPolicy default/p", "ColorPolicy b/p"}


def test_with_a_definition_that_defines_nothing_goes_nothing() -> None:
    broken = build.resource("CustomResourceDefinition", "broken", {}, group="apiextensions.k8s.io")
    assert with_it(broken, build.policy("p"), deleted=broken.ref) == set()
    assert with_it(build.policy("p"), deleted=broken.ref) == set()


def test_with_an_owner_goes_what_it_owns_and_what_that_owns() -> None:
    """In its namespace; a uid is not looked at, since manifests have none."""
    deleted = with_it(
        build.gateway(),
        owned("s", GATEWAY),
        owned("deep", ("v1", "Service", "s")),
        owned("s", GATEWAY, namespace="b"),
        owned("other", ("gateway.networking.k8s.io/v1", "Gateway", "other")),
        owned("route", ("gateway.networking.k8s.io/v1", "HTTPRoute", "g")),
        deleted=G,
    )
    assert deleted == {"Service default/s", "Service default/deep"}


def test_what_has_another_owner_stays() -> None:
    second = build.gateway("second")
    shared = owned("s", GATEWAY, ("gateway.networking.k8s.io/v1", "Gateway", "second"))
    assert with_it(build.gateway(), second, shared, deleted=G) == set()
    deleted = cascade(build.index(build.gateway(), second, shared), [G, second.ref])
    assert shared.ref in deleted


def test_an_owner_that_is_missing_keeps_nothing() -> None:
    shared = owned("s", GATEWAY, ("example.com/v1", "Widget", "gone"))
    assert with_it(build.gateway(), shared, deleted=G) == set()
    assert with_it(build.gateway(), shared, deleted=G, complete=True) == {"Service default/s"}
    orphan = owned("s", ("example.com/v1", "Widget", "gone"))
    assert with_it(build.gateway(), orphan, deleted=G, complete=True) == set()


def test_an_owner_without_a_namespace() -> None:
    deleted = with_it(
        build.gateway_class("public"),
        owned("s", ("gateway.networking.k8s.io/v1", "GatewayClass", "public")),
        deleted=build.ref("GatewayClass", "public"),
    )
    assert deleted == {"Service default/s"}


def test_one_leads_to_the_other() -> None:
    owner: Json = {"apiVersion": "v1", "kind": "Namespace", "name": "a"}
    definition = build.with_metadata(build.crd("ColorPolicy"), ownerReferences=[owner])
    deleted = with_it(
        build.namespace("a"), definition, build.policy("p"), deleted=build.ref("Namespace", "a", group="")
    )
    assert deleted == {"CustomResourceDefinition colorpolicys.example.com", "ColorPolicy default/p"}
