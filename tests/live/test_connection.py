"""What a connection and discovery know of API servers is what a real one does."""

import json
from itertools import islice
from pathlib import Path
from typing import Final

import pytest

from kubectl_policy.model.fields import text_at
from kubectl_policy.sources.cluster.access import ClusterOptions, access_to
from kubectl_policy.sources.cluster.connection import METADATA, METADATA_LIST, Connection
from kubectl_policy.sources.cluster.discovery import discover
from kubectl_policy.sources.cluster.refusals import RequestFailed
from tests.live.server import ADMIN, BAKER, Server

NAMESPACE: Final = "connection-tests"
SECRETS: Final = f"/api/v1/namespaces/{NAMESPACE}/secrets"
MAPS: Final = f"/api/v1/namespaces/{NAMESPACE}/configmaps"


def connected(server: Server, user: str = ADMIN) -> Connection:
    return Connection(access_to(ClusterOptions(kubeconfig=str(server.kubeconfig(user)))))


@pytest.fixture(scope="module")
def namespace(server: Server) -> str:
    """A Namespace with some ConfigMaps and a Secret that kubectl applied."""
    metadata = {"namespace": NAMESPACE}
    maps = [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {**metadata, "name": f"m{n}"}} for n in range(5)]
    named = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    hidden = {"apiVersion": "v1", "kind": "Secret", "metadata": {**metadata, "name": "hidden"}}
    items = [named, *maps, {**hidden, "stringData": {"key": "hidden-value"}}]
    server.kubectl("apply", "-f", "-", data={"apiVersion": "v1", "kind": "List", "items": items})
    return NAMESPACE


def test_what_is_served_is_what_kubectl_shows(server: Server, tmp_path: Path) -> None:
    """All that can be got and listed, by the names that kubectl has for it."""
    discovery = discover(connected(server), server.url, str(tmp_path))
    shown = server.kubectl("api-resources", "--verbs=get,list", "--no-headers", "-o", "name").split()
    names = {f"{world.plural}.{world.group}" if world.group else world.plural for world in discovery.kinds.values()}
    assert names == set(shown)
    assert not discovery.gaps
    again = discover(connected(server), server.url, str(tmp_path))
    assert again.kinds == discovery.kinds
    assert again.is_remembered


def test_secrets_come_without_what_is_in_them(server: Server, namespace: str) -> None:
    """`kubectl apply` wrote it into an annotation as well."""
    whole = server.kubectl("get", "secret", "hidden", "-n", namespace, "-o", "json")
    assert "last-applied-configuration" in whole
    one = connected(server).get(f"{SECRETS}/hidden", accept=METADATA)
    every = connected(server).list(SECRETS, accept=METADATA_LIST)
    for secret in (one, *every.items):
        assert text_at(secret, "metadata.name") == "hidden"
        assert "value" not in json.dumps(secret)
        assert secret.keys() == {"apiVersion", "kind", "metadata"}


def test_pages_are_one_list(server: Server, namespace: str) -> None:
    assert namespace
    whole, pages = connected(server).list(MAPS), connected(server).list(MAPS, {"resourceVersion": "0"}, chunk_size=2)
    assert [text_at(item, "metadata.name") for item in pages.items] == [f"m{number}" for number in range(5)]
    assert [*pages.items] == [*whole.items]


@pytest.mark.usefixtures("namespace")
def test_refusals_are_those_that_it_gives(server: Server) -> None:
    with pytest.raises(RequestFailed, match="not found") as missing:
        connected(server).get(f"{MAPS}/missing")
    assert missing.value.message == 'configmaps "missing" not found'
    baker = connected(server, BAKER)
    with pytest.raises(RequestFailed, match="forbidden") as forbidden:
        baker.list(MAPS)
    assert (forbidden.value.status, "cannot list resource" in forbidden.value.message) == (403, True)
    stranger = ClusterOptions(kubeconfig=str(server.kubeconfig(ADMIN)), token="wrong")  # noqa: S106 (it is)
    with pytest.raises(RequestFailed, match="the credentials were refused"):
        Connection(access_to(stranger)).get("/api")


def test_changes_are_told(server: Server, namespace: str) -> None:
    connection = connected(server)
    watch = connection.watch(MAPS, {"resourceVersion": connection.list(MAPS).resource_version})
    server.kubectl("create", "configmap", "later", "-n", namespace)
    server.kubectl("delete", "configmap", "later", "-n", namespace)
    names = [text_at(changed, "metadata.name") for changed in islice(watch, 2)]
    watch.close()
    assert names == ["later", "later"]
