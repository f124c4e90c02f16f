"""Cassettes hold what answers need, and nothing that should not be in a repository; what they lack is not made up."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from kubectl_policy.sources.cluster.access import ClusterOptions, access_to
from kubectl_policy.sources.cluster.connection import METADATA_LIST, Connection
from tests.recorded.cassettes import FOLDER, SERVER, scrubbed
from tests.recorded.commands import USERS
from tests.recorded.conftest import NOT_RECORDED

if TYPE_CHECKING:
    from tests.recorded.conftest import Played

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


@pytest.fixture(params=USERS)
def interactions(request: pytest.FixtureRequest) -> list[dict[str, Any]]:
    """What is in a cassette."""
    cassette: dict[str, Any] = json.loads((FOLDER / f"{request.param}.json").read_text("utf-8"))
    return list(cassette["interactions"])


def test_there_is_one_for_each_user() -> None:
    """And no other, which nothing would play."""
    assert sorted(file.stem for file in FOLDER.iterdir()) == sorted(USERS)


def test_requests_are_kept_without_who_asked(interactions: list[dict[str, Any]]) -> None:
    """Neither credentials nor the address of any machine, and nothing that writes."""
    for each in interactions:
        asked, answer = each["request"], each["response"]
        assert asked["method"] == "GET"
        assert asked["uri"].startswith(f"{SERVER}/api")
        assert [*asked["headers"]] == ["Accept"]
        assert [*answer["headers"]] == ["Content-Type"]
    text = json.dumps(interactions)
    assert not [word for word in ("Authorization", "Bearer", "127.0.0.1", "localhost") if word in text]


def test_nothing_is_kept_that_changes_for_nothing(interactions: list[dict[str, Any]]) -> None:
    """A new recording of the same answers is the same file."""
    for each in interactions:
        body = each["response"]["body"]
        assert scrubbed(body) == body
    assert "managedFields" not in json.dumps(interactions)


def test_what_is_made_up_anew_is_scrubbed() -> None:
    """In any depth; what an answer may depend on is kept."""
    metadata: dict[str, Any] = {
        "name": "a",
        "uid": "b7",
        "managedFields": [{}],
        "resourceVersion": "71",
        "generation": 2,
    }
    times = {"creationTimestamp": "2026-11-23T07:57:41Z", "message": "since 2026-11-23T07:57:41.123Z"}
    found: Any = scrubbed(
        {"items": [{"metadata": {**metadata, **times}, "spec": {"clusterIP": "10.0.3.4", "uid": {}}}]}
    )
    assert found["items"] == [
        {
            "metadata": {
                "name": "a",
                "uid": "00000000-0000-4000-8000-000000000000",
                "resourceVersion": "1",
                "generation": 2,
                "creationTimestamp": "2026-01-01T00:00:00Z",
                "message": "since 2026-01-01T00:00:00Z",
            },
            "spec": {"clusterIP": "10.0.0.10", "uid": {}},
        }
    ]


def test_secrets_are_names_alone(interactions: list[dict[str, Any]]) -> None:
    """Whoever may read them."""
    for each in interactions:
        if "/secrets" in each["request"]["uri"]:
            assert not {"data", "stringData"} & each["response"]["body"].keys()
            assert "PartialObjectMetadata" in each["request"]["headers"]["Accept"][0]


@pytest.mark.vcr
@pytest.mark.block_network
@pytest.mark.default_cassette("admin")
def test_what_is_not_recorded_fails(played: Played) -> None:
    """It is no answer, and nobody else is asked."""
    with pytest.raises(pytest.fail.Exception, match=r"not recorded: .*/namespaces/nowhere/.*make record"):
        played("describe httproute/missing -n nowhere")


@pytest.mark.vcr
@pytest.mark.block_network
@pytest.mark.default_cassette("admin")
def test_another_form_of_an_answer_is_another_request() -> None:
    """Metadata of all definitions was recorded, and whole definitions were not."""
    connection = Connection(access_to(ClusterOptions()))
    assert connection.list(DEFINITIONS, accept=METADATA_LIST).items
    with pytest.raises(NOT_RECORDED):
        connection.list(DEFINITIONS)
