"""The law that what is recognised by its shape is what is read of it in full: values, their order and their lines."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.property.examples import examples
from tests.text.recognising import recognised, things

# Scalars in all the ways that somebody may think of, of which many are none where they stand.
_WRITTEN: Final = (
    "a|ab|a-b|a.b|a_b|a/b|a b|a  b|a: b|a:b|a:|a #b|a#b|#a|a,b|a, b|a]|[a]|{a: b}|{a}|a}|A|AB|A-B|A_B|A B|A/B|aB|Ab|"
    "true|True|TRUE|yes|no|on|off|y|n|Y|null|Null|~|.|..|...|-|--|---|- a|-a|a-|? a|?a|: a|:a|*a|&a|&a b|!a|!!str a|"
    "'a'|'a b'|'a''b'|'a|a'b|'*.A'|'5'|''|>|@a|`a|%a|"
    '"a"|"a b"|"a\\tb"|"\\x61"|"a|"*.a"|"A_B"|"A"|"A B"|"true"|""|'
    "0|1|10|01|08|-1|+1|1.0|1.5|.5|5.|1e3|1E3|1_0|0x1|0X1|0b1|0o7|5s|5e|5E|5x|1m30s|1:30|2026-01-01|.inf|.nan|NaN|"
    "9223372036854775807|9223372036854775808|999999999999999999|1000000000000000000|${A}|$(a)|{{ a }}|{{a}}|<a>|ENC[a]|"
    "é|aé|a\u2028b|a\x85b|a\xa0b|a\tb|a\t|\ta| a|a |\ufeffa|\x01|\x02|\x7f|"
    "a=b|=|==|a@b|a(b)|/|/a|/a/|//|a~|~a|a+b|a?b|a;b"
)
_SCALARS: Final = ("|", "", *_WRITTEN.split("|"))
_PLACES: Final = (
    "a: {}\nb: 1\n",
    "a:\n- {}\n- b\n",
    "a: {{b: {}, c: d}}\n",
    "a: {{c: d, b: {}}}\n",
    "a: [{}, c]\n",
    "a: [c, {}]\n",
    'a: "{}"\nb: c\n',
    "a: '{}'\n",
    'a: {{b: "{}", c: d}}\n',
    "# {}\na: 1\n",
    "a: b # {}\n",
    "# x: {}\na: 1\n",
    "a: |\n  {}\nb: 1\n",
    "a: b\n  {}\n",
    "{}: b\n",
    "a: {{{}: b}}\n",
    'a: {{b: "}}"\n , c: {}\n }} # {{\nd: 1\n',
    "kind: {}\n",
    "a:\n- - {}\n",
)


@settings(max_examples=examples(2))
@given(order=st.permutations(_SCALARS))
@pytest.mark.parametrize("place", _PLACES)
def test_no_scalar_is_taken_for_another_one(place: str, order: list[str]) -> None:
    """Whatever was recognised before it, and in whatever place."""
    recognised(things(*(place.format(scalar) for scalar in order)))


@settings(max_examples=examples(5))
@given(order=st.permutations(_SCALARS))
def test_no_name_is_taken_for_another_one(order: list[str]) -> None:
    """Nor a namespace."""
    heads = [f"apiVersion: v1\nkind: Thing\nmetadata:\n  name: {scalar}\n  namespace: {scalar}\n" for scalar in order]
    recognised("---\n".join(heads))


_BODY: Final = """\
# Source: charts/web/templates/route.yaml
spec:
  parentRefs: [{name: gw, "namespace": infra, sectionName: 'http'}]
  hostnames:
  - "*.example.com"
  - www.example.com   # and more
  rules:
  - matches: [{path: {type: PathPrefix, value: /}}, {}]
    backendRefs:
    - name: web
      port: 8080
      weight: 1

  note: >-
    folded: text
    of two lines
  timeout: 5s
"""
_EDITS: Final = st.tuples(
    st.integers(0, len(_BODY)),
    st.integers(0, 2),
    st.one_of(
        st.sampled_from(" \n\t:-#,{}[]'\"|>&*!%@?~._/=\\aA0e\x85\u2028\x01\ufeff"),
        st.sampled_from(["\n---\n", "  ", "${"]),
    ),
)


@settings(max_examples=examples(50))
@given(edits=st.lists(st.lists(_EDITS, max_size=2), min_size=1, max_size=4))
def test_no_edit_goes_unnoticed(edits: list[list[tuple[int, int, str]]]) -> None:
    """Documents that are like one of a known shape but for a few characters."""
    bodies = [_BODY]
    for each in edits:
        body = _BODY
        for at, left_out, put in each:
            body = body[:at] + put + body[at + left_out :]
        bodies += [body, _BODY]
    recognised(things(*bodies))
