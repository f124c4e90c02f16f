"""Built-in profiles: each is well-formed, has evidence, occurs in a world, stands in docs, and knows its references."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any, Final

import pytest

from kubectl_policy import MergeStrategy, PolicyKindProfile, TargetLevel, analyze, plain
from kubectl_policy.attachment.settings import SettingsReference
from kubectl_policy.model import GroupKind, Json, ObjectRef, Resource
from kubectl_policy.model.fields import FieldPath
from kubectl_policy.model.kind_roles import GATEWAY_API, GATEWAY_API_EXPERIMENTAL, SERVICE
from kubectl_policy.profiles.contradictions import contradictions
from kubectl_policy.profiles.load import ProfileFile, built_in_profiles
from kubectl_policy.profiles.needs import RequiredObject
from kubectl_policy.profiles.reading import problems
from kubectl_policy.questions.blast_radius import blast_radius
from kubectl_policy.questions.predicted_conditions import PolicyStatuses
from tests import fast_yaml
from tests.build import gateway, listed, node, policy, ref, resource, route, service, snapshot, target
from tests.implementations import manifests
from tests.profiles.claims import CLAIMS, GATEWAY_API_KINDS, TELEMETRY_KINDS

FILES: Final = sorted(
    file.name for file in (resources.files("kubectl_policy.profiles") / "data").iterdir() if file.name.endswith(".yaml")
)
PROFILES: Final = [profile for file in FILES for profile in built_in_profiles(file.removesuffix(".yaml")).values()]
GATEWAY_API_OWN: Final = [claim.kind for claim in GATEWAY_API_KINDS]
# The kinds of these groups have tests of their own, of all that they do; every other one is in the table of claims.
TESTED_ELSEWHERE: Final = {"gateway.envoyproxy.io", "kuadrant.io", "extensions.kuadrant.io"}


def document(file: str) -> Any:  # noqa: ANN401 - a profile file, which the schema is there to check
    return fast_yaml.load((resources.files("kubectl_policy.profiles") / "data" / file).read_text("utf-8"))


def test_no_file_has_problems() -> None:
    """Built-in files obey what users' files have to obey, and are named after their group."""
    for file in FILES:
        found = document(file)
        assert (file, [*problems(found, ProfileFile), *contradictions(found)]) == (file, [])
        assert f"{found['group']}.yaml" == file


def test_every_profile_has_evidence() -> None:
    """A source is a repository with a path, or a URL."""
    assert {profile.known_by for profile in PROFILES} == {"profile"}
    assert [profile.group_kind for profile in PROFILES if not profile.evidence] == []
    assert [source for profile in PROFILES for source in profile.evidence if "/" not in source] == []


def test_every_profile_has_a_test_of_its_behaviour() -> None:
    """A profile that nobody tests is an opinion; each kind is claimed once."""
    claimed = [claim.kind for claim in CLAIMS]
    assert len(set(claimed)) == len(claimed)
    tested = {profile.group_kind for profile in PROFILES if profile.group_kind.group not in TESTED_ELSEWHERE}
    assert tested <= set(claimed)
    assert [kind for kind in claimed if kind not in built_in_profiles(kind.group)] == []


