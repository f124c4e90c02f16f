"""Questions that are asked of a cluster which does not give out everything."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy import Analysis, NodeRef, describe, load_manifests
from kubectl_policy.errors import NotFoundError, PolicyError, UsageError
from kubectl_policy.questions.shared.selection import find, kinds_meant
from kubectl_policy.render.describe.headline import object_headline
from tests import build
from tests.refusing import Refusing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.questions.blind_spots.unknowns import BlindSpot
    from kubectl_policy.questions.describe.objects import ObjectDescription

BAKERY: Final = load_manifests(Path(__file__).parents[3] / "fixtures" / "bakery")
BAKER: Final = NodeRef(build.ref("HTTPRoute", "baker", "baker"))
FORBIDDEN: Final = (403, "")
# What the application developer of the story may not do.
STORY: Final = dict.fromkeys(
    ("/example.io/v1/retrypolicies", *(f"/namespaces/{name}/retrypolicies" for name in ("baker", "infra", "pastry"))),
    FORBIDDEN,
)


def described(refused: Mapping[str, tuple[int, str]], subject: NodeRef = BAKER) -> ObjectDescription:
    """The answer about an object of the bakery, as far as the server gives it out."""
    return Refusing(BAKERY, "baker", refused).answer(lambda analysis: describe(analysis, subject))


def told(unseen: tuple[BlindSpot, ...]) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(thing.what, thing.reason, tuple(map(str, thing.needs))) for thing in unseen]


def failure(refused: Mapping[str, tuple[int, str]], name: str, type_name: str = "httproute") -> PolicyError:
    """Why there is no answer about an object in namespace baker."""
    with pytest.raises(PolicyError) as error:
        Refusing(BAKERY, "baker", refused).answer(lambda analysis: find(analysis, type_name, name, "baker"))
    return error.value


def test_who_may_read_everything_misses_nothing() -> None:
    answer = described({})
    assert (len(answer.policies), answer.unseen) == (4, ())


def test_what_is_hidden_is_told_with_the_permission() -> None:
    answer = described(STORY)
    may = tuple(f"list retrypolicies.example.io in namespace {name}" for name in ("baker", "infra"))
    assert told(answer.unseen) == [("RetryPolicies in namespaces baker and infra", "forbidden", may)]
    assert object_headline(answer).startswith(
        "HTTPRoute baker/baker is affected by 2 policies, as far as could be read: RetryPolicies are hidden from you."
    )


@pytest.mark.parametrize(
    "path",
    ["/securitypolicies", "/circuitbreakerpolicies", "/baker/services/oven", "/namespaces/infra", "/namespaces/baker"],
)
def test_other_things_that_could_not_be_read(path: str) -> None:
    """What is no policy of anything here is not told: labels of Namespaces that nothing asks for, and Services."""
    whats = [thing.what for thing in described({path: FORBIDDEN}).unseen]
    assert not [what for what in whats if what.startswith("Namespace")]
    assert bool(whats) is not path.startswith("/namespaces/")


@pytest.mark.parametrize(
    ("status", "message", "reason", "remedy"),
    [
        (503, "", "the server is unavailable", "ask again"),
        (504, "", "the server took too long", "ask again, and allow more time for it: --request-timeout"),
        (406, "", "the server has no such form of it", "ask again; if that does not help, ask who runs the cluster"),
        (
            500,
            "conversion webhook for example.io/v1, Kind=TimeoutPolicy failed",
            "the conversion webhook of its definition failed",
            "tell whoever owns CustomResourceDefinition timeoutpolicies.example.io: its conversion webhook must answer",
        ),
    ],
)
def test_what_could_not_be_read_for_another_reason_says_what_to_do(
    status: int, message: str, reason: str, remedy: str
) -> None:
    answer = described({"timeoutpolicies": (status, message)})
    assert [(thing.reason, thing.remedy, thing.needs) for thing in answer.unseen] == [(reason, remedy, ())]
    assert "TimeoutPolicies could not be read." in object_headline(answer)


def test_an_object_that_is_not_there_is_not_found() -> None:
    """In kubectl's words, with the names that are there; also where others may not be listed."""
    error = failure({}, "bakr")
    assert isinstance(error, NotFoundError)
    assert (error.message, error.hint) == ('httproute "bakr" not found in namespace baker', "did you mean baker?")
    unlisted = failure({"/httproutes": FORBIDDEN}, "x")
    assert (unlisted.message, unlisted.hint) == ('httproute "x" not found in namespace baker', "")
    assert failure({}, "x", "grpcroute").hint == "there are: baker/stock"
    assert failure({}, "x", "tcproute").hint == "the cluster has no tcproute at all"


def test_an_object_that_may_not_be_read_is_not_said_to_be_missing() -> None:
    error = failure({"/httproutes/foo": FORBIDDEN}, "foo")
    assert isinstance(error, NotFoundError)
    assert (error.message, error.hint) == (
        "HTTPRoute baker/foo may not be read: forbidden",
        "Needs: get httproutes.gateway.networking.k8s.io in namespace baker",
    )


def test_an_object_that_could_not_be_read_says_so() -> None:
    error = failure({"/httproutes/foo": (500, "")}, "foo")
    assert (error.message, error.hint) == ("HTTPRoute baker/foo could not be read: the server failed", "ask again")


def test_a_type_that_is_not_served_is_none() -> None:
    """Although Kubernetes has it, or Gateway API; near names are those of the cluster."""
    error = failure({}, "x", "cronjob")
    assert isinstance(error, UsageError)
    assert error.message == 'there is no resource type "cronjob" in the cluster'
    assert failure({}, "x", "timeoutpolicie").hint.startswith("did you mean timeoutpolicies, timeoutpolicy")

    def meant(analysis: Analysis) -> object:
        return kinds_meant(analysis, "xlistenersets")

    with pytest.raises(UsageError, match="in the cluster"):
        Refusing(build.snapshot(), "x", {}).answer(lambda analysis: kinds_meant(analysis, "deployment"))
    assert Refusing(build.snapshot(), "x", {}).answer(meant)


def test_what_is_named_and_hidden_says_so() -> None:
    answer = described({"/gateways": FORBIDDEN, "/gateways/edge": FORBIDDEN})
    assert told(answer.unseen)[-1][:2] == ("Gateway infra/edge", "forbidden")
    assert not [diagnostic for diagnostic in answer.problems if diagnostic.severity == "error"]
    gateway = described(
        {"/gateways/edge": FORBIDDEN, "/gateways": FORBIDDEN}, NodeRef(build.ref("Gateway", "edge", "infra"))
    )
    assert object_headline(gateway).endswith(
        "Gateway infra/edge may not be read: forbidden; something in the cluster names it."
    )
