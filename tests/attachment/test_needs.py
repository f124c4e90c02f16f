"""Objects that a policy cannot do without: known to be missing, or not named as they have to be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pytest
from msgspec.structs import replace

from kubectl_policy import PolicyKindProfile, Topology, analyze
from kubectl_policy.attachment import attach
from kubectl_policy.attachment.attachment import NamedNeed, NotAttached
from kubectl_policy.attachment.validity import (
    ignored_settings,
    may_leave_out_namespace,
    missing_need,
    named_needs,
    unread_needs,
)
from kubectl_policy.model import Gap, GroupKind, Json, NodeRef, Resource
from kubectl_policy.model.fields import mapping_at
from kubectl_policy.profiles.controllers import ControllerSetting
from kubectl_policy.profiles.needs import RequiredObject
from kubectl_policy.questions.blind_spots.answers import blind_spots_for, blind_spots_for_policy
from tests.build import crd, gateway, grant, index, listed, policy, ref, resource, snapshot, target

STORE: Final = RequiredObject(
    field="spec.store",
    group="db.example.com",
    kinds=("Store", "ClusterStore"),
    cluster_kinds=frozenset({"ClusterStore"}),
)
NEEDY: Final = PolicyKindProfile(GroupKind("example.com", "ColorPolicy"), "inherited", "profile", needs=(STORE,))


def needing(*needs: RequiredObject, **fields: object) -> PolicyKindProfile:
    """The kind with other needs, and other fields of its profile."""
    return replace(NEEDY, needs=needs, **fields)


def missing(
    store: Json = None,
    *objects: Resource,
    profile: PolicyKindProfile = NEEDY,
    complete: bool = True,
    gaps: Sequence[Gap] = (),
    **spec: Json,
) -> str:
    """What a policy with that `spec.store`, or another spec, misses."""
    found = policy("p", **({"store": store} | spec))  # type: ignore[arg-type]
    lacking = missing_need(index(found, *objects, complete=complete, gaps=gaps), found, profile)
    return lacking.message if lacking else ""


def ignored(store: Json, *objects: Resource, profile: PolicyKindProfile) -> dict[str, str]:
    """The settings of a policy with that `spec.store` that controllers ignore, with the reasons."""
    found = policy("p", store=store)
    settings = ignored_settings(index(found, *objects, complete=True), found, profile)
    return {str(setting.field): setting.reason for setting in settings}


def unread(
    *objects: Resource, profile: PolicyKindProfile = NEEDY, complete: bool = False, **spec: Json
) -> list[tuple[str, str]]:
    """What a policy with such a spec needs and nobody has read: the object, and the field that names it."""
    found = policy("p", **spec)  # type: ignore[arg-type]
    needed = unread_needs(index(found, *objects, complete=complete), found, profile)
    return [(str(reference.ref), reference.field) for reference in needed]


def store(name: str, kind: str = "Store", namespace: str = "default") -> Resource:
    return resource(kind, name, group="db.example.com", namespace=namespace)


NO_NAME: Final = "spec.store names no Store"
SHED: Final[Json] = {"kind": "Shed", "name": "a"}
NOT_TAKEN: Final = "spec.store.kind Shed is not one of Store, ClusterStore"
GONE: Final = "Store default/a, which spec.store names, does not exist"
NO_CLUSTER_STORE: Final = "ClusterStore a, which spec.store names, does not exist"
CLUSTER_STORE: Final[Json] = {"kind": "ClusterStore", "name": "a"}
A: Final[Json] = {"name": "a"}


@pytest.mark.parametrize(
    ("reference", "objects", "expected"),
    [
        *((reference, [store("a")], NO_NAME) for reference in (None, 7, "a", [], ["a"], {}, {"name": ""}, {"name": 7})),
        (SHED, [], NOT_TAKEN),
        ({"kind": 7, "name": "a"}, [store("a")], ""),
        # In the policy's namespace, or anywhere if it is cluster-scoped; of the first kind unless it names another.
        (A, [], GONE),
        (A, [store("a", namespace="other")], GONE),
        (A, [store("a")], ""),
        (CLUSTER_STORE, [store("b", "ClusterStore")], NO_CLUSTER_STORE),
        (CLUSTER_STORE, [store("a", "ClusterStore", "")], ""),
    ],
    ids=str,
)
def test_what_a_reference_misses(reference: Json, objects: list[Resource], expected: str) -> None:
    assert missing(reference, *objects) == expected


def test_a_definition_says_that_a_kind_is_cluster_scoped() -> None:
    """Where the profile does not."""
    profile = needing(replace(STORE, cluster_kinds=frozenset()))
    defined = crd("ClusterStore", "db.example.com", cluster_scoped=True)
    assert missing(CLUSTER_STORE, defined, store("a", "ClusterStore", ""), profile=profile) == ""


def test_an_object_that_was_not_read() -> None:
    """It may exist."""
    assert missing({"name": "a"}, complete=False) == ""
    assert missing({"name": "a"}, gaps=[Gap("Store", "default", "forbidden")]) == ""


def test_the_first_need_that_is_missing_is_told() -> None:
    """In the order of the profile; a kind without needs misses nothing."""
    profile = needing(STORE, RequiredObject(field="spec.key", group="", kinds=("Secret",)))
    assert missing({"name": "a"}, store("a"), profile=profile) == "spec.key names no Secret"
    assert missing({}, profile=profile) == "spec.store names no Store"
    assert missing({}, profile=needing()) == ""


def test_a_policy_that_misses_something_is_attached_to_nothing() -> None:
    """It is invalid; a target that is missing is told first."""
    found = policy("p", target("g"), target("ghost"), store={"name": "a"})
    one, other = attach(found, NEEDY, Topology(index(found, gateway("g"), complete=True)))
    assert (one.state, one.message) == ("policy invalid", "Store default/a, which spec.store names, does not exist")
    assert other.state == "target missing"


def test_what_is_needed_and_was_not_read_is_told() -> None:
    """With the field that names it; what exists, is known to be missing or is not named at all is not unread."""
    assert unread(store=A) == [("Store default/a", "spec.store")]
    assert unread(store("a"), store=A) == unread(complete=True, store=A) == unread() == []


def test_answers_say_that_what_a_policy_needs_was_not_read() -> None:
    """That about the policy and those about what it targets; a policy that is attached to nothing is no matter."""
    on_gateway = policy("p", target("g"), age=1, store={"name": "a"})
    unread = ("Store default/a", "spec.store of ColorPolicy default/p names it, and without it that policy is invalid")
    for complete, expected in ((False, [unread]), (True, [])):
        analysis = analyze(snapshot(gateway("g"), on_gateway, complete=complete), profiles=[NEEDY])
        about = blind_spots_for_policy(analysis, analysis.enforcement(on_gateway.ref))
        assert [(thing.what, thing.reason) for thing in about if thing.what.startswith("Store")] == expected
        subject = NodeRef(gateway("g").ref)
        beside = blind_spots_for(analysis, subject, analysis.topology.paths(subject))
        assert [(thing.what, thing.reason) for thing in beside if thing.what.startswith("Store")] == expected
    on_ghost = policy("p", target("ghost"), age=1, store={"name": "a"})
    analysis = analyze(listed(snapshot(gateway("g"), on_ghost)), profiles=[NEEDY])
    assert blind_spots_for_policy(analysis, analysis.enforcement(on_ghost.ref)) == ()


def test_whether_a_policy_may_refer_to_what_it_needs() -> None:
    """In an open world that is not known without a ReferenceGrant; with one, or in a complete one, it is."""
    far = store("a", namespace="far")
    found = policy("p", target("g"), age=1, store={"name": "a", "namespace": "far"})
    said = "spec.store of ColorPolicy default/p names it, and whether it may is unknown: no ReferenceGrant in the input"
    given = grant(
        namespace="far", sources=[("example.com", "ColorPolicy", "default")], targets=[(STORE.group, "Store")]
    )
    for world, complete, expected in (((far,), False, 1), ((far, given), False, 0), ((far,), True, 0)):
        analysis = analyze(snapshot(gateway("g"), found, *world, complete=complete), profiles=[NEEDY])
        about = blind_spots_for_policy(analysis, analysis.enforcement(found.ref))
        told = [thing for thing in about if thing.what == "Store far/a"]
        assert [thing.reason.startswith(said) for thing in told] == [True] * expected


class TestOptional:
    profile = needing(replace(STORE, optional=True))

    def test_what_it_misses(self) -> None:
        """Nothing without it, in whatever way it is absent; what is named has to exist, and be of a kind taken."""
        assert {missing(reference, profile=self.profile) for reference in (None, 7, "a", [], ["a"])} == {""}
        assert missing({}, profile=self.profile) == NO_NAME
        assert missing(A, profile=self.profile) == GONE
        assert missing(A, store("a"), profile=self.profile) == ""
        assert missing(SHED, profile=self.profile) == NOT_TAKEN

    def test_what_was_not_read(self) -> None:
        """Only what is named is looked for."""
        assert unread(profile=self.profile, store=A) == [("Store default/a", "spec.store")]
        assert unread(profile=self.profile) == []


class TestLists:
    nested = needing(RequiredObject(field="spec.jobs.store", group="db.example.com", kinds=("Store",)))

    def test_every_one_of_them(self) -> None:
        found: Json = [{"name": "a"}, {"name": "b"}, {"name": "c"}]
        assert missing(found, store("a"), store("c")) == "Store default/b, which spec.store[1] names, does not exist"
        assert missing(found, store("a"), store("b"), store("c")) == ""

    @pytest.mark.parametrize(
        ("jobs", "expected"),
        [
            ([{"store": {"name": "a"}}, {"store": {"name": "b"}}], "Store default/b, which spec.jobs[1].store names"),
            ([{"store": [{"name": "a"}, {"name": "b"}]}], "Store default/b, which spec.jobs[0].store[1] names"),
            ([{"store": {"name": "a"}}, {"other": 1}, 7, None], ""),
            ([{"other": 1}], "spec.jobs.store names no Store"),
            ([], "spec.jobs.store names no Store"),
            ({"store": {"name": "a"}}, ""),
        ],
        ids=str,
    )
    def test_lists_on_the_way(self, jobs: Json, expected: str) -> None:
        """Are gone through; without any reference in them there is none."""
        assert missing(None, store("a"), profile=self.nested, jobs=jobs).partition(", does")[0] == expected

    def test_what_was_not_read(self) -> None:
        assert unread(store=[A, {"name": "b"}, {}]) == [
            ("Store default/a", "spec.store[0]"),
            ("Store default/b", "spec.store[1]"),
        ]


class TestOtherNamespaces:
    """A reference that names another namespace needs a ReferenceGrant there."""

    far: Final[Json] = {"name": "a", "namespace": "far"}
    there = store("a", namespace="far")
    lets_in = grant(
        namespace="far", sources=[("example.com", "ColorPolicy", "default")], targets=[("db.example.com", "Store")]
    )
    forbidden = "no ReferenceGrant in namespace far lets ColorPolicy default/p refer to Store far/a"

    def test_without_a_grant(self) -> None:
        assert missing(self.far, self.there) == missing(self.far) == self.forbidden

    def test_with_a_grant(self) -> None:
        """It has to exist then; a grant for others is none."""
        assert missing(self.far, self.there, self.lets_in) == ""
        assert missing(self.far, self.lets_in) == GONE.replace("default", "far")
        others = grant(
            namespace="far", sources=[("example.com", "OtherPolicy", "default")], targets=[("db.example.com", "Store")]
        )
        assert missing(self.far, self.there, others) == self.forbidden

    def test_its_own_namespace(self) -> None:
        assert missing({"name": "a", "namespace": "default"}, store("a")) == ""

    def test_cluster_scoped_kinds(self) -> None:
        found: Json = {"kind": "ClusterStore", "name": "a", "namespace": "far"}
        for place in ("", "default", "far"):
            assert missing(found, store("a", "ClusterStore", place)) == ""
        assert missing(found) == NO_CLUSTER_STORE

    def test_grants_that_were_not_read(self) -> None:
        """May let it: nothing is claimed but what is known of the object."""
        for gap in (Gap("ReferenceGrant", "far", "forbidden"), Gap("", "", "offline")):
            assert missing(self.far, self.there, gaps=[gap]) == ""
        gaps = [Gap("ReferenceGrant", "far", "forbidden")]
        assert missing(self.far, gaps=gaps) == GONE.replace("default", "far")
        assert missing(self.far, self.there, gaps=[Gap("ReferenceGrant", "other", "forbidden")]) == self.forbidden


def test_a_policy_that_competes_keeps_others_out() -> None:
    """Although it is invalid, or may not refer to what it needs; without `competes` it does not."""
    for need, competes in ((STORE, False), (replace(STORE, competes=True), True)):
        profile = needing(need)
        for reference in ({"name": "a"}, {"name": "a", "namespace": "far"}, {"kind": "Shed", "name": "a"}):
            found = policy("p", target("g"), store=reference)
            (attachment,) = attach(found, profile, Topology(index(found, gateway("g"), complete=True)))
            assert (attachment.state != "attached", attachment.competes) == (True, competes)


KEY: Final = RequiredObject(field="spec.key", group="", kinds=("Secret",), optional=True)
THROUGH: Final = needing(replace(STORE, through=(KEY,)))


class TestThrough:
    """What an object that a policy needs cannot do without itself."""

    @staticmethod
    def keyed(key: Json = None, kind: str = "Store") -> Resource:
        """A store that refers to a key, unless that is None."""
        return resource(kind, "a", {} if key is None else {"key": key}, group="db.example.com")

    def missing(
        self, key: Json, *objects: Resource, complete: bool = True, gaps: Sequence[Gap] = (), kind: str = "Store"
    ) -> str:
        reference: Json = {"kind": kind, "name": "a"}
        world = (self.keyed(key, kind), *objects)
        return missing(reference, *world, profile=THROUGH, complete=complete, gaps=gaps)

    def test_what_does_not_exist(self) -> None:
        """The message names the object through which it is needed; it is looked for in that one's namespace."""
        gone = "Secret default/k, which spec.key of Store default/a names, does not exist"
        assert self.missing({"name": "k"}) == gone
        assert self.missing({"name": "k"}, resource("Secret", "k", group="", namespace="far")) == gone

    def test_what_exists(self) -> None:
        assert self.missing({"name": "k"}, resource("Secret", "k", group="")) == ""
        assert self.missing(None) == ""

    def test_what_may_not_be_referred_to(self) -> None:
        far: Json = {"name": "k", "namespace": "far"}
        secret = resource("Secret", "k", group="", namespace="far")
        forbidden = "no ReferenceGrant in namespace far lets Store default/a refer to Secret far/k"
        of_policy = grant(
            namespace="far", sources=[("example.com", "ColorPolicy", "default")], targets=[("", "Secret")]
        )
        of_store = grant(namespace="far", sources=[("db.example.com", "Store", "default")], targets=[("", "Secret")])
        assert self.missing(far, secret) == self.missing(far, secret, of_policy) == forbidden
        assert self.missing(far, secret, of_store) == ""

    def test_what_was_not_read(self) -> None:
        """May exist: the key, or the store, of which nobody knows what it needs."""
        assert self.missing({"name": "k"}, complete=False) == ""
        assert self.missing({"name": "k"}, gaps=[Gap("Secret", "default", "forbidden")]) == ""
        assert unread(self.keyed({"name": "k"}), profile=THROUGH, store=A) == [("Secret default/k", "spec.key")]
        assert unread(profile=THROUGH, store=A) == [("Store default/a", "spec.store")]
        assert unread(self.keyed(), profile=THROUGH, store=A) == []

    def test_the_policy_competes_as_the_inner_need_says(self) -> None:
        for competes in (True, False):
            profile = needing(replace(STORE, through=(replace(KEY, competes=competes),)))
            found = policy("p", store={"name": "a"})
            lacking = missing_need(index(found, self.keyed({"name": "k"}), complete=True), found, profile)
            assert lacking is not None
            assert lacking.competes is competes