@pytest.mark.parametrize("kind", GATEWAY_API_OWN, ids=str)
class TestDirectPoliciesOnServices:
    """What the three kinds of Gateway API have in common: direct, local, refused in a conflict."""

    def test_another_namespace_is_refused(self, kind: GroupKind) -> None:
        """`LocalPolicyTargetReference`: no reference leaves its namespace."""
        far = policy("p", target("s", "Service", group="", namespace="other"), kind=kind.kind, group=kind.group)
        analysis = analyze(snapshot(far, service("s", namespace="other"), complete=True))
        assert [attachment.state for attachment in analysis.attachments[far.ref]] == ["not permitted"]
        assert analysis.enforcement(far.ref).state == "NotPermitted"

    def test_the_older_of_two_stands(self, kind: GroupKind) -> None:
        """Says: "The oldest policy based on creation timestamp" wins, whole; the other one is in conflict with it."""
        older, newer = (
            policy(name, target("s", "Service", group=""), kind=kind.kind, group=kind.group, age=age, by=name)
            for name, age in (("z", 1), ("a", 2))
        )
        analysis = analyze(snapshot(newer, older, service("s", ("http", 80)), complete=True))
        (effective,) = analysis.effective(node("Service", "s", "http", group=""))
        assert plain(effective.resolution.spec) == {"by": "z"}
        assert analysis.enforcement(older.ref).state == "Enforced"
        assert (analysis.enforcement(newer.ref).state, analysis.enforcement(newer.ref).by) == (
            "Conflicted",
            (older.ref,),
        )

    def test_the_class_is_known(self, kind: GroupKind) -> None:
        """Direct, with strategy None, effective on the Service."""
        profile = built_in_profiles(kind.group)[kind]
        assert (profile.policy_class, profile.strategy, profile.stanzas) == ("direct", MergeStrategy.NONE, "none")
        assert TargetLevel(SERVICE) in profile.effective_targets


def test_a_backend_tls_policy_on_a_port_beats_one_on_the_service() -> None:
    """Says: "A sectionName beats none": the port's own policy applies to the port, the other one to the other ports."""
    whole, one_port = (
        policy(
            name,
            target("s", "Service", section, group=""),
            kind="BackendTLSPolicy",
            group=GATEWAY_API,
            age=age,
            by=name,
        )
        for name, section, age in (("whole", "", 1), ("port", "https", 2))
    )
    analysis = analyze(snapshot(whole, one_port, service("s", ("http", 80), ("https", 443)), complete=True))
    specs = {
        section: [
            plain(effective.resolution.spec)
            for effective in analysis.effective(node("Service", "s", section, group=""))
        ]
        for section in ("http", "https")
    }
    assert specs == {"http": [{"by": "whole"}], "https": [{"by": "port"}]}
    assert (analysis.enforcement(whole.ref).state, analysis.enforcement(whole.ref).by) == (
        "PartiallyEnforced",
        (one_port.ref,),
    )
    assert analysis.enforcement(one_port.ref).state == "Enforced"


@pytest.mark.parametrize("kind", [claim.kind for claim in TELEMETRY_KINDS], ids=str)
def test_a_gateway_takes_one_telemetry_policy(kind: GroupKind) -> None:
    """Says: "The older policy by creation timestamp takes precedence"; for any other one, Accepted is False."""
    older, newer = (
        policy(name, target("public", "Gateway"), kind=kind.kind, group=kind.group, age=age, tracing={"spanName": name})
        for name, age in (("z", 1), ("a", 2))
    )
    analysis = analyze(snapshot(newer, older, gateway("public"), complete=True))
    (effective,) = analysis.effective(node("Gateway", "public"))
    assert plain(effective.resolution.spec) == {"tracing": {"spanName": "z"}}
    conditions = [
        (str(status.ancestor), condition.type, condition.status, condition.reason)
        for status in PolicyStatuses(analysis).of(newer.ref)
        for condition in status.conditions
    ]
    assert conditions == [("Gateway default/public", "Accepted", "False", "Conflicted")]


def test_an_x_backend_has_one_port() -> None:
    """`spec.port.number`, which a backendRef names."""
    backend = resource("XBackend", "x", {"port": {"number": 443}}, group=GATEWAY_API_EXPERIMENTAL)
    backend_ref: Json = {"group": GATEWAY_API_EXPERIMENTAL, "kind": "XBackend", "name": "x", "port": 443}
    analysis = analyze(snapshot(backend, route("r", rules=[{"backendRefs": [backend_ref]}]), complete=True))
    (found,) = analysis.topology.backends(ref("HTTPRoute", "r"))
    assert (found.state, str(found.node)) == ("resolved", "XBackend default/x#443")


