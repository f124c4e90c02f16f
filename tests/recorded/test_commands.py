"""Commands that play back cassettes give the answers of the time, and cassettes hold nothing secret."""

import json
from typing import Any

import pytest

from kubectl_policy.sources.cluster.access import ClusterOptions, access_to
from kubectl_policy.sources.cluster.connection import METADATA_LIST, Connection
from tests.property.test_files import without_places
from tests.recorded.cassettes import COMMANDS, FOLDER, SERVER, USERS, scrubbed
from tests.recorded.conftest import NOT_RECORDED, Played, Result

pytestmark = [pytest.mark.vcr, pytest.mark.block_network]
as_admin = pytest.mark.default_cassette("admin")
as_baker = pytest.mark.default_cassette("baker")
# What people do not see of the manifests, since a server decides it: when an object was created.
OF_THE_SERVER = '"created": '


def document(result: Result) -> Any:  # noqa: ANN401 (any JSON)
    assert result.code == 0, result.err
    return json.loads(result.out)


def comparable(result: Result) -> list[str]:
    """The lines of an answer, but for where things were read and when they were created."""
    text = json.dumps(json.loads(without_places(json.dumps(document(result)))), indent=1)
    return [line for line in text.splitlines() if OF_THE_SERVER not in line]


@as_admin
@pytest.mark.parametrize("words", [words for words in COMMANDS if not words.startswith("status")])
def test_who_may_see_all_gets_the_answers_of_the_manifests(played: Played, words: str) -> None:
    """As the server has no more and no less than they say."""
    offline = "--offline fixtures/bakery" + ("" if words.startswith("explain") else " --complete")
    assert comparable(played(f"{words} -o json")) == comparable(played(f"{words} -o json {offline}"))


@as_admin
def test_status_is_what_the_server_has(played: Played) -> None:
    """No controller: the server itself filled in the conditions of Gateways, by their definitions."""
    found = document(played("status -A -o json"))
    assert found["complete"]
    assert found["headline"].startswith("Nothing to compare: no controller has reported on any of ")
    assert [item["object"]["name"] for item in found["items"] if item["object"]["kind"] == "Gateway"] == [
        "edge",
        "internal",
    ]
    assert not any(item["hasStatus"] for item in found["items"])


@as_baker
def test_what_is_hidden_is_said_with_what_would_show_it(played: Played) -> None:
    """Everything else is as it was: the timeouts of the route, and what does not apply to it."""
    found = document(played("describe httproute/baker -n baker -o json"))
    assert not found["complete"]
    assert {policy["name"] for policy in found["policies"]} == {"slow", "strict"}
    settings = [
        (each["scope"], setting["field"], setting["value"]) for each in found["inForce"] for setting in each["settings"]
    ]
    assert settings == [("listener http only", "request", "30s"), ("listener https only", "request", "10s")]
    assert [policy["reason"] for policy in found["notApplying"]] == ["NoMatchingListenerHostname"]
    hidden = [blind_spot for blind_spot in found["unseen"] if "RetryPolic" in blind_spot["what"]]
    assert [name["reason"] for name in hidden] == ["forbidden"]
    assert "list retrypolicies.example.io in namespace baker" in hidden[0]["needs"]


@as_baker
def test_people_read_what_is_hidden(played: Played) -> None:
    """In the first sentence, and at the end with the permission."""
    code, out, _ = played("describe httproute/baker -n baker")
    text = " ".join(out.split())
    assert code == 0
    assert text.startswith("HTTPRoute baker/baker is affected by 2 policies, as far as could be read: RetryPolicies")
    assert "list retrypolicies.example.io in" in text
    assert "attempts" not in text


@as_baker
def test_lists_have_all_but_what_is_hidden(played: Played) -> None:
    found = document(played("get policies -A -o json"))
    kinds = {item["policy"]["kind"] for item in found["items"]}
    assert kinds == {"TimeoutPolicy", "CircuitBreakerPolicy", "SecurityPolicy", "BackendTLSPolicy"}
    assert not found["complete"]
    assert any("RetryPolic" in blind_spot["what"] for blind_spot in found["unseen"])


@as_baker
def test_a_kind_is_known_by_its_definition(played: Played) -> None:
    found = document(played("explain retrypolicy -o json"))
    assert (found["class"], found["knownBy"], found["policies"]) == ("inherited", "label", 0)
    assert not found["complete"]


@as_baker
@pytest.mark.parametrize(
    "words", ["blast-radius retrypolicy/resilience -n baker", "describe retrypolicy/resilience -n baker"]
)
def test_a_hidden_object_has_no_answer(played: Played, words: str) -> None:
    code, out, err = played(words)
    assert (code, out) == (3, "")
    assert "retrypolicy" in err.lower()


DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


@pytest.fixture(params=USERS)
def interactions(request: pytest.FixtureRequest) -> list[dict[str, Any]]:
    cassette: dict[str, Any] = json.loads((FOLDER / f"{request.param}.json").read_text("utf-8"))
    return list(cassette["interactions"])


def test_there_is_one_for_each_user() -> None:
    assert sorted(file.stem for file in FOLDER.iterdir()) == sorted(USERS)


def test_requests_are_kept_without_who_asked(interactions: list[dict[str, Any]]) -> None:
    """Neither credentials nor the address of any machine, and nothing that writes."""
    for interaction in interactions:
        asked, answer = interaction["request"], interaction["response"]
        assert asked["method"] == "GET"
        assert asked["uri"].startswith(f"{SERVER}/api")
        assert [*asked["headers"]] == ["Accept"]
        assert [*answer["headers"]] == ["Content-Type"]
    text = json.dumps(interactions)
    assert not [word for word in ("Authorization", "Bearer", "127.0.0.1", "localhost") if word in text]


def test_nothing_is_kept_that_changes_for_nothing(interactions: list[dict[str, Any]]) -> None:
    """A new recording of the same answers is the same file."""
    for interaction in interactions:
        body = interaction["response"]["body"]
        assert scrubbed(body) == body
    assert "managedFields" not in json.dumps(interactions)


def test_what_is_made_up_anew_is_scrubbed() -> None:
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
    for interaction in interactions:
        if "/secrets" in interaction["request"]["uri"]:
            assert not {"data", "stringData"} & interaction["response"]["body"].keys()
            assert "PartialObjectMetadata" in interaction["request"]["headers"]["Accept"][0]


@pytest.mark.vcr
@pytest.mark.block_network
@pytest.mark.default_cassette("admin")
def test_what_is_not_recorded_fails(played: Played) -> None:
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
