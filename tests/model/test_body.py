"""Bodies of objects: what is kept of them, what is decoded, and whether a word stands in them."""

from __future__ import annotations

import math

import msgspec
import pytest

from kubectl_policy.model import Json
from kubectl_policy.model.body import Body, encoded, text_of
from kubectl_policy.model.fields import labels_of, same_json, text_at

_METADATA: dict[str, Json] = {"name": "baker", "labels": {"team": "a"}}
_LONG: dict[str, Json] = {**_METADATA, "annotations": {"note": "é long"}}
_SERVICE: dict[str, Json] = {"apiVersion": "v1", "kind": "Service", "metadata": _LONG, "spec": {"ports": [1, None]}}


@pytest.fixture(name="decoded")
def decoded_texts(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    texts: list[bytes] = []

    def decode(text: bytes) -> Json:
        texts.append(text)
        content: Json = decode_json(text)
        return content

    decode_json = msgspec.json.decode
    monkeypatch.setattr(msgspec.json, "decode", decode)
    return texts


@pytest.mark.parametrize("body", [Body(_SERVICE), Body.deferred(_SERVICE)])
def test_a_body_is_the_mapping_that_it_was_made_of(body: Body) -> None:
    assert (len(body), list(body), body.get("status", 1)) == (4, [*_SERVICE], 1)
    assert body["spec"] == {"ports": [1, None]}
    assert "status" not in body
    assert "spec" in body
    assert same_json(body, _SERVICE)
    assert body == Body(_SERVICE)
    assert repr(body) == repr(_SERVICE)
    assert body.text == text_of(body) == text_of(_SERVICE)
    with pytest.raises(KeyError):
        body["status"]


def test_a_body_is_decoded_once(decoded: list[bytes]) -> None:
    body = Body.deferred({"kind": "Service", "spec": {}})
    assert not decoded
    assert body["spec"] == body["spec"] == {}
    assert len(decoded) == 1


@pytest.mark.parametrize("metadata", [_METADATA, _LONG])
def test_the_head_of_a_body_is_not_decoded(decoded: list[bytes], metadata: dict[str, Json]) -> None:
    """Its kind, name and labels; what is long in metadata is decoded when it is asked for."""
    body = Body.deferred({"kind": "Service", "metadata": metadata, "spec": {}})

    assert (body["kind"], body.get("kind"), text_at(body, "metadata.name")) == ("Service", "Service", "baker")
    assert labels_of(body) == {"team": "a"}
    assert text_at(body, "metadata.uid", "none") == "none"
    assert "metadata" in body
    assert not decoded
    assert body["metadata"] == metadata


def test_metadata_that_was_asked_for_before_its_body_was_decoded_is_complete() -> None:
    body = Body.deferred({"kind": "Service", "metadata": _LONG})
    metadata = body["metadata"]
    assert text_at(metadata, "annotations.note") == "é long"
    assert metadata == _LONG


@pytest.mark.parametrize("value", ["\ud800", math.inf, -math.inf])
def test_what_json_cannot_hold_is_kept(value: Json) -> None:
    """Halves of surrogate pairs, and numbers without an end."""
    assert Body.deferred({"spec": value})["spec"] == value


def test_words_are_looked_for_in_keys_and_strings() -> None:
    """At any depth, and as they are written."""
    for make in (Body, Body.deferred):
        body = make({"spec": {"names": ["baker", {"key": 'the "é" one\n'}]}})
        assert all(encoded(word) in body.text for word in ("bake", "key", 'e "é" one\n', "names"))
        assert not any(encoded(word) in body.text for word in ("x\n", "maker"))


def test_what_is_no_label_is_kept_as_it_is() -> None:
    """Labels that are no strings, and fields of metadata that are neither strings nor mappings."""
    metadata: dict[str, Json] = {"name": "a", "generation": 1, "labels": {"n": 1}, "finalizers": ["f"]}
    body = Body.deferred({"kind": "A", "metadata": metadata, "spec": {}})
    assert body["metadata"] == metadata
    assert Body.deferred({"kind": "A", "metadata": None}).get("metadata", 1) is None
    assert Body.deferred({"kind": "A", "metadata": []})["metadata"] == []