def test_a_backend_lb_policy_takes_services_and_their_imports_alone() -> None:
    """Declared targets of BackendLBPolicy: Service and ServiceImport."""
    imported = resource("ServiceImport", "s", {"ports": [{"port": 80}]}, group="multicluster.x-k8s.io")
    found = policy(
        "p",
        target("s", "ServiceImport", group="multicluster.x-k8s.io"),
        target("g", "Gateway"),
        kind="BackendLBPolicy",
        group=GATEWAY_API,
    )
    analysis = analyze(snapshot(found, imported, complete=True))
    attached, refused = analysis.attachments[found.ref]
    assert attached.state == "attached"
    assert refused.state == "kind unsupported"
    assert refused.message == (
        "BackendLBPolicy cannot target a Gateway.gateway.networking.k8s.io; "
        "it takes Service, ServiceImport.multicluster.x-k8s.io"
    )
    assert analysis.affected_by(node("ServiceImport", "s", group="multicluster.x-k8s.io")) == (
        ref("BackendLBPolicy", "p"),
    )


# The tests of each world assert what became of every policy in it.
WORLDS: Final = {
    "gateway.solo.io": "gloo",
    "policy.linkerd.io": "linkerd",
    "networking.gke.io": "gke",
    "application-networking.k8s.aws": "aws",
    "alb.networking.azure.io": "azure",
    "configuration.konghq.com": "kong",
    "kuma.io": "kuma",
}


@pytest.mark.parametrize(("group", "world"), WORLDS.items())
def test_every_kind_occurs_in_its_world(group: str, world: str) -> None:
    """None is known by its profile alone."""
    found = {resource.ref.group_kind for resource in manifests(world).resources}
    assert set(built_in_profiles(group)) - found == set()


PAGE: Final = Path(__file__).parent.parent.parent / "docs" / "profiles.md"
HEADER: Final = "| kind | group | class | targets | of several policies |\n|---|---|---|---|---|\n"
SAME_LEVEL: Final = {
    "newest-challenges": "",
    "first-wins": "; on one target the older one goes first",
    "one-applies": "; on one target the oldest applies",
    "disjoint": "; on one target the newer one is refused if both set a field",
    "all-apply": "; on one target all apply",
    None: "",
}


def table() -> str:
    """A row for each kind, sorted by group and kind."""
    profiles = [
        profile for file in FILES for _, profile in sorted(built_in_profiles(file.removesuffix(".yaml")).items())
    ]
    return HEADER + "".join(_row(profile) for profile in profiles)


def _row(profile: PolicyKindProfile) -> str:
    kind = profile.group_kind
    cells = (f"`{kind.kind}`", kind.group, profile.policy_class, _targets(profile), _merges(profile))
    return f"| {' | '.join(cells)} |\n"


def _targets(profile: PolicyKindProfile) -> str:
    targets = ", ".join(sorted(map(_name, profile.declared_targets | profile.virtual_targets))) or "any"
    if not profile.filter_routes:
        return targets + (", as their parameters" if profile.role == "parameters" else "")
    return targets + ("; also by filters of rules" if profile.target_fields else ", by filters of its rules")


def _name(kind: GroupKind) -> str:
    return kind.kind if kind.group in {"", GATEWAY_API} else str(kind)


def _merges(profile: PolicyKindProfile) -> str:
    if profile.attachment == "connections":
        return "evaluated, with the policies of the other tiers"
    if not profile.attaches_by_references:
        return "not computed: it does not attach by references"
    together = SAME_LEVEL[profile.same_level]
    if profile.strategy_field:
        return f"as `{profile.strategy_field}` says, else {profile.strategy or 'not known'}{together}"
    if profile.stanzas in {"plural", "singular"}:
        names = "`defaults` and `overrides`" if profile.stanzas == "plural" else "`default` and `override`"
        return f"by the stanzas {names}{together}"
    if profile.strategy is MergeStrategy.NONE:
        return f"{profile.strategy}; on one target the oldest applies"
    return f"{profile.strategy}{together}" if profile.strategy else f"not known: {profile.default_strategy} is assumed"


def page_with(rows: str) -> str:
    """The page with these rows as its table, which is the last thing on it."""
    return PAGE.read_text("utf-8").partition(HEADER)[0] + rows


def test_the_page_lists_every_kind() -> None:
    assert page_with(table()) == PAGE.read_text("utf-8")


if __name__ == "__main__":
    PAGE.write_text(page_with(table()), "utf-8")


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
