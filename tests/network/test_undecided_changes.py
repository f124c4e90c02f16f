"""Changes of policies where neither state decides: what the policies have a say in may change, all else does not."""

from __future__ import annotations

import pytest

from tests.network.changes import WORLD, changed_connections, changed_outside
from tests.network.oracle_world import Manifest
from tests.network.small_world import SHOP, block, cluster_policy, network_policy, rule

# Of an ipBlock that holds addresses of Pods, plugins differ in whether it matches the Pods.
PODS = block("10.244.0.0/16")
HTTP = [{"protocol": "TCP", "port": 80}]
DNS = [{"protocol": "UDP", "port": 53}]
DB = {"matchLabels": {"app": "db"}}
FROM = ("bank/teller", "bare/lone", "shop/new", "shop/web")


def to_db(change: str) -> set[str]:
    return {f"uncertain {source} > shop/db {change}" for source in FROM}


def into_db(name: str, *rules: Manifest, pods: Manifest = DB) -> Manifest:
    return network_policy(name, podSelector=pods, ingress=list(rules), policyTypes=["Ingress"])


DOUBT = into_db("kept", rule(PODS, ports=HTTP))


@pytest.mark.parametrize(
    ("deleted", "changes"),
    [
        pytest.param(into_db("x"), set(), id="it isolates what is isolated anyway"),
        pytest.param(into_db("x", rule(block("8.8.8.0/24"), ports=HTTP)), set(), id="it matches other peers"),
        pytest.param(into_db("x", rule(PODS, ports=DNS)), to_db("UDP 53-53"), id="it is about other ports"),
        pytest.param(into_db("x", rule(PODS, ports=HTTP)), to_db("TCP 80-80"), id="either of two may allow it"),
        pytest.param(
            into_db("x", rule({"podSelector": {}})),
            {
                *(f"closed shop/{name} > shop/db TCP 1-79" for name in ("new", "web")),
                *(f"uncertain shop/{name} > shop/db TCP 80-80" for name in ("new", "web")),
                *(f"closed shop/{name} > shop/db TCP 81-65535" for name in ("new", "web")),
                *(
                    f"closed shop/{name} > shop/db {protocol} 1-65535"
                    for name in ("new", "web")
                    for protocol in ("UDP", "SCTP")
                ),
            },
            id="it allows for certain what may be allowed without it",
        ),
    ],
)
def test_a_policy_changes_undecided_connections_that_it_has_a_say_in(deleted: Manifest, changes: set[str]) -> None:
    assert changed_connections([*WORLD, DOUBT, deleted], [*WORLD, DOUBT]) == changes


def test_isolation_matters_where_no_other_policy_certainly_isolates() -> None:
    """A policy that may not apply isolates only perhaps."""
    perhaps = into_db("kept", rule(PODS, ports=HTTP), pods={"matchLabels": {"app": "${APP}"}})
    changes = changed_connections([*WORLD, perhaps, into_db("x")], [*WORLD, perhaps])
    assert "uncertain bank/teller > shop/db TCP 1-65535" in changes
    both = [*WORLD, perhaps, DOUBT]
    assert changed_connections([*both, into_db("x")], both) == set()


def test_a_change_on_one_side_matters_where_the_other_side_is_undecided() -> None:
    leaving = network_policy(
        "out",
        podSelector={"matchLabels": {"app": "web"}},
        egress=[rule(PODS, side="to", ports=HTTP)],
        policyTypes=["Egress"],
    )
    denied = [*WORLD, DOUBT, leaving]
    allowed = [*WORLD, into_db("kept", rule({"podSelector": {}}, ports=HTTP)), leaving]
    assert "uncertain shop/web > shop/db TCP 80-80" in changed_connections(allowed, denied)


def test_a_pod_with_other_labels_may_change_all_that_is_undecided() -> None:
    def world(**metadata: Manifest) -> list[Manifest]:
        return [
            {**item, "metadata": {**item["metadata"], **metadata}} if item["metadata"]["name"] == "teller" else item
            for item in WORLD
        ]

    assert changed_connections([*WORLD, DOUBT], [*world(annotations={"note": "new"}), DOUBT]) == set()
    changes = changed_connections([*WORLD, DOUBT], [*world(labels={"app": "teller", "new": "true"}), DOUBT])
    assert changes == {"uncertain bank/teller > shop/db TCP 80-80"}


NAMES = {"domainNames": ["example.com"]}


def leaving_shop(name: str, port: int, priority: int) -> Manifest:
    protocols = [{"tcp": {"destinationPort": {"number": port}}}]
    return cluster_policy(
        name,
        "Admin",
        priority=priority,
        subject=SHOP,
        egress=[{"action": "Accept", "to": [NAMES], "protocols": protocols}],
    )


def test_domain_names_may_have_any_address_outside() -> None:
    everything = [{"networks": ["0.0.0.0/0", "::/0"]}]
    denying = cluster_policy("deny", "Baseline", egress=[{"action": "Deny", "to": everything}])
    kept = [*WORLD, denying, leaving_shop("kept", 443, 1)]
    assert changed_outside([*kept, leaving_shop("x", 443, 2)], kept) == {
        f"uncertain egress shop/{name} {ranges} TCP 443-443"
        for name in ("db", "new", "web")
        for ranges in ("0.0.0.0-255.255.255.255", "::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")
    }
    assert changed_outside([*kept, leaving_shop("x", 80, 2)], kept) == {
        f"uncertain egress shop/{name} {ranges} TCP 80-80"
        for name in ("db", "new", "web")
        for ranges in ("0.0.0.0-255.255.255.255", "::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")
    }
    other = cluster_policy(
        "x", "Admin", priority=2, egress=[{"action": "Accept", "to": [{"networks": ["10.0.0.0/8"]}]}]
    )
    assert not any("443" in change for change in changed_outside([*kept, other], kept) if " 0.0.0.0" in change)