class TestGrantSetting:
    """A setting of the controller that decides whether another namespace needs a grant."""

    need: Final = replace(
        STORE,
        grant_setting="grants",
        grant_values=frozenset({"on"}),
        through=(replace(KEY, grant_setting="grants", grant_values=frozenset({"on"})),),
    )
    far: Final[Json] = {"name": "a", "namespace": "far"}

    @pytest.mark.parametrize(
        ("values", "required"), [({"grants": "on"}, True), ({"grants": "off"}, False), ({"grants": ""}, False)], ids=str
    )
    def test_its_value_decides(self, values: dict[str, str], required: bool) -> None:  # noqa: FBT001
        need = self.need.with_settings(values)
        assert (need.grant_required, need.through[0].grant_required) == (required, required)
        forbidden = "no ReferenceGrant in namespace far lets ColorPolicy default/p refer to Store far/a"
        profile = needing(need)
        found = missing(self.far, store("a", namespace="far"), profile=profile)
        assert found == (forbidden if required else "")
        assert missing(self.far, profile=profile) != ""

    def test_without_such_a_setting(self) -> None:
        assert STORE.with_settings({"grants": "off"}).grant_required is True

    def test_by_default(self) -> None:
        """The setting of a profile has a value that holds unless another one is given."""
        profile = needing(self.need, settings={"grants": ControllerSetting("on", "whether grants are asked for")})
        assert profile.with_settings({}).needs[0].grant_required is True
        assert profile.with_settings({"grants": "off"}).needs[0].grant_required is False


