"""Snapshots: objects that are assumed to exist, and permissions that would close gaps."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from kubectl_policy.model import GroupKind, ObjectRef, Permission
from kubectl_policy.model.index import Index
from kubectl_policy.model.snapshot import AssumedObjects
from tests.build import grant, ref, resource, snapshot

SECRET = ref("Secret", "a", group="")
ISSUER = ObjectRef(GroupKind("cert-manager.io", "ClusterIssuer"), "", "le")


def index(*words: str, complete: bool = False, resources: tuple[object, ...] = ()) -> Index:
    assumed = tuple(map(AssumedObjects.parse, words))
    return Index(replace(snapshot(*resources, complete=complete), assumed=assumed))  # type: ignore[arg-type]


@pytest.mark.parametrize("word", ["secret", "Secret", "secrets", "secret/a", "secret/default/a", "secrets."], ids=str)
@pytest.mark.parametrize("complete", [True, False])
def test_what_is_assumed_is_there(word: str, *, complete: bool) -> None:
    assert index(word, complete=complete).presence(SECRET) == "present"


@pytest.mark.parametrize("word", ["secret/b", "secret/far/a", "configmap", "secret.example.com"])
def test_what_is_not(word: str) -> None:
    assert index(word).presence(SECRET) == "unknown"
    assert index(word, complete=True).presence(SECRET) == "missing"


@pytest.mark.parametrize("word", ["clusterissuer", "clusterissuers/le", "clusterissuer.cert-manager.io/le"])
def test_kinds_that_nothing_defines(word: str) -> None:
    assert index(word).presence(ISSUER) == "present"


def test_short_names() -> None:
    assert AssumedObjects("sec").covers(SECRET, {"secret", "sec"})
    assert index("svc").presence(ref("Service", "a", group="")) == "present"


@pytest.mark.parametrize("text", ["", "/a", "secret/", "secret//a", "a/b/c/d"])
def test_what_says_nothing(text: str) -> None:
    with pytest.raises(ValueError, match="is not KIND"):
        AssumedObjects.parse(text)


def test_what_was_taken_to_exist() -> None:
    """Is remembered; not what was read, or what has no name."""
    found = index("secret", "clusterissuer", resources=(resource("Secret", "b", group=""),))
    assert not found.assumed_refs
    for asked in (SECRET, ISSUER, ref("Secret", "b", group=""), ref("Secret", "", group="")):
        found.presence(asked)
    assert found.assumed_refs == (SECRET, ISSUER)


def test_what_is_deleted_is_gone() -> None:
    state = replace(snapshot(), assumed=(AssumedObjects("secret"),), gone=frozenset({SECRET}))
    assert Index(state).presence(SECRET) == "missing"


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
        assert index(word).grants.permit(self.kind, "default", self.target) is permitted
        closed = index(word, complete=True).grants.permit(self.kind, "default", self.target)
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
