"""Objects that were recognised by the shapes of their documents, and are read when somebody asks for them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from kubectl_policy import load_manifests
from kubectl_policy.model import GroupKind, ObjectRef, Origin
from kubectl_policy.model.index import Index
from kubectl_policy.sources import stored as stored_world
from kubectl_policy.sources.files.finding import InputFile
from kubectl_policy.sources.reading import Reading
from tests import build
from tests.sources.storing import stored
from tests.text.recognising import recognise_with

if TYPE_CHECKING:
    from pathlib import Path

_KUSTOMIZATION = """\
# of {0}
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
metadata:
  name: {0}
"""


def test_what_is_said_about_other_files_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kustomizations may be as alike as other documents."""
    recognise_with(1, monkeypatch)
    reading = Reading({})
    for name in "ab":
        reading.read_file(InputFile(f"{name}/kustomization.yaml"), lambda path: _KUSTOMIZATION.format(path[0]))
    found = [document and (document.line, document.value) for document in reading.others.values()]
    known = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}
    assert found == [(2, {**known, "metadata": {"name": name}}) for name in "ab"]


def test_what_is_read_for_the_most_part_is_not_searched(tmp_path: Path) -> None:
    """To look for what may name an object pays while little was read."""
    text = "---\n".join(f"apiVersion: v1\nkind: Service\nmetadata:\n  name: s{place}\n" for place in range(500))
    (tmp_path / "all.yaml").write_text(text, encoding="utf-8")
    world = Index(load_manifests([str(tmp_path)])).world
    asked = [world.is_narrow for ref in [*world.names()] if world.get(ref)]
    assert (asked[0], asked[-1]) == (True, False)


THING = GroupKind("example.com", "Thing")
_THING = "apiVersion: example.com/v1\nkind: Thing\nmetadata: {{name: {}, namespace: {}}}\n{}"


def _things(*things: tuple[str, str, str]) -> str:
    return "---\n".join(_THING.format(*thing) for thing in things)


def _ref(name: str, namespace: str = "home") -> ObjectRef:
    return ObjectRef(THING, namespace, name)


def test_an_object_is_what_reading_it_makes_of_it() -> None:
    """Where it starts, when it was created and what is in it; and each is made once."""
    text = "# two\n---\n# things\n" + _things(("a", "home", ""), ("b", "home", "spec: {c: 1}\n")).replace(
        "namespace: home}", "namespace: home, creationTimestamp: '2026-01-02T03:04:05Z'}"
    )
    world = stored(text.partition("---\n")[2])
    found = world.get(_ref("b"))
    assert found is not None
    metadata = {"name": "b", "namespace": "home", "creationTimestamp": "2026-01-02T03:04:05Z"}
    assert found.raw == {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": metadata, "spec": {"c": 1}}
    assert (found.origin, found.created) == (Origin("0.yaml", 6), datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))
    assert world.get(_ref("b")) is found


@pytest.mark.parametrize("few", [0, 1_000])
def test_of_several_texts(monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    """A name that is in one of them is looked for in all, whether in each object or in each text."""
    monkeypatch.setattr(stored_world, "_FEW", few)
    texts = [
        _things(("a", "home", ""), ("b", "home", "spec: {c: target}\n")),
        _things(("d", "home", ""), ("e", "away", "spec: {c: home/target}\n"), ("h", "away", "spec: {c: target}\n")),
        _things(("target", "home", "")),
    ]
    world = stored(
        *texts, read=[build.resource("Thing", "g", {"c": "target.home"}, group="example.com", namespace="x")]
    )
    assert [ref.name for ref in world.naming(THING, _ref("target"))] == ["e", "b", "g"]
    assert [ref.name for ref in world.naming(THING, _ref("target", ""))] == ["e", "h", "b", "g"]
    assert [*world.naming(GroupKind("", "Service"), _ref("target"))] == []


@pytest.mark.parametrize("few", [0, 1_000])
def test_a_name_in_a_comment_is_none(monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    """Nor is its own name one that an object gives, nor what is written between two that were recognised."""
    monkeypatch.setattr(stored_world, "_FEW", few)
    (a, b), end = [_things((name, "home", "# for target \nb: c\n")) for name in ("target", "a")], "# to target \n"
    with_gap = f"{end}---\n{a}---\njust text: [target\n---\n{b}---\n{end}"
    world = stored(f"{a}---\n{b}")
    assert [ref.name for ref in world.names()] == ["target", "a"]
    assert [*world.naming(THING, _ref("target"))] == []
    assert [*world.naming(THING, _ref("target", ""))] == []
    assert [*stored(with_gap).naming(THING, _ref("target", ""))] == []


def test_one_example_of_each_shape() -> None:
    """The first by namespace and name, and everything that was read."""
    text = _things(("b", "home", "c: 1\n"), ("a", "home", "c: 2\n"), ("d", "home", "e: 1\n"), ("x", "away", "e: 2\n"))
    world = stored(text, read=[build.resource("Thing", "r", {}, group="example.com", namespace="home")])
    assert [each.ref.name for each in world.examples(THING)] == ["x", "a", "r"]


def test_a_field_is_had_by_all_of_a_shape() -> None:
    """Or by an object that was read."""
    text = _things(("b", "home", "c: {selector: 1}\n"), ("a", "home", "c: {selector: 2}\n"), ("d", "home", "e: 1\n"))
    read = [
        build.resource("Thing", name, {field: {}}, group="example.com")
        for name, field in (("r", "selector"), ("s", "t"))
    ]
    assert [ref.name for ref in stored(text, read=read).having(THING, ("selector", "labels"))] == ["r", "a", "b"]


def test_names_that_documents_do_not_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of another namespace than is written, or of none; and what two documents have is the later one's."""
    recognise_with(1, monkeypatch)
    gateway_class = (
        "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: b, namespace: home}\n"
    )
    at_home = _things(("a", "home", "c: target\n")).replace(", namespace: home", "")
    text = "---\n".join((at_home, gateway_class + "spec: {d: target}\n", _things(*[("e", "away", "c: target\n")] * 2)))
    (tmp_path / "all.yaml").write_text(text, encoding="utf-8")
    world = Index(load_manifests([str(tmp_path)])).world
    found = [
        *world.naming(THING, _ref("target", "")),
        *world.naming(build.ref("GatewayClass", "b").group_kind, _ref("target", "")),
    ]
    assert found == [_ref("e", "away"), _ref("a", "default"), build.ref("GatewayClass", "b")]
    assert [*world.naming(THING, _ref("target", "default"))] == [_ref("a", "default")]
    assert [*world.examples(THING)] == [*world.examples(THING)]


def test_a_name_with_a_space_may_be_on_two_lines() -> None:
    """No object has such a name, before something else fills it in."""
    world = stored(_things(("a", "home", "c: >-\n  the\n  target\nd: 1\n"), ("b", "home", "e: 1\n")))
    assert [ref.name for ref in world.naming(THING, _ref("the target"))] == ["a", "b"]
    assert [ref.name for ref in world.naming(THING, _ref("target", "my home"))] == ["a", "b"]