@pytest.mark.parametrize("reference", [{"name": "a"}, {"name": "a", "namespace": "far"}], ids=str)
def test_requests_may_get_errors_while_a_policy_is_invalid(reference: Json) -> None:
    """That is said where the kind has it so, whether something is missing or may not be referred to."""
    found = policy("p", target("g"), store=reference)
    topology = Topology(index(found, gateway("g"), complete=True))
    (ignored,) = attach(found, NEEDY, topology)
    (errors,) = attach(found, replace(NEEDY, when_invalid="errors"), topology)
    assert errors.state == ignored.state != "attached"
    assert errors.message == f"{ignored.message}; until that is fixed, requests there get an error response"


class TestOtherKinds:
    need: Final = replace(STORE, other_kinds=(GroupKind("cloud.example.com", "Store"), GroupKind("", "ConfigMap")))
    profile: Final = needing(need)

    @pytest.mark.parametrize(
        ("reference", "named"),
        [
            ({"name": "a"}, "Store.db.example.com"),
            ({"name": "a", "group": "cloud.example.com"}, "Store.cloud.example.com"),
            ({"name": "a", "group": "elsewhere.example.com"}, "Store.db.example.com"),
            ({"name": "a", "kind": "ConfigMap"}, "ConfigMap"),
        ],
        ids=str,
    )
    def test_which_is_meant(self, reference: Json, named: str) -> None:
        """The group tells those of one name apart; an unheard-of one is taken for the first."""
        found = policy("p", store=reference)
        (needed,) = unread_needs(index(found), found, self.profile)
        assert str(needed.ref.group_kind) == named

    def test_another_one(self) -> None:
        message = missing({"name": "a", "kind": "Shed"}, profile=self.profile)
        assert message == "spec.store.kind Shed is not one of Store, ClusterStore, Store, ConfigMap"


