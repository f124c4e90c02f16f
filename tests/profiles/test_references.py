"""What settings of the built-in kinds refer to: to delete it is not nothing, and what is no object is not followed."""

from collections.abc import Iterator
from typing import Final

import pytest

from kubectl_policy import PolicyKindProfile, analyze
from kubectl_policy.attachment.settings import SettingsReference
from kubectl_policy.model import GroupKind, Json, ObjectRef, Resource
from kubectl_policy.model.fields import FieldPath
from kubectl_policy.profiles.needs import RequiredObject
from kubectl_policy.questions.blast_radius import blast_radius
from tests.build import listed, resource, snapshot
from tests.profiles.test_built_in import PROFILES

HOME: Final = "home"
LABELS: Final = {"is": "it"}


def holding(field: str, value: Json, group_kind: GroupKind, name: str) -> Resource:
    """An object of a kind that holds something in a field, and nothing else."""
    concrete = FieldPath.parse(field.replace("*", "any"))
    raw = concrete.put({}, value)
    assert isinstance(raw, dict)
    return resource(group_kind.kind, name, raw["spec"], group=group_kind.group, namespace=HOME)


def reference(need: RequiredObject, group_kind: GroupKind) -> Json:
    """How a field names something of a kind that is called `it`."""
    if need.by == "labels":
        return {"matchLabels": LABELS}
    full = {"group": group_kind.group, "kind": group_kind.kind, "name": "it"}
    return "it" if need.by == "name" else full


def named_by(profile: PolicyKindProfile) -> Iterator[tuple[str, GroupKind, tuple[Resource, ...]]]:
    """Each kind of object that each field of a policy may name, and the policy, with what it names it through."""
    kind = profile.group_kind
    for field in profile.backend_fields:
        service: Json = {"name": "it", "port": 80}
        yield field, GroupKind("", "Service"), (holding(field, service, kind, "mine"),)
    for need in profile.needs:
        kinds = [GroupKind(need.group, name) for name in need.kinds]
        for named in (*kinds, *need.other_kinds):
            policy = holding(need.field, reference(need, named), kind, "mine")
            yield need.field, named, (policy,)
            for inner in need.through:
                through = resource(named.kind, "it", group=named.group, namespace=HOME)
                inside = [GroupKind(inner.group, name) for name in inner.kinds]
                for last in (*inside, *inner.other_kinds):
                    held = holding(inner.field, reference(inner, last), named, through.ref.name)
                    yield f"{need.field} > {inner.field}", last, (policy, held)


ROWS: Final = [
    pytest.param(named, world, id=f"{profile.group_kind} {field} {named.kind}")
    for profile in PROFILES
    for field, named, world in named_by(profile)
]


def referring(*world: Resource, to: ObjectRef) -> list[SettingsReference]:
    """The settings that refer to an object, whether it is there or not; deleting it then changes something."""
    radius = blast_radius(analyze(listed(snapshot(*world))), to)
    assert radius.changes is bool(radius.referred_to_by)
    return list(radius.referred_to_by)


@pytest.mark.parametrize(("named", "world"), ROWS)
def test_deleting_what_a_policy_names_is_not_nothing(named: GroupKind, world: tuple[Resource, ...]) -> None:
    """Of whatever kind it may be, where its profile says what the field is for."""
    operators = [
        resource(need.namespace_of.kind, "operator", group=need.namespace_of.group, namespace=HOME)
        for profile in PROFILES
        for need in profile.needs
        if profile.group_kind == world[0].ref.group_kind and need.namespace_of
    ]
    everywhere = {kind for profile in PROFILES for need in profile.needs for kind in need.cluster_kinds}
    home = "" if named.kind in everywhere else HOME
    target = resource(named.kind, "it", group=named.group, namespace=home, labels=LABELS)
    found = referring(*world, *operators[:1], target, to=target.ref)
    assert [each.policy for each in found] == [world[0].ref]
    assert not any(each.guessed for each in found)


@pytest.mark.parametrize(
    ("group", "kind", "spec"),
    [
        (
            "security.istio.io",
            "RequestAuthentication",
            {"jwtRules": [{"issuer": "it", "jwksUri": "https://it.home/k"}]},
        ),
        ("security.istio.io", "AuthorizationPolicy", {"action": "CUSTOM", "provider": {"name": "it"}}),
        ("telemetry.istio.io", "Telemetry", {"tracing": [{"providers": [{"name": "it"}]}]}),
        ("extensions.istio.io", "WasmPlugin", {"url": "oci://it.home/plugin", "pluginName": "it"}),
        ("networking.gke.io", "GCPBackendPolicy", {"default": {"securityPolicy": "it"}}),
        ("networking.gke.io", "GCPGatewayPolicy", {"default": {"sslPolicy": "it"}}),
    ],
    ids=str,
)
def test_what_is_no_object_is_not_followed(group: str, kind: str, spec: Json) -> None:
    """An address, a provider of the mesh configuration, or something of the cloud, whatever it is called."""
    policy = resource(kind, "mine", spec, group=group, namespace=HOME)
    for named in ("Service", "Secret", "ConfigMap"):
        target = resource(named, "it", group="", namespace=HOME)
        assert referring(policy, target, to=target.ref) == []


class TestKuadrant:
    """Secrets that Authorino reads are in the namespace of the Kuadrant object, wherever the policy is."""

    by_label: Final[Json] = {"authentication": {"keys": {"apiKey": {"selector": {"matchLabels": LABELS}}}}}
    by_name: Final[Json] = {"authorization": {"db": {"spicedb": {"sharedSecretRef": {"name": "it", "key": "k"}}}}}
    kuadrant = resource("Kuadrant", "kuadrant", group="kuadrant.io", namespace="system")

    @staticmethod
    def secret(namespace: str) -> Resource:
        return resource("Secret", "it", group="", namespace=namespace, labels=LABELS)

    @staticmethod
    def policy(**spec: Json) -> Resource:
        return resource("AuthPolicy", "mine", spec, group="kuadrant.io", namespace=HOME)

    @pytest.mark.parametrize(
        ("rules", "without", "field"),
        [
            (by_label, "one less", "rules.authentication.keys.apiKey.selector"),
            (by_name, "unknown", "rules.authorization.db.spicedb.sharedSecretRef"),
        ],
    )
    @pytest.mark.parametrize("stanza", ["", "defaults", "overrides"])
    def test_where(self, rules: Json, without: str, field: str, stanza: str) -> None:
        """In the spec as in its stanzas; where the Kuadrant object was not read, any Secret may be meant."""
        policy = self.policy(**({stanza: {"rules": rules}} if stanza else {"rules": rules}))
        world = (policy, self.secret("system"), self.secret(HOME))
        (found,) = referring(*world, self.kuadrant, to=self.secret("system").ref)
        place = f"spec.{stanza}.{field}" if stanza else f"spec.{field}"
        assert (found.field, found.without, found.guessed) == (place, without, False)
        assert referring(*world, self.kuadrant, to=self.secret(HOME).ref) == []
        for home in ("system", HOME):
            assert [each.guessed for each in referring(*world, to=self.secret(home).ref)] == [True]

    def test_keys_of_all_namespaces(self) -> None:
        keys: Json = {"selector": {"matchLabels": LABELS}, "allNamespaces": True}
        policy = self.policy(rules={"authentication": {"keys": {"apiKey": keys}}})
        (found,) = referring(policy, self.kuadrant, self.secret("other"), to=self.secret("other").ref)
        assert not found.guessed
