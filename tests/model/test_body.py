"""Bodies of objects: what is kept of them, what is parsed again, and whether a word may stand in them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from kubectl_policy.model.body import Body, ObjectText
from kubectl_policy.model.fields import labels_of, same_json, text_at

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import Json

_METADATA: dict[str, Json] = {"name": "baker", "labels": {"team": "a"}}
_LONG: dict[str, Json] = {**_METADATA, "annotations": {"note": "é long"}}


class _Loader:
    """Parses JSON, and counts how often."""

    def __init__(self) -> None:
        """Start at 0."""
        self.calls = 0

    def __call__(self, text: str) -> Mapping[str, Json]:
        """Parse an object."""
        self.calls += 1
        content: Mapping[str, Json] = json.loads(text)
        return content


def _deferred(content: Mapping[str, Json]) -> tuple[Body, _Loader]:
    loader = _Loader()
    text = json.dumps(content)
    return Body.deferred(content, ObjectText(f"# {text}\n", loader), 2, 2 + len(text)), loader


def _searched(text: str) -> Body:
    return Body({}, ObjectText(f"before {text} after", lambda _: {}), 7, 7 + len(text))


def test_a_body_is_the_mapping_that_it_was_made_of() -> None:
    """Whether its content was kept or is parsed again."""
    content: dict[str, Json] = {"apiVersion": "v1", "kind": "Service", "metadata": _LONG, "spec": {"ports": []}}
    deferred, loader = _deferred(content)

    for body in (Body(content), deferred):
        assert (len(body), list(body), body.get("status", 1)) == (4, [*content], 1)
        assert repr(body) == repr(content)
        assert body["spec"] == {"ports": []}
        assert "status" not in body
        assert "spec" in body
        assert same_json(body, content)
        with pytest.raises(KeyError):
            body["status"]
    assert deferred == Body(content)
    assert loader.calls == 1


@pytest.mark.parametrize("metadata", [_METADATA, _LONG])
def test_the_head_of_a_body_is_not_parsed_again(metadata: dict[str, Json]) -> None:
    """Its kind, name and labels; what is long in metadata is parsed when it is asked for."""
    body, loader = _deferred({"kind": "Service", "metadata": metadata, "spec": {}})

    assert (body["kind"], body.get("kind"), text_at(body, "metadata.name")) == ("Service", "Service", "baker")
    assert labels_of(body) == {"team": "a"}
    assert "metadata" in body
    assert loader.calls == 0
    assert body["metadata"] == metadata


def test_metadata_that_was_asked_for_before_its_body_was_parsed_is_complete() -> None:
    """It knows the body that it belongs to."""
    body, _ = _deferred({"kind": "Service", "metadata": _LONG})
    metadata = body["metadata"]
    assert body.content

    assert metadata == _LONG


def test_metadata_is_empty_once_its_text_has_none() -> None:
    """A loader may find something else, which must not break anything."""
    body = Body.deferred({"metadata": _LONG}, ObjectText("", lambda _: {"metadata": None}), 0, 0)

    assert text_at(body["metadata"], "annotations.note", "none") == "none"


def test_words_are_looked_for_in_the_text_of_an_object_alone() -> None:
    """A word of the text around it is none of its own."""
    body = _searched("name: baker")

    assert body.may_contain("bake")
    assert not body.may_contain("before")
    assert not body.may_contain("after")


@pytest.mark.parametrize(
    "text",
    [r'"b\x61ker"', r'"b\u0061ker"', r'"b\U00000061ker"', '"ba\\\nker"', '"ba\\\r\nker"', "!!binary YmFrZXI="],
)
def test_what_may_spell_a_word_without_its_letters_may_contain_it(text: str) -> None:
    """Escapes, lines that go on, and base64."""
    assert _searched(text).may_contain("baker")
    assert not Body({}, ObjectText(f"name: a\n{text}", lambda _: {}), 0, 8).may_contain("baker")


def test_a_text_may_contain_whatever_is_written_in_another_form() -> None:
    """Words with spaces, which may be line breaks, or with quotes, which may be doubled; slashes may be escaped."""
    body = _searched("note: one\n  two")

    assert body.may_contain("one two")
    assert body.may_contain("it's")
    assert _searched(r'"a\/b"').may_contain("a/b")
    assert not body.may_contain("a/b")


def test_words_are_looked_for_in_all_strings_of_an_object_without_a_text() -> None:
    """Keys and values, at any depth, and nothing else."""
    body = Body({"spec": {"names": ["baker", {"key": 12345}]}})

    assert body.may_contain("baker")
    assert body.may_contain("key")
    assert not body.may_contain("12345")