def named(
    *objects: Resource, need: RequiredObject, profile: PolicyKindProfile = NEEDY, **spec: Json
) -> list[tuple[str, str, bool, bool]]:
    """What a policy with such a spec names for a need: where, what, whether it can do without, and by a guess."""
    found, needs = policy("p", **spec), replace(profile, needs=(need,)).every_need  # type: ignore[arg-type]
    each = named_needs(index(found, *objects, complete=True), found, needs)
    return [(it.field, str(it.ref), it.tolerated, it.guessed) for it in each if isinstance(it, NamedNeed)]


def secret(name: str, namespace: str = "default", **labels: str) -> Resource:
    found = resource("Secret", name, group="", namespace=namespace)
    return replace(found, raw={**found.raw, "metadata": {**mapping_at(found.raw, "metadata"), "labels": labels}})


def test_a_name_alone() -> None:
    """As text; a reference is none."""
    need = replace(KEY, by="name")
    assert named(need=need, key="k") == [("spec.key", "Secret default/k", False, False)]
    assert named(need=need, key=["a", "b"])[1:] == [("spec.key[1]", "Secret default/b", False, False)]
    assert named(need=need, key={"name": "k"}) == named(need=need) == []
    assert missing(profile=needing(need), key="k") == "Secret default/k, which spec.key names, does not exist"


