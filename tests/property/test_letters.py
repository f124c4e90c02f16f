"""The law that what is told by letters is what a pattern would say, which takes longer to compile than to ask once."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from kubectl_policy.model import FieldPath, GroupKind
from kubectl_policy.model.kinds import why_impossible
from kubectl_policy.model.unknown import is_unknown, is_unknown_hostname
from kubectl_policy.text.documents import spans_of

NAMES = st.text(st.sampled_from("aZ09-._*é²ß_ \n"), max_size=6)
LINES = st.text(st.sampled_from("-\n \t\r#%.a"), max_size=30)


@given(NAMES)
def test_names(name: str) -> None:
    """Those that the API could hold, and what a hostname is made of."""
    could_be = re.fullmatch(r"[a-zA-Z0-9*]([-a-zA-Z0-9.*]*[a-zA-Z0-9*])?", name)
    assert is_unknown(name) == bool(name and (name.isupper() or not could_be))
    assert is_unknown_hostname(name) == (not re.fullmatch(r"[-.*a-zA-Z0-9]*", name))


@given(NAMES, NAMES)
@example("a.b", "A" * 63)
@example("", "A" * 64)
def test_kinds(group: str, kind: str) -> None:
    label = "[a-z0-9]([a-z0-9-]*[a-z0-9])?"
    possible = (
        re.fullmatch("[A-Za-z]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?", kind),
        re.fullmatch(rf"({label}(\.{label})*)?", group),
    )
    assert (not why_impossible(GroupKind(group, kind))) == all(possible)


@given(NAMES)
def test_keys(key: str) -> None:
    assert str(FieldPath(("a", key))) == (f"a.{key}" if re.fullmatch(r"[\w-]+", key) else f'a["{key}"]')


@given(LINES)
@example("---")
@example("--- a\n---\n----\n---\t\n---")
def test_markers(text: str) -> None:
    """Where a text is cut into documents: nowhere else than above a marker, or above directives in front of one."""
    markers = [found.start() for found in re.finditer(r"(?m)^---(?=[ \t\r\n]|\Z)", text)]
    parts = [text[span.start : span.end] for span in spans_of(text)]
    assert "".join(parts) == text
    if len(parts) == len(markers):
        # There is no part above a marker at the beginning.
        parts.insert(0, "")
    assert len(parts) == len(markers) + 1
    ends = [sum(map(len, parts[: count + 1])) for count in range(len(markers))]
    for end, marker in zip(ends, markers, strict=True):
        between = text[end:marker].split("\n")
        assert end <= marker
        assert end == marker or between[0].startswith("%")
        assert all(not line or line[0] == "%" or re.fullmatch(r"[ \t\r]*(#.*)?", line) for line in between)
