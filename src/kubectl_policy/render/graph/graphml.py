"""A picture in GraphML, for yEd, Gephi and the like: the nodes and links of the document, with values that it can hold.

A name is text here, as in every format for people: what no XML may hold is written out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from kubectl_policy.model import GroupKind, NodeRef, ObjectRef, Origin
from kubectl_policy.render.graph.documents import GRAPH, node_id
from kubectl_policy.render.graph.words import match_words
from kubectl_policy.render.output.escape import uncommanding, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import networkx as nx

    from kubectl_policy.model import Json
    from kubectl_policy.questions.graph.picture import Picture

_Item: TypeAlias = "dict[str, Any]"
# XML is in UTF-8 where it does not say otherwise; some readers refuse to be told, of what they are given as text.
_DECLARATION: Final = '<?xml version="1.0"?>'


def graph_graphml(picture: Picture) -> str:
    """The picture in GraphML, with what could not be seen in the data of the graph."""
    import networkx as nx  # noqa: PLC0415 (the other formats do without)

    return "\n".join([_DECLARATION, *nx.generate_graphml(_graph(GRAPH(picture).plain())), ""])


def _graph(document: Mapping[str, Any]) -> nx.MultiDiGraph[str]:
    """The graph of a document, of which each value is text, a number or a truth value."""
    import networkx as nx  # noqa: PLC0415 (see above)

    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    graph.graph.update(_attributes({**document["graph"], "unseen": document["unseen"]}))
    ids = _shown_ids([node["id"] for node in document["nodes"]])
    for node in document["nodes"]:
        graph.add_node(ids[node["id"]], **_attributes(_without(node, "id")))
    # A key tells the links between two nodes apart; here the ids of all links in the file have to differ.
    for number, link in enumerate(document["links"], 1):
        facts = _attributes(_without(link, "source", "target", "key"))
        graph.add_edge(ids[link["source"]], ids[link["target"]], key=f"link{number}", **facts)
    return graph


def _shown_ids(ids: Sequence[str]) -> dict[str, str]:
    """The ids as they are shown; one that would look like another gets a number, so that no two nodes become one."""
    taken: set[str] = set()
    shown: dict[str, str] = {}
    for each in ids:
        text = name = _text(each)
        number = 1
        while name in taken:
            number += 1
            name = f"{text} {number}"
        taken.add(name)
        shown[each] = name
    return shown


def _without(item: _Item, *fields: str) -> _Item:
    return {name: each for name, each in item.items() if name not in fields}


def _attributes(item: Mapping[str, Json]) -> dict[str, str | int | float]:
    """What a node, a link or the graph is said to be, by the name of the field; what there is none of is left out."""
    return {name: each for name, each in _flat("", item) if each != ""}


def _flat(prefix: str, item: Mapping[str, Json]) -> Iterator[tuple[str, str | int | float]]:
    """The fields of a mapping, those of mappings within as `enforcement.state`; lists and what is named as text."""
    for field, each in item.items():
        name = f"{prefix}{field}"
        if each is None:
            continue
        if isinstance(each, int | float):
            yield name, each
        elif isinstance(each, list):
            words = _WORDS.get(name, _words)
            yield name, ", ".join(_text(words(one)) for one in each)
        elif name in _WORDS or not isinstance(each, Mapping) or _is_name(each):
            yield name, _text(_WORDS.get(name, _words)(each))
        else:
            yield from _flat(f"{name}.", each)


def _is_name(item: Mapping[str, Json]) -> bool:
    """Whether an object, one of its sections or a kind is meant, and nothing is said of it."""
    return {"group", "kind"} <= item.keys() <= {"group", "kind", "namespace", "name", "section"}


def _words(each: Json) -> str:
    """A value in a list as text: the id of an object that is named, anything else that is no text as JSON."""
    if isinstance(each, str):
        return each
    if isinstance(each, Mapping) and _is_name(each):
        parts = {name: str(part) for name, part in each.items()}
        kind = GroupKind(parts["group"], parts["kind"])
        if "name" not in parts:
            return str(kind)
        return node_id(NodeRef(ObjectRef(kind, parts["namespace"], parts["name"]), parts.get("section", "")))
    return json.dumps(each)


def _path(each: Json) -> str:
    path = cast("_Item", each)
    return f"{path['number']}: {' > '.join(map(_words, path['nodes']))}"


def _in_force(each: Json) -> str:
    found = cast("_Item", each)
    policies = f" ({', '.join(map(_words, found['policies']))})" if found["policies"] else ""
    doubt = "" if found["certain"] else ", not certain"
    paths = ", ".join(map(str, found["paths"]))
    return f"{_words(found['policyKind'])}: {'; '.join(found['summary'])}{policies} on {paths}{doubt}"


def _target(each: Json) -> str:
    reference = cast("_Item", each)
    target = _words(reference["target"]) if reference["target"] else reference["declaredIn"]
    return target if reference["state"] == "attached" else f"{target} ({reference['state']})"


def _unseen(each: Json) -> str:
    thing = cast("_Item", each)
    return f"{thing['what']}: {thing['reason']}"


def _origin(each: Json) -> str:
    return str(Origin(**cast("_Item", each)))


# Fields of which the value, or each in a list, says several things.
_WORDS: Final[Mapping[str, Callable[[Json], str]]] = {
    "origin": _origin,
    "matches": match_words,
    "paths": _path,
    "inForce": _in_force,
    "targets": _target,
    "unseen": _unseen,
}


def _text(text: str) -> str:
    """A text in which nothing is that XML may not hold, or that a CI would obey."""
    return uncommanding(visible(text))
