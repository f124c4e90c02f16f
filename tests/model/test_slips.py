"""Names that are slips of the pen: of an object that was not read, and that nothing else explains."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from kubectl_policy import analyze
from kubectl_policy.model import Gap, Origin
from tests import build


@pytest.mark.parametrize(
    ("name", "sibling", "is_slip"),
    [
        ("webhook", "webhooks", True),
        ("webhoook", "webhook", True),
        ("wehbook", "webhook", True),
        ("webhokk", "webhook", True),
        ("shop-catr", "shop-cart", True),
        # Objects that are called alike.
        ("shop-card", "shop-cart", False),
        ("web-1", "web-2", False),
        ("webhook2", "webhook1", False),
        ("shop-eu", "shop-us", False),
        ("webhook-a", "webhook-b", False),
        ("web-hook", "webhook", False),
        ("shop-pay", "shop-pays", False),
        ("webhook", "elsewhere", False),
    ],
)
def test_a_slip_of_the_pen(name: str, sibling: str, *, is_slip: bool) -> None:
    index = analyze(build.snapshot(build.service(sibling))).index
    expected = [build.ref("Service", sibling, group="")] if is_slip else []
    assert index.absence.meant(build.ref("Service", name, group="")) == expected


def test_what_may_be_hidden_or_come_from_elsewhere_is_no_slip() -> None:
    ref, service = build.ref("Service", "webhook", group=""), build.service("webhooks")
    for gap in (
        Gap("Service", "default", "forbidden", Origin("prod"), group=""),
        Gap("", "", "HelmRelease default/webhook", Origin("a.yaml", 1), mentions=frozenset({"webhook"})),
    ):
        assert analyze(build.snapshot(service, gaps=[gap])).index.absence.meant(ref) == []
    elsewhere = replace(service, ref=replace(service.ref, namespace="other"))
    assert analyze(build.snapshot(elsewhere)).index.absence.meant(ref) == []
