"""The objects that settings of policies name: by their profile, or by the shape of the reference."""

from __future__ import annotations

from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy import PolicyKindProfile, analyze
from kubectl_policy.attachment import SettingsReference, SettingsReferences
from kubectl_policy.attachment.settings import ANY_KIND
from kubectl_policy.model import GroupKind, Json, ObjectRef, Resource
from kubectl_policy.model.kind_roles import GATEWAY_API
from kubectl_policy.profiles.needs import RequiredObject
from tests.build import index, policy, ref, resource, snapshot, target

KIND: Final = GroupKind("example.com", "ColorPolicy")
PLAIN: Final = PolicyKindProfile(KIND, "inherited", "profile")
KEY: Final = RequiredObject(field="spec.key", group="", kinds=("Secret",), optional=True)
STORE: Final = RequiredObject(
    field="spec.store", group="db.example.com", kinds=("Store",), optional=True, through=(KEY,), fail_open="spec.open"
)


def named(profile: PolicyKindProfile, *others: Resource, **spec: Json) -> list[SettingsReference]:
    found = policy("p", target("g"), **spec)  # type: ignore[arg-type]
    return list(SettingsReferences(index(found, *others)).of(found, profile))


def test_what_a_profile_knows() -> None:
    """With what follows without it, and by which object if it is not the policy that names it."""
    store = resource("Store", "s", {"key": {"name": "k"}}, group="db.example.com")
    profile = replace(PLAIN, needs=(STORE,), backend_fields=("spec.ask", "spec.store"))
    (direct, through, called) = named(profile, store, store={"name": "s"}, ask={"name": "a"})
    assert (direct.object, direct.field, direct.of, direct.without) == (store.ref, "spec.store", None, "policy invalid")
    key = ref("Secret", "k", group="")
    assert (through.object, through.field, through.of) == (key, "spec.key", store.ref)
    assert (called.object, called.field, called.without) == (ref("Service", "a", group=""), "spec.ask", "calls fail")
    assert not any(each.guessed for each in (direct, through, called))


def test_what_follows() -> None:
    """By what the profile says of policies that are not valid, and of the setting."""
    for profile, spec, without in (
        (replace(PLAIN, when_invalid="errors"), {}, "requests fail"),
        (PLAIN, {}, "policy invalid"),
        (replace(PLAIN, when_invalid="errors"), {"open": True}, "setting ignored"),
    ):
        (reference,) = named(replace(profile, needs=(STORE,)), store={"name": "s"}, **spec)
        assert reference.without == without
    unknown = replace(PLAIN, needs=(replace(STORE, when_missing="unknown"),))
    (reference,) = named(unknown, store={"name": "s"})
    assert (reference.without, reference.guessed) == ("unknown", False)


def test_what_is_selected() -> None:
    """It is one of several, and one less without it; where it is, may be a guess."""
    labels = RequiredObject(field="spec.key", by="labels", group="", kinds=("Secret",), optional=True)
    secret = resource("Secret", "k", group="")
    (reference,) = named(replace(PLAIN, needs=(labels,)), secret, key={})
    assert (str(reference.object), reference.without, reference.guessed) == ("Secret default/k", "one less", False)
    elsewhere = replace(KEY, namespace_of=GroupKind("example.com", "Operator"))
    (reference,) = named(replace(PLAIN, needs=(elsewhere,)), secret, key={"name": "k"})
    assert (reference.without, reference.guessed) == ("policy invalid", True)


def test_a_reference_that_is_wrong() -> None:
    assert named(replace(PLAIN, needs=(STORE,)), store={"kind": "Shed", "name": "s"}) == []


