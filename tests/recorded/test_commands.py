"""The story on a cluster: as an admin, and as somebody who may not see RetryPolicies."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.property.test_files import without_places
from tests.recorded.commands import COMMANDS

if TYPE_CHECKING:
    from tests.recorded.conftest import Played, Result

pytestmark = [pytest.mark.vcr, pytest.mark.block_network]
as_admin = pytest.mark.default_cassette("admin")
as_baker = pytest.mark.default_cassette("baker")
# What people do not see of the manifests, since a server decides it: when an object was created.
OF_THE_SERVER = '"created": '


def document(result: Result) -> Any:  # noqa: ANN401 (any JSON)
    """The answer of a command that has one."""
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
    """Its definitions say that no controller has looked at a Gateway so far; manifests have no status."""
    found = document(played("status -A -o json"))
    conditions = {
        (item["object"]["name"], each["type"], each["reported"]["status"], each["reported"]["reason"])
        for item in found["items"]
        for each in item["conditions"]
        if each["reported"]
    }
    assert found["complete"]
    assert conditions == {
        (name, sort, "Unknown", "Pending") for name in ("edge", "internal") for sort in ("Accepted", "Programmed")
    }


@as_baker
def test_what_is_hidden_is_said_with_what_would_show_it(played: Played) -> None:
    """Everything else is as it was: the timeouts of the route, and what does not apply to it."""
    found = document(played("describe httproute/baker -n baker -o json"))
    assert not found["complete"]
    assert {each["name"] for each in found["policies"]} == {"slow", "strict"}
    settings = [
        (each["scope"], setting["field"], setting["value"]) for each in found["inForce"] for setting in each["settings"]
    ]
    assert settings == [("listener http only", "request", "30s"), ("listener https only", "request", "10s")]
    assert [each["reason"] for each in found["notApplying"]] == ["NoMatchingListenerHostname"]
    hidden = [each for each in found["unseen"] if "RetryPolic" in each["what"]]
    assert [each["reason"] for each in hidden] == ["forbidden"]
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
    """And say so."""
    found = document(played("get policies -A -o json"))
    kinds = {each["policy"]["kind"] for each in found["items"]}
    assert kinds == {"TimeoutPolicy", "CircuitBreakerPolicy", "SecurityPolicy", "BackendTLSPolicy"}
    assert not found["complete"]
    assert any("RetryPolic" in each["what"] for each in found["unseen"])


@as_baker
def test_a_kind_is_known_by_its_definition(played: Played) -> None:
    """Although none of its policies may be read."""
    found = document(played("explain retrypolicy -o json"))
    assert (found["class"], found["knownBy"], found["policies"]) == ("inherited", "label", 0)
    assert not found["complete"]


@as_baker
@pytest.mark.parametrize(
    "words", ["blast-radius retrypolicy/resilience -n baker", "describe retrypolicy/resilience -n baker"]
)
def test_a_hidden_object_has_no_answer(played: Played, words: str) -> None:
    """Nor anything on standard output."""
    code, out, err = played(words)
    assert (code, out) == (3, "")
    assert "retrypolicy" in err.lower()