def test_every_entry_of_a_map() -> None:
    """By its key; the field that lets requests through is that of the same entry."""
    need = replace(KEY, field="spec.users.*.key", fail_open="spec.users.*.open")
    users: Json = {"ann": {"key": {"name": "a"}}, "bob": {"key": {"name": "b"}, "open": True}, "cid": 7}
    assert named(need=need, users=users) == [
        ("spec.users.ann.key", "Secret default/a", False, False),
        ("spec.users.bob.key", "Secret default/b", True, False),
    ]


def test_stanzas() -> None:
    """What may stand in the spec may stand in each of them; the reference need not be there even so."""
    need = replace(KEY, optional=False, fail_open="spec.open")
    profile = replace(NEEDY, stanzas="plural")
    found = named(need=need, profile=profile, defaults={"key": {"name": "a"}, "open": True})
    assert found == [("spec.defaults.key", "Secret default/a", True, False)]
    assert named(need=need, profile=replace(NEEDY, stanzas="none"), defaults={"key": {"name": "a"}}) == []
    assert named(need=need, profile=replace(NEEDY, stanzas="singular"), override={"key": {"name": "a"}})[0][:2] == (
        "spec.override.key",
        "Secret default/a",
    )


class TestLabels:
    need = replace(KEY, by="labels", all_namespaces="spec.everywhere")
    key: Final[Json] = {"matchLabels": {"for": "me"}}

    def test_which(self) -> None:
        """Those with the labels, in the policy's own namespace unless it says otherwise."""
        world = secret("a", **{"for": "me"}), secret("b", **{"for": "you"}), secret("c", "far", **{"for": "me"})
        assert named(*world, need=self.need, key=self.key) == [("spec.key", "Secret default/a", True, False)]
        everywhere = named(*world, need=self.need, key=self.key, everywhere=True)
        assert [ref for _, ref, _, _ in everywhere] == ["Secret default/a", "Secret far/c"]
        assert named(need=self.need, key=self.key) == []

    def test_elsewhere(self) -> None:
        """In the namespace of an object; where that was not read, those in every namespace, as a guess."""
        need = replace(self.need, namespace_of=GroupKind("example.com", "Operator"))
        world = secret("a", **{"for": "me"}), secret("c", "far", **{"for": "me"})
        operator = resource("Operator", "o", group="example.com", namespace="far")
        assert named(*world, operator, need=need, key=self.key) == [("spec.key", "Secret far/c", True, False)]
        assert [(ref, guessed) for _, ref, _, guessed in named(*world, need=need, key=self.key)] == [
            ("Secret default/a", True),
            ("Secret far/c", True),
        ]
        everywhere = named(*world, operator, need=need, key=self.key, everywhere=True)
        assert [(ref, guessed) for _, ref, _, guessed in everywhere] == [
            ("Secret default/a", False),
            ("Secret far/c", False),
        ]


