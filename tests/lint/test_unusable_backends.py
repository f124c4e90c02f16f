"""Backends of an implementation's own kind that routes cannot use, and those that they can."""

from __future__ import annotations

from typing import Final

import pytest

from kubectl_policy.lint.finding import Finding, Related
from kubectl_policy.lint.rules.routes.unusable_backends import backend_unusable
from kubectl_policy.model import Json, Resource
from tests import build
from tests.lint.rule_worlds import checked

_GROUP: Final = "gateway.envoyproxy.io"
_ROUTE: Final = build.route("r", rules=[build.rule(build.backend("b", None, kind="Backend", group=_GROUP))])
_DOMAIN: Final = "a domain name with two labels or more"
_ADDRESS: Final = "an IP address outside the loopback range"


def _backend(*endpoints: Json) -> Resource:
    return build.resource("Backend", "b", {"endpoints": list(endpoints)}, group=_GROUP)


def _fqdn(hostname: str) -> Json:
    return {"fqdn": {"hostname": hostname, "port": 80}}


def _ip(address: str) -> Json:
    return {"ip": {"address": address, "port": 80}}


_UNIX: Final[Json] = {"unix": {"path": "/run/b.sock"}}


class TestUnusableBackends:
    @pytest.mark.parametrize(
        "endpoints",
        [
            [_fqdn("b.example.com"), _fqdn("c.example.com")],
            [_ip("10.0.0.1"), _ip("2001:db8::1")],
            [_fqdn("${HOST}")],
            [],
        ],
        ids=["domains", "addresses", "to be filled in", "none"],
    )
    def test_in_order(self, endpoints: list[Json]) -> None:
        assert checked(backend_unusable, _ROUTE, _backend(*endpoints)) == []

    @pytest.mark.parametrize(
        ("endpoints", "field", "problem", "reason"),
        [
            ([_fqdn("localhost")], "[0].fqdn.hostname", f"localhost is not {_DOMAIN}", "InvalidAddress"),
            ([_fqdn("10.0.0.1")], "[0].fqdn.hostname", f"10.0.0.1 is not {_DOMAIN}", "InvalidAddress"),
            ([_fqdn("B.example.com")], "[0].fqdn.hostname", f"B.example.com is not {_DOMAIN}", "InvalidAddress"),
            ([_ip("10.0.0.1"), _ip("127.0.0.1")], "[1].ip.address", f"127.0.0.1 is not {_ADDRESS}", "InvalidAddress"),
            ([_ip("10.0.0")], "[0].ip.address", f"10.0.0 is not {_ADDRESS}", "InvalidAddress"),
            ([_UNIX], "[0].unix", "spec.endpoints[0].unix is set", "UnsupportedAddressType"),
            (
                [_ip("10.0.0.1"), _fqdn("b.example.com")],
                "[1].fqdn",
                "spec.endpoints[1].fqdn and spec.endpoints[0].ip are set",
                "UnsupportedAddressType",
            ),
        ],
        ids=["no dot", "an address as a name", "capitals", "loopback", "no address", "a socket", "mixed"],
    )
    def test_what_routes_cannot_use(self, endpoints: list[Json], field: str, problem: str, reason: str) -> None:
        backend = _backend(*endpoints)
        assert checked(backend_unusable, _ROUTE, backend) == [
            Finding(
                subject=backend.ref,
                field=f"spec.endpoints{field}",
                message=f"{problem}, so that no route can send requests there",
                reason=reason,
                related=(Related(object=_ROUTE.ref, words="its requests fail there", origin=build.ORIGIN),),
            )
        ]

    def test_without_a_route(self) -> None:
        """A socket is for policies and telemetry, while a wrong address is of use to nobody."""
        assert checked(backend_unusable, _backend(_UNIX)) == []
        [finding] = checked(backend_unusable, _backend(_UNIX, _ip("127.0.0.1")))
        assert (finding.field, finding.related) == ("spec.endpoints[1].ip.address", ())