class TestByShape:
    """Where no profile says anything, what looks like a reference is shown as one, and as a guess."""

    @pytest.mark.parametrize(
        ("spec", "found"),
        [
            ({"secretRef": {"name": "a"}}, "Secret default/a"),
            ({"tls": {"caSecretRef": {"name": "a", "namespace": "far"}}}, "Secret far/a"),
            ({"configMapRefs": [{"name": "a"}]}, "ConfigMap default/a"),
            ({"jobs": [{"backendRef": {"name": "a"}}]}, "Service default/a"),
            ({"backendRef": {"name": "a", "kind": "Backend", "group": "x.example.com"}}, "Backend default/a"),
            ({"anyRef": {"name": "a", "kind": "Secret", "apiVersion": "v1"}}, "Secret default/a"),
            ({"anyRef": {"name": "a", "kind": "Store"}}, "Store default/a"),
            ({"anyRef": {"name": "a", "kind": "Shed"}}, "Shed default/a"),
            ({"storeRef": {"name": "a"}}, "Store default/a"),
            ({"bookRef": {"name": "a"}}, "StoreBook default/a"),
            ({"namespaceRef": {"name": "a"}}, "Namespace a"),
        ],
        ids=str,
    )
    def test_the_kind(self, spec: dict[str, Json], found: str) -> None:
        """By its own word, else by the name of the field, among the kinds that are known."""
        others = (resource("Store", "s", group="db.example.com"), resource("StoreBook", "s", group="db.example.com"))
        (reference,) = named(PLAIN, *others, **spec)
        assert str(reference.object) == found
        assert (reference.without, reference.guessed) == ("unknown", True)

    def test_the_group(self) -> None:
        """As the reference says it, else that of the kind that is known."""
        store = resource("Store", "s", group="db.example.com")
        for reference, group in (({"kind": "Store"}, "db.example.com"), ({"kind": "Store", "group": ""}, "")):
            (each,) = named(PLAIN, store, anyRef={"name": "a", **reference})
            assert each.object.group_kind == GroupKind(group, "Store")

    def test_a_kind_that_cannot_be_told(self) -> None:
        (reference,) = named(PLAIN, oddRef={"name": "a"})
        assert reference.object == ObjectRef(ANY_KIND, "default", "a")

    @pytest.mark.parametrize(
        "spec",
        [
            {"secretRef": "a"},
            {"secretRef": {"key": "a"}},
            {"secretRefs": ["a", {"name": 7}]},
            {"reference": {"name": "a"}},
            {"targetSecretRef": {"name": "a"}},
            {"parentRefs": [{"name": "a"}]},
            {"to": [{"storeRef": {"name": "a"}}]},
        ],
        ids=str,
    )
    def test_what_is_none(self, spec: dict[str, Json]) -> None:
        """What has no name, what is called otherwise, and targets of any sort."""
        assert named(replace(PLAIN, reference_fields=("spec.targetRefs", "spec.to.storeRef")), **spec) == []

    def test_metadata_and_status_are_no_settings(self) -> None:
        status: Json = {"secretRef": {"name": "a"}}
        found = resource("ColorPolicy", "p", {}, group="example.com", status=status, secretRef={"name": "b"})
        assert [each.object.name for each in SettingsReferences(index(found)).of(found, PLAIN)] == ["b"]


def test_who_refers_to_an_object() -> None:
    """Whoever names it, or something of its name whose kind is not known: neither itself, nor who has no target."""
    mine = policy("p", target("g"), secretRef={"name": "a"}, oddRef={"name": "p"})
    other = policy("q", target("g"), oddRef={"name": "a"}, storeRef={"name": "b"})
    of_nothing = policy("r", target("g", kind="Shed", group=""), secretRef={"name": "a"})
    profile = replace(PLAIN, declared_targets=frozenset({GroupKind(GATEWAY_API, "Gateway")}))
    analysis = analyze(snapshot(mine, other, of_nothing), profiles=[profile])
    assert [each.policy.name for each in analysis.references_to(ref("Secret", "a", group=""))] == ["p", "q"]
    assert [each.policy.name for each in analysis.references_to(ref("ConfigMap", "a", group=""))] == ["q"]
    assert analysis.references_to(ref("Secret", "a", "far", group="")) == ()
    assert analysis.references_to(mine.ref) == ()