class TestNamespaceOf:
    def test_which_references_leave_it_out(self) -> None:
        """To what is in the one namespace of such objects, and to what is guessed, or has no namespace."""
        world, far = [secret("k", "far"), self.operator("far")], ref("Secret", "k", "far", group="")
        assert may_leave_out_namespace(index(*world), far, [self.need])
        assert not may_leave_out_namespace(index(*world), replace(far, namespace="away"), [self.need])
        assert not may_leave_out_namespace(index(*world), far, [KEY])
        assert may_leave_out_namespace(index(*world, self.operator("away")), far, [self.need])
        assert may_leave_out_namespace(index(*world), far, [replace(KEY, cluster_kinds=frozenset({"Secret"}))])

    need = replace(KEY, namespace_of=GroupKind("example.com", "Operator"))
    key: Final[Json] = {"name": "k"}

    @staticmethod
    def operator(namespace: str) -> Resource:
        return resource("Operator", "o", group="example.com", namespace=namespace)

    def test_one_that_was_read(self) -> None:
        """Then that is the namespace, and the object has to be there."""
        found = named(secret("k"), self.operator("far"), need=self.need, key=self.key)
        assert found == [("spec.key", "Secret far/k", False, False)]

    def test_one_that_was_not_read(self) -> None:
        """Then every object of that name may be it, and nothing is missing."""
        world = secret("k"), secret("k", "far"), secret("other", "away")
        expected = [("spec.key", "Secret default/k", True, True), ("spec.key", "Secret far/k", True, True)]
        assert named(*world, need=self.need, key=self.key) == expected
        assert named(need=self.need, key=self.key) == []

    def test_several(self) -> None:
        world = secret("k"), secret("k", "far"), self.operator("far"), self.operator("away")
        assert named(*world, need=self.need, key=self.key) == [("spec.key", "Secret far/k", True, True)]

    def test_a_reference_that_names_nothing(self) -> None:
        found = policy("p", key={})
        (wrong,) = named_needs(index(found), found, [self.need])
        assert isinstance(wrong, NotAttached)
        assert wrong.message == "spec.key names no Secret"


