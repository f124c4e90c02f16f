"""Worlds written down in ways that are hard to read: the same objects, with what looks like others between them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, cast

from hypothesis import strategies as st

from kubectl_policy.model import Json, Resource


class Manner(NamedTuple):
    """The style of a document; most that are written in the simplest one are recognised by their shapes."""

    layout: str = "block"
    keys: str = "plain"
    texts: str = "plain"
    order: str = "usual"
    extra: str = ""
    above: str = ""


_SIMPLE: Final = Manner()
_MANNERS: Final = (
    *[_SIMPLE] * 8,
    Manner(layout="flow"),
    Manner(layout="rows"),
    Manner(layout="json"),
    Manner(layout="indented json"),
    Manner(keys="single"),
    Manner(keys="double"),
    Manner(keys="escaped"),
    Manner(texts="double"),
    Manner(texts="single"),
    Manner(texts="escaped"),
    Manner(texts="folded"),
    Manner(order="kind last"),
    Manner(order="metadata last"),
    Manner(extra="merged"),
    Manner(extra="merged", texts="double"),
    Manner(extra="anchors"),
    Manner(extra="tags"),
    Manner(extra="block scalar"),
    Manner(extra="repeated"),
    Manner(above="# parentRefs: [{name: g0, namespace: ns}]\n"),
    Manner(above="\n# by: r0\n\n"),
    Manner(layout="rows", keys="double", texts="single", order="kind last"),
)
_AT_THE_END: Final = {
    "block scalar": ("note: |", "  kind: Gateway", "  name: g0", "more: >-", "  r0", "", "  s0"),
    "repeated": ("note: once", "note: twice"),
}
# What stands between documents: nothing that is read as an object, or one that nobody can name.
_BETWEEN: Final = (
    *[""] * 6,
    "\n",
    "# kind: Gateway, name: g0\n",
    "a: [\n",
    "apiVersion: v1\nkind: Service\nmetadata: {name: s0, namespace: ns}\nspec: {ports: [\n",
    "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: {{ .Values.name }}}\n",
    "apiVersion: example.com/v1\nkind: K\nmetadata: {generateName: k}\nspec: {targetRef: {kind: Service, name: s0}}\n",
    "apiVersion: v1\nkind: Service\nmetadata: {name: S0, namespace: ns}\n",
    "apiVersion: v1\nkind: Service\nmetadata: {name: '${S}', namespace: other}\nspec: {ports: [{port: 80}]}\n",
    "kind: Gateway\nmetadata:\n  name: g0\n",
    "just text\n",
    '{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns"}}\n{"a": 1}\n',
)
_MARKERS: Final = (*["---\n"] * 6, "--- # another: one\n", "---\n---\n", "...\n---\n", "---   \n")
_ENCODINGS: Final = (*["utf-8"] * 4, "utf-8-sig", "utf-16")


@st.composite
def files(draw: st.DrawFn, resources: Sequence[Resource]) -> Mapping[str, bytes]:
    """Files with some objects in them, and with more that are like these, in other places or under the same names."""
    objects: list[Json] = [dict(resource.raw) for resource in resources]
    if not draw(st.integers(0, 2)):
        objects += [_elsewhere(each, place) for place, each in enumerate(objects)]
    if not draw(st.integers(0, 3)):
        objects.append(draw(st.sampled_from(objects)))
    several = draw(st.sampled_from((1, 1, 2)))
    found: dict[str, bytes] = {}
    for place in range(several):
        text = draw(_texts(objects[place::several]))
        if not draw(st.integers(0, 4)):
            text = text.replace("\n", "\r\n")
        found[f"{place}.yaml"] = text.encode(draw(st.sampled_from(_ENCODINGS)))
    return found


def _elsewhere(value: Json, place: int) -> dict[str, Json]:
    """The same object under another name."""
    raw = cast("dict[str, Json]", value)
    metadata = cast("dict[str, Json]", raw["metadata"])
    return {**raw, "metadata": {**metadata, "name": f"{metadata['name']}-{place}"}}


@st.composite
def _texts(draw: st.DrawFn, objects: Sequence[Json]) -> str:
    listed = draw(st.sampled_from((0, 0, 0, 1, 2, 3)))
    written = [_written(each, draw(st.sampled_from(_MANNERS))) for each in objects[listed:]]
    if listed:
        inner: Json = {"apiVersion": "v1", "kind": "List", "items": list(objects[:listed])}
        outer: Json = {"apiVersion": "v1", "kind": "List", "metadata": {"name": "l"}, "items": [inner]}
        written.insert(draw(st.integers(0, len(written))), _written(outer, draw(st.sampled_from(_MANNERS))))
    text = draw(st.sampled_from(("", "", "---\n", "# licence\n---\n", "%YAML 1.1\n---\n")))
    for document in written:
        text += document + draw(st.sampled_from(_MARKERS))
        between = draw(st.sampled_from(_BETWEEN))
        text += f"{between}---\n" if between else ""
    return text + draw(st.sampled_from(("# end\n", "", "a: 1")))


def _written(value: Json, manner: Manner) -> str:
    fields = dict(cast("dict[str, Json]", value))
    if manner.order != "usual":
        last = manner.order.removesuffix(" last")
        fields[last] = fields.pop(last)
    if manner.layout in {"json", "indented json"}:
        return json.dumps(fields, indent=2 if manner.layout == "indented json" else None) + "\n"
    lines = [line for key, inside in fields.items() for line in _field(key, inside, manner)]
    return manner.above + "\n".join([*lines, *_AT_THE_END.get(manner.extra, ())]) + "\n"


def _field(key: str, value: Json, manner: Manner) -> list[str]:
    """The lines of a field of an object."""
    name = _quoted(key, manner.keys)
    if isinstance(value, dict) and key == "metadata" and manner.extra == "merged":
        rest = {each: text for each, text in value.items() if each != "name"}
        inside = f"{{<<: *rest, name: {_flow(value['name'], manner)}}}"
        return [f"x-rest: &rest {_flow(rest, manner)}", f"{name}: {inside}"]
    if isinstance(value, dict) and manner.extra == "anchors":
        return [f"{name}: &{key} {_flow(value, manner)}"]
    if isinstance(value, str) and manner.extra == "tags":
        return [f"{name}: !!str {_flow(value, manner)}"]
    if manner.layout == "flow" or not isinstance(value, dict | list):
        return [f"{name}: {_flow(value, manner)}"]
    return [f"{name}:", *_block(value, manner, "  ")]


def _block(value: Json, manner: Manner, indent: str) -> list[str]:
    """The lines of a mapping or a list; one in which there is nothing is on one line, and so is what `rows` are of."""
    if not isinstance(value, dict | list) or not value or (manner.layout == "rows" and not _holds_more(value)):
        return [indent + _flow(value, manner)]
    lines: list[str] = []
    for key, inside in value.items() if isinstance(value, dict) else enumerate(value):
        head = f"{_quoted(key, manner.keys)}:" if isinstance(key, str) else "-"
        first, *rest = _block(inside, manner, indent + "  ")
        if isinstance(inside, dict | list) and (rest or isinstance(key, str)) and first.strip()[:1] not in "[{":
            lines += [indent + head, first, *rest] if isinstance(key, str) else [f"{indent}- {first.strip()}", *rest]
        else:
            lines.append(f"{indent}{head} {first.strip()}")
    return lines


def _holds_more(value: Json) -> bool:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(isinstance(each, dict | list) for each in inside)


def _flow(value: Json, manner: Manner) -> str:
    if isinstance(value, dict):
        fields = [f"{_quoted(key, manner.keys)}: {_flow(inner, manner)}" for key, inner in value.items()]
        return "{" + ", ".join(fields) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(inner, manner) for inner in value) + "]"
    return _quoted(value, manner.texts) if isinstance(value, str) else json.dumps(value)


def _quoted(text: str, way: str) -> str:
    if way == "single":
        return f"'{text}'"
    if way == "escaped":
        return '"' + "".join(f"\\u{ord(letter):04x}" if at % 2 else letter for at, letter in enumerate(text)) + '"'
    if way == "folded" and " " not in text:
        return f'"\\\n        {text}"' if text else '""'
    simple = text.replace("-", "").replace(".", "").replace("/", "").isalnum() and text[:1].isalpha() and text != "y"
    return text if way == "plain" and simple else json.dumps(text)
