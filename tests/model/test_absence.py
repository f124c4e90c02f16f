"""Things that are not in the input: what is said of them, assumed ones, and permissions that would close gaps."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from kubectl_policy.model import Gap, GroupKind, ObjectRef, Origin, Permission, Resource
from kubectl_policy.model.absence import Creations
from kubectl_policy.model.index import Index
from kubectl_policy.model.snapshot import AssumedObjects
from tests.build import gateway, grant, index, policy, ref, resource, route, service, snapshot, target

ROUTE = ref("HTTPRoute", "echo", "media")
SERVICE = ref("Service", "echo", "media", "")
SECRET = ref("Secret", "echo-tls", "media", "")
RELEASE = "HelmRelease network/echo (chart not here) may create objects in namespace media"


def custom(kind: str, name: str, namespace: str = "media", **spec: object) -> Resource:
    """An object of a kind that neither Kubernetes nor Gateway API has."""
    return resource(kind, name, dict(spec), group="example.com", namespace=namespace)  # type: ignore[arg-type]


def created_by(kind: GroupKind) -> Creations | None:
    """What the kinds of these tests create; nothing is known of a VirtualMachine."""
    known = {
        "Certificate": {SECRET.group_kind: "spec.secretName"},
        "Watcher": {},
        "Web": {SERVICE.group_kind: "spec.at"},
    }
    return known.get(kind.kind)


@pytest.mark.parametrize(
    ("ref", "world", "said"),
    [
        (ROUTE, [], ""),
        # What it may be, by a name or a namespace that is not known.
        (ROUTE, [route("echo", namespace="?apps.echo")], "; HTTPRoute <unknown>/echo may be it"),
        (
            ROUTE,
            [route("echo", namespace=name) for name in ("?a", "?b", "?c")],
            "; HTTPRoute <unknown>/echo may be it, or one of 2 more",
        ),
        # Who may create it.
        (SERVICE, [custom("VirtualMachine", "echo")], "; VirtualMachine media/echo may create it"),
        (ROUTE, [custom("AIRoute", "echo")], "; AIRoute media/echo may create it"),
        (SERVICE, [custom("VirtualMachine", "echo", "?vms")], "; VirtualMachine <unknown>/echo may create it"),
        (SERVICE, [custom("VirtualMachine", "echo", "far"), custom("VirtualMachine", "other")], ""),
        (SERVICE, [custom("Monitor", "echo", selector={}), policy("echo", target("g"), namespace="media")], ""),
        (SERVICE, [resource("Deployment", "echo", group="apps", namespace="media")], ""),
        (SERVICE, [custom("Certificate", "echo"), custom("Watcher", "echo")], ""),
        (ROUTE, [custom("Web", "echo")], ""),
        (SERVICE, [custom("Web", "echo")], "; Web media/echo may create it"),
        (SERVICE, [custom("Web", "x", at="echo")], "; Web media/x may create it"),
        (SERVICE, [custom("Web", "echo", at="x")], ""),
        (SECRET, [custom("Certificate", "echo", secretName="echo-tls")], "; Certificate media/echo may create it"),
        (SECRET, [custom("Certificate", "echo-tls")], "; Certificate media/echo-tls may create it"),
        (SECRET, [custom("Certificate", "echo-tls", secretName="x")], ""),
        (SECRET, [custom("VirtualMachine", "echo-tls")], ""),
        # What else may be meant.
        (ROUTE, [route("echo", namespace="far"), route("echo")], "; there is HTTPRoute default/echo"),
        (ROUTE, [route("ecoh", namespace="media")], "; there is HTTPRoute media/ecoh"),
        (ROUTE, [route("ech", namespace="media"), route("eco", namespace="media")], ""),
        (ROUTE, [route("echos", namespace="media")], "; there is HTTPRoute media/echos"),
        (ROUTE, [route("echos", namespace="far"), gateway("echos", namespace="media")], ""),
        (ref("HTTPRoute", "${X}", "media"), [service("echo", namespace="media")], ""),
    ],
)
def test_the_first_hint_there_is(ref: ObjectRef, world: list[Resource], said: str) -> None:
    """What it may be, who may create it, and names that are near."""
    known = Index(snapshot(*world), created_by=created_by)
    assert known.absence.message(ref) == f"{ref} is not in the input{said}"


@pytest.mark.parametrize(
    ("gap", "said"),
    [
        (Gap("", "media", RELEASE, mentions=frozenset({"echo"})), f"; {RELEASE}"),
        (Gap("", "media", RELEASE, mentions=frozenset({"ec"})), ""),
        (Gap("", "far", RELEASE, mentions=frozenset({"echo"})), ""),
        (Gap("", "media", RELEASE), f"; {RELEASE}"),
        (Gap("", "", "not YAML", Origin("x.yaml", 2), mentions=frozenset({"echo"})), "; x.yaml:2 may hold it"),
        (Gap("", "", "not YAML", mentions=frozenset({"echo"})), "; not YAML may hold it"),
        (Gap("", "", "not YAML", Origin("x.yaml", 2)), ""),
        (Gap("HTTPRoute", "media", "patched", name="echo", mentions=frozenset({"echo"})), ""),
    ],
)
def test_what_could_not_be_read_may_create_it(gap: Gap, said: str) -> None:
    """If it mentions the name, or may create anything in the namespace."""
    assert index(gaps=[gap]).absence.message(ROUTE) == f"{ROUTE} is not in the input{said}"


def test_objects_are_called_after_their_release() -> None:
    gap = Gap("", "media", RELEASE, mentions=frozenset({"echo"}))
    assert index(gaps=[gap]).absence.message(ref("Service", "echo-app", "media", "")).endswith(RELEASE)
    assert index(gaps=[gap]).absence.message(ref("Service", "echoes", "media", "")).endswith("is not in the input")


def test_only_one_hint_is_given() -> None:
    world = index(route("echo", namespace="far"), gaps=[Gap("", "media", RELEASE)])
    assert world.absence.message(ROUTE) == f"{ROUTE} is not in the input; {RELEASE}"
    assert world.absence.message(ROUTE) is world.absence.message(ROUTE)


def test_gaps_of_one_object() -> None:
    """By its name, also where that is not known."""
    patched = Gap("HTTPRoute", "media", "patched", name="echo")
    unnamed = Gap("HTTPRoute", "media", "patched", name="${NAME}")
    absence = index(gaps=[patched, unnamed, Gap("", "", "x")]).absence
    assert list(absence.gaps_of(ROUTE)) == [patched, unnamed]
    assert list(absence.gaps_of(ref("HTTPRoute", "other", "media"))) == [unnamed]
    assert list(absence.gaps_of(ref("GRPCRoute", "echo", "media"))) == []
    assert absence.unbounded == {"HTTPRoute": (patched, unnamed), "": (Gap("", "", "x"),)}


def test_near_names_are_looked_up_once_for_a_namespace() -> None:
    """Whoever asks next gets another answer from the same names."""
    world = index(route("echo", namespace="media"))
    assert world.absence.message(ref("HTTPRoute", "ecoh", "media")).endswith("there is HTTPRoute media/echo")
    assert world.absence.message(ref("HTTPRoute", "shop", "media")).endswith("is not in the input")


PLAIN_SECRET = ref("Secret", "a", group="")
ISSUER = ObjectRef(GroupKind("cert-manager.io", "ClusterIssuer"), "", "le")


def assuming(*words: str, complete: bool = False, resources: tuple[object, ...] = ()) -> Index:
    assumed = tuple(map(AssumedObjects.parse, words))
    return Index(replace(snapshot(*resources, complete=complete), assumed=assumed))  # type: ignore[arg-type]


@pytest.mark.parametrize("word", ["secret", "Secret", "secrets", "secret/a", "secret/default/a", "secrets."], ids=str)
@pytest.mark.parametrize("complete", [True, False])
def test_what_is_assumed_is_there(word: str, *, complete: bool) -> None:
    assert assuming(word, complete=complete).presence(PLAIN_SECRET) == "present"


@pytest.mark.parametrize("word", ["secret/b", "secret/far/a", "configmap", "secret.example.com"])
def test_what_is_not(word: str) -> None:
    assert assuming(word).presence(PLAIN_SECRET) == "unknown"
    assert assuming(word, complete=True).presence(PLAIN_SECRET) == "missing"


@pytest.mark.parametrize("word", ["clusterissuer", "clusterissuers/le", "clusterissuer.cert-manager.io/le"])
def test_kinds_that_nothing_defines(word: str) -> None:
    assert assuming(word).presence(ISSUER) == "present"


def test_short_names() -> None:
    assert AssumedObjects("sec").covers(PLAIN_SECRET, {"secret", "sec"})
    assert assuming("svc").presence(ref("Service", "a", group="")) == "present"


@pytest.mark.parametrize("text", ["", "/a", "secret/", "secret//a", "a/b/c/d"])
def test_what_says_nothing(text: str) -> None:
    with pytest.raises(ValueError, match="is not KIND"):
        AssumedObjects.parse(text)


def test_what_was_taken_to_exist() -> None:
    """Is remembered; not what was read, or what has no name."""
    found = assuming("secret", "clusterissuer", resources=(resource("Secret", "b", group=""),))
    assert not found.assumed_refs
    for asked in (PLAIN_SECRET, ISSUER, ref("Secret", "b", group=""), ref("Secret", "", group="")):
        found.presence(asked)
    assert found.assumed_refs == (PLAIN_SECRET, ISSUER)


def test_what_is_deleted_is_gone() -> None:
    state = replace(snapshot(), assumed=(AssumedObjects("secret"),), gone=frozenset({PLAIN_SECRET}))
    assert Index(state).presence(PLAIN_SECRET) == "missing"


class TestGrants:
    """A ReferenceGrant that is taken to exist is the one that is needed."""

    kind = GroupKind("example.com", "ColorPolicy")
    target = ref("Secret", "a", "far", group="")

    @pytest.mark.parametrize(
        ("word", "permitted"),
        [
            ("referencegrant", True),
            ("referencegrants/far/let-in", True),
            ("referencegrant/near/let-in", None),
            ("secret", None),
        ],
    )
    def test_what_they_permit(self, word: str, permitted: bool | None) -> None:  # noqa: FBT001 (an outcome)
        """In their namespace; also in a closed world."""
        assert assuming(word).grants.permit(self.kind, "default", self.target) is permitted
        closed = assuming(word, complete=True).grants.permit(self.kind, "default", self.target)
        assert closed is (permitted or False)

    def test_one_that_is_deleted(self) -> None:
        gone = grant(namespace="far", sources=[("example.com", "ColorPolicy", "default")], targets=[("", "Secret")])
        state = replace(snapshot(), assumed=(AssumedObjects("referencegrant"),), other_state=(gone,))
        assert Index(state).grants.permit(self.kind, "default", self.target) is False


@pytest.mark.parametrize(
    ("namespace", "words"),
    [
        (None, "list gatewayclasses.gateway.networking.k8s.io"),
        ("", "list gatewayclasses.gateway.networking.k8s.io in all namespaces"),
        ("baker", "list gatewayclasses.gateway.networking.k8s.io in namespace baker"),
    ],
)
def test_where(namespace: str | None, words: str) -> None:
    """In a namespace, in all of them, or in none, as for what has none."""
    assert str(Permission("list", "gatewayclasses.gateway.networking.k8s.io", namespace)) == words