def test_further_kinds() -> None:
    """What a reference of any other kind names is not said to be wrong, nor to be there; one without a name is."""
    need = replace(KEY, any_kind=True)
    assert named(need=need, key={"kind": "Vault", "name": "k"}) == []
    assert named(need=need, key={"name": "k"}) == [("spec.key", "Secret default/k", False, False)]
    assert missing(profile=needing(need), key={}) != ""


def test_a_kind_that_needs_no_grants() -> None:
    need = replace(KEY, grant_required=False)
    for profile in (needing(need), needing(need.with_settings({}))):
        assert missing(None, secret("k", "far"), profile=profile, key={"name": "k", "namespace": "far"}) == ""


class TestTolerated:
    """What a policy can do without: only the setting is ignored then."""

    @pytest.mark.parametrize("need", [replace(STORE, when_missing="ignored"), replace(STORE, fail_open="spec.open")])
    def test_what_does_not_exist(self, need: RequiredObject) -> None:
        """The policy is valid all the same, also where it may not refer to it; whether it exists matters."""
        profile = needing(need)
        for reference in ({"name": "a"}, {"name": "a", "namespace": "far"}):
            assert missing(reference, profile=profile, open=True) == ""
            where = reference.get("namespace", "default")
            assert unread(profile=profile, store=reference, open=True) == [(f"Store {where}/a", "spec.store")]

    def test_what_names_nothing(self) -> None:
        for reference in ({}, SHED):
            assert missing(reference, profile=needing(replace(STORE, when_missing="unknown"))) == ""

    def test_what_it_needs_in_turn(self) -> None:
        through = replace(STORE, when_missing="ignored", through=(KEY,))
        holder = resource("Store", "a", {"key": {"name": "k"}}, group="db.example.com")
        assert missing({"name": "a"}, holder, profile=needing(through)) == ""
        assert ignored({"name": "a"}, holder, profile=needing(through)) == {
            "spec.store": "Secret default/k, which spec.key of Store default/a names, does not exist"
        }
        assert ignored({"name": "a"}, holder, secret("k"), profile=needing(through)) == {}
        undecided = needing(replace(through, when_missing="unknown"))
        assert ignored({"name": "a"}, holder, profile=undecided) == {}

    def test_what_the_named_object_says_for_its_own_needs(self) -> None:
        """Of the policy, the whole reference is ignored then."""
        profile = needing(replace(STORE, through=(replace(KEY, when_missing="ignored"),)))
        holder = resource("Store", "a", {"key": {"name": "k"}}, group="db.example.com")
        assert missing({"name": "a"}, holder, profile=profile) == ""
        assert list(ignored({"name": "a"}, holder, profile=profile)) == ["spec.store"]

    def test_what_says_so_itself(self) -> None:
        """The reference can hold the field that says that requests do without it."""
        profile = needing(replace(STORE, fail_open="spec.store.open"))
        for is_open, expected in ((True, ""), (False, GONE)):
            assert missing({"name": "a", "open": is_open}, profile=profile) == expected

    @pytest.mark.parametrize(
        ("jobs", "lacking"),
        [
            ([{"store": {"name": "a"}, "open": True}], ""),
            ([{"store": {"name": "a"}, "open": "true"}], "Store default/a"),
            ([{"store": {"name": "a"}}, {"open": True}], "Store default/a"),
            ([{"store": {"name": "a"}, "open": True}, {"store": {"name": "b"}, "open": False}], "Store default/b"),
        ],
        ids=str,
    )
    def test_which_element_says_so(self, jobs: Json, lacking: str) -> None:
        need = replace(STORE, field="spec.jobs.store", fail_open="spec.jobs.open")
        assert missing(profile=needing(need), jobs=jobs).partition(",")[0] == lacking
