"""The law that a snapshot file says what it was made of: the same objects, and the same answers."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_policy import InputOptions, PolicyError, analyze, load_manifests
from kubectl_policy.redaction import Redaction
from kubectl_policy.sources.snapshot import SECRET, Header, packed, write
from tests.property.examples import examples
from tests.property.hostile import files
from tests.property.strategies import worlds
from tests.property.test_lazy import questions
from tests.property.world import profiles_of, snapshot_of
from tests.sources.lazily import printed

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from kubectl_policy import Analysis, ObjectRef, Snapshot
    from kubectl_policy.model import Json
    from tests.property.world import World

_FIXTURES: Final = Path(__file__).parents[2] / "fixtures"
_FOLDERS: Final = sorted(
    {
        file.parent
        for file in _FIXTURES.rglob("*.yaml")
        if "repositories" not in file.parts and "profiles" not in file.parts
    }
    | {*(_FIXTURES / "repositories").iterdir()}
)
# Of many questions, one in so many; in a thorough run, all.
_EVERY: Final = max(20 // examples(1), 1)
_HEADER: Final = Header(taken="2026-03-01T10:00:00Z", version="kubectl-policy 0.1.0")


def packed_file(snapshot: Snapshot, folder: Path, name: str = "packed.gz") -> Path:
    """The file of a snapshot."""
    file = folder / name
    write(str(file), packed(snapshot, _HEADER))
    return file


@settings(max_examples=examples(12))
@given(data=st.data(), world=worlds())
def test_the_objects_and_gaps_of_a_world_come_back(data: st.DataObject, world: World) -> None:
    """However it is written; packed once more, it is the same file."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for place, text in data.draw(files(snapshot_of(world).resources)).items():
            (folder / place).write_bytes(text)
        taken = replace(load_manifests(folder), complete=data.draw(st.booleans()))
        file = packed_file(taken, folder)
        read = load_manifests(file)
        assert same_objects(read, taken)
        assert (read.complete, read.gone, read.listed) == (taken.complete, taken.gone, taken.listed)
        assert [replace(gap, mentions=None) for gap in read.gaps] == [replace(gap, mentions=None) for gap in taken.gaps]
        before = file.read_bytes()
        assert packed_file(read, folder).read_bytes() == before


def same_objects(one: Snapshot, other: Snapshot) -> bool:
    """Whether two snapshots have the same objects, but for what no snapshot holds."""
    return {each.ref: plain(each.raw, each.ref) for each in one.resources} == {
        each.ref: plain(each.raw, each.ref) for each in other.resources
    }


def plain(raw: Json, ref: ObjectRef) -> Json:
    """An object with its namespace said."""
    assert isinstance(raw, Mapping)
    metadata = raw["metadata"]
    assert isinstance(metadata, Mapping)
    kept = {key: each for key, each in metadata.items() if key != "namespace"}
    data = {"data", "stringData"} if ref.group_kind == SECRET else set[str]()
    return {key: kept if key == "metadata" else each for key, each in raw.items() if key not in data}


@settings(max_examples=examples(15))
@given(world=worlds())
def test_answers_about_generated_worlds_are_the_same(world: World) -> None:
    """Every effective policy at every node, and where all policies are attached."""
    taken = snapshot_of(world)
    with tempfile.TemporaryDirectory() as name:
        read = load_manifests(packed_file(taken, Path(name)))
    profiles = profiles_of(world)
    assert effects(analyze(read, profiles=profiles)) == effects(analyze(taken, profiles=profiles))


def effects(analysis: Analysis) -> Sequence[tuple[str, ...]]:
    """What is in force everywhere."""
    return sorted(
        (str(end), str(effective.path), str(effective.resolution.kind), str(effective.resolution.spec))
        for end in analysis.topology.nodes
        for effective in analysis.effective(end)
    )


@pytest.mark.parametrize("folder", _FOLDERS, ids=lambda folder: str(folder.relative_to(_FIXTURES)))
def test_answers_about_fixtures_are_the_same(folder: Path, tmp_path: Path) -> None:
    """In JSON but for the places of objects; one question of each sort, of objects in turn."""
    try:
        states = [load_manifests(folder, options=InputOptions(complete=complete)) for complete in (False, True)]
    except PolicyError:
        return
    taken = [packed_file(state, tmp_path, f"{number}.gz") for number, state in enumerate(states)]
    for number, arguments in enumerate(questions(sorted(resource.ref for resource in states[0].resources))):
        if number < 4 or number % _EVERY == 0:
            is_complete = number % 2 == 1 and arguments[0] != "explain"
            asked = [["--offline", str(folder), *["--complete"] * is_complete], ["--offline", str(taken[is_complete])]]
            answers = [printed([*arguments, *each, "-o", "json"]) for each in asked]
            assert answers[0].code == answers[1].code
            assert len({without_places(each.out) for each in answers}) == 1


def without_places(answer: str) -> str:
    """An answer without the places where things were read."""

    def bare(value: Json) -> Json:
        if isinstance(value, dict):
            return {key: bare(each) for key, each in value.items() if key not in _PLACES}
        if isinstance(value, str):
            return _PLACE.sub("", value)
        return [bare(each) for each in value] if isinstance(value, list) else value

    return json.dumps(bare(json.loads(answer)), sort_keys=True) if answer else ""


_PLACE: Final = re.compile(r"/[^\s()]+:[0-9]+")
_PLACES: Final = frozenset({"origin", "source", "line", "file", "location"})


@pytest.mark.parametrize("folder", _FOLDERS, ids=lambda folder: str(folder.relative_to(_FIXTURES)))
def test_what_is_attached_to_what_is_the_same_without_values(folder: Path) -> None:
    """Every path, and every attachment but those of policies that are invalid for their values alone."""
    try:
        taken = load_manifests(folder)
    except PolicyError:
        return
    analysis = analyze(taken)
    redaction = Redaction(analysis.registry)
    resources = tuple(replace(each, raw=redaction.redacted(each)) for each in taken.resources)
    shown = analyze(replace(taken, resources=resources))
    every = (each for policy in analysis.policies for each in analysis.attachments.get(policy.ref, ()))
    invalid = {each.policy for each in every if each.state == "policy invalid"}
    assert hierarchy(shown, invalid) == hierarchy(analysis, invalid)


def hierarchy(analysis: Analysis, without: Collection[ObjectRef] = ()) -> Sequence[tuple[str, ...]]:
    """What is attached to what, of all policies but some."""
    paths = [(str(end), *map(str, path)) for end in analysis.topology.nodes for path in analysis.topology.paths(end)]
    attached = [
        (str(each.policy), str(each.target), each.state)
        for policy in analysis.policies
        for each in analysis.attachments.get(policy.ref, ())
        if policy.ref not in without
    ]
    return sorted([*paths, *attached])
