"""The readings of the judge: every combination of options once, and no more than are asked for."""

from __future__ import annotations

from ipaddress import ip_network

from tests.network.oracle import verdict
from tests.network.oracle_readings import Reading, agreed, every_outcome
from tests.network.oracle_world import Manifest, World
from tests.network.small_world import ALL_PODS, admin_policy, network_policy, rule


def test_questions_that_depend_on_answers_are_asked_where_they_arise() -> None:
    def evaluate(reading: Reading) -> str:
        letter = reading.choose("letter", "ab")
        assert reading.choose("letter", "ab") == letter
        return letter + reading.choose("number", "123") if letter == "b" else letter

    assert every_outcome(evaluate) == ["a", "b1", "b2", "b3"]


def test_without_questions_there_is_one_reading() -> None:
    assert every_outcome(lambda _: "only") == ["only"]


def test_values_agree_or_are_undecided() -> None:
    assert agreed([True, True]) is True
    assert agreed(["", ""]) == ""
    assert agreed([True, False]) is None


def _pod(name: str, *addresses: str, node: str = "") -> Manifest:
    return {
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"nodeName": node, "hostNetwork": name.startswith("host")},
        "status": {"podIPs": [{"ip": text} for text in addresses]},
    }


def _denies(networks: list[str]) -> Manifest:
    return admin_policy(subject=ALL_PODS, egress=[rule({"networks": networks}, side="to", action="Deny")])


def _allowed(objects: list[Manifest], source: str, destination: str) -> bool | None:
    return verdict(objects, ("pod", "default", source), ("pod", "default", destination), 80, "TCP").allowed


def test_a_connection_has_one_of_the_families_that_both_pods_have() -> None:
    four, six, both = _pod("four", "10.0.0.4"), _pod("six", "fd00::6"), _pod("both", "10.0.0.8", "fd00::8")
    more = _pod("more", "10.0.0.9", "fd00::9")
    objects = [four, six, both, more, _denies(["0.0.0.0/0"])]
    assert _allowed(objects, "four", "both") is False
    assert _allowed(objects, "six", "both") is True
    assert _allowed(objects, "more", "both") is None


def test_a_pod_without_address_may_have_any_that_the_blocks_tell_apart() -> None:
    blocks = [ip_network("10.0.0.0/8"), ip_network("10.1.0.0/16")]
    addresses = World([_denies([str(block) for block in blocks])]).all_addresses
    assert sorted((address.version, *(address in block for block in blocks)) for address in addresses) == [
        (4, False, False),
        (4, True, False),
        (4, True, True),
        (6, False, False),
    ]
    source, new = _pod("source", "10.0.0.1"), _pod("new")
    assert _allowed([source, new, _denies(["10.0.0.0/8", "0.0.0.0/5", "128.0.0.0/1"])], "source", "new") is None
    assert _allowed([source, new, _denies(["0.0.0.0/0"])], "source", "new") is False


def test_a_host_network_pod_has_the_addresses_of_its_node() -> None:
    node = {
        "kind": "Node",
        "metadata": {"name": "n", "labels": {"zone": "a"}},
        "status": {"addresses": [{"type": "InternalIP", "address": "172.18.0.2"}]},
    }
    source, known, new = _pod("source", "10.0.0.1"), _pod("host-known", node="n"), _pod("host-new")
    assert _allowed([node, source, known, _denies(["172.18.0.2/32"])], "source", "host-known") is False
    assert _allowed([node, source, new, _denies(["172.18.0.2/32"])], "source", "host-new") is None
    by_label = admin_policy(
        subject=ALL_PODS, egress=[rule({"nodes": {"matchLabels": {"zone": "a"}}}, side="to", action="Deny")]
    )
    addressed = _pod("host-addressed", "172.18.0.2")
    assert _allowed([node, source, addressed, by_label], "source", "host-addressed") is False
    assert _allowed([node, source, new, by_label], "source", "host-new") is None
    assert _allowed([source, known, by_label], "source", "host-known") is None
    any_node = admin_policy(subject=ALL_PODS, egress=[rule({"nodes": {}}, side="to", action="Deny")])
    assert _allowed([source, known, any_node], "source", "host-known") is False
    assert _allowed([node, source, _pod("new", node="n"), _denies(["172.18.0.2/32"])], "source", "new") is None


def test_pods_without_nodes_may_share_one() -> None:
    closed = network_policy(namespace="default", policyTypes=["Egress"], podSelector={"matchLabels": {"app": "new"}})
    new = _pod("new", "10.0.0.1")
    new["metadata"]["labels"] = {"app": "new"}
    host = _pod("host-new", "172.18.0.2")
    assert _allowed([new, host, closed], "new", "host-new") is None
    assert (
        _allowed(
            [{**new, "spec": {"nodeName": "n"}}, {**host, "spec": {"hostNetwork": True, "nodeName": "m"}}, closed],
            "new",
            "host-new",
        )
        is False
    )


def test_a_pod_tells_the_address_of_its_node() -> None:
    policy = network_policy(namespace="shop")
    pod = {**_pod("web", "10.0.0.1", node="n"), "metadata": {"name": "web", "namespace": "shop"}}
    pod["status"] = {**pod["status"], "hostIP": "172.18.0.9", "hostIPs": [{"ip": "172.18.0.9"}, {"ip": "fd00::9"}]}
    for address, is_node in (("172.18.0.9", True), ("fd00::9", True), ("172.18.0.8", False)):
        assert verdict([pod, policy], address, ("pod", "shop", "web"), 80, "TCP").allowed is is_node


def test_the_ports_of_a_sidecar_are_ports_of_the_pod() -> None:
    sidecar = {"name": "proxy", "restartPolicy": "Always", "ports": [{"name": "side", "containerPort": 9000}]}
    init = {"name": "init", "ports": [{"name": "early", "containerPort": 9000}]}
    pod = _pod("web", "10.0.0.1")
    pod["spec"] = {"initContainers": [sidecar, init]}
    side = network_policy("side", "default", ingress=[{"ports": [{"port": "side"}]}])
    early = network_policy("early", "default", ingress=[{"ports": [{"port": "early"}]}])
    assert verdict([pod, side], "203.0.113.7", ("pod", "default", "web"), 9000, "TCP").allowed is True
    assert verdict([pod, early], "203.0.113.7", ("pod", "default", "web"), 9000, "TCP").allowed is False
