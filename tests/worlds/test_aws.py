"""AWS: each policy of VPC Lattice changes its target alone; of two on one target the older one is accepted."""

from __future__ import annotations

from typing import Final

from kubectl_policy import analyze
from kubectl_policy.model import Json
from tests import build
from tests.implementations import added, edited, fixture_world, reported, spec_at, states

GROUP: Final = "application-networking.k8s.aws"
HOME: Final = "ferries"
TIMETABLE: Final = build.node("HTTPRoute", "timetable", namespace=HOME)
world: Final = fixture_world("aws")


def test_of_two_logs_on_one_route_the_older_one_is_written() -> None:
    kind = f"AccessLogPolicy.{GROUP}"
    analysis = analyze(world("AccessLogPolicy ferries/logbook"))
    assert spec_at(analysis, kind, TIMETABLE) == [{"destinationArn": "arn:aws:s3:::ferries-inquiry"}]


def test_a_target_that_is_not_supported_or_not_there_is_reported() -> None:
    wrong: Json = {"group": "", "kind": "ConfigMap", "name": "x"}
    far: Json = {"group": "", "kind": "Service", "name": "timetable", "namespace": "elsewhere"}
    snapshot = edited(
        edited(world(), "IAMAuthPolicy ferries/pursers", targetRef=wrong),
        "TargetGroupPolicy ferries/timetable",
        targetRef=far,
    )
    reasons = {"IAMAuthPolicy ferries/pursers": "Invalid", "TargetGroupPolicy ferries/timetable": "TargetNotFound"}
    for name, reason in reasons.items():
        assert reported(analyze(snapshot), name) == {"": {"Accepted": ("False", reason, ())}}


def test_another_controllers_gateway_is_left_alone() -> None:
    """Its routes and the Services behind them too; an exported Service needs no Gateway."""
    other = build.gateway_class("amazon-vpc-lattice", "example.com/other")
    analysis = analyze(added(world("GatewayClass amazon-vpc-lattice"), other))
    assert {name for name, (state, _) in states(analysis).items() if state == "Enforced"} == {
        "TargetGroupPolicy ferries/timetable-abroad"
    }
