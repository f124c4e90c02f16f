"""Laws of files."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_policy import Analysis, InputOptions, ObjectRef, PolicyError, Snapshot, analyze, load_manifests
from kubectl_policy.errors import SourceError
from kubectl_policy.model import Json, Resource
from kubectl_policy.profiles.load import profile_file
from kubectl_policy.redaction import Redaction
from kubectl_policy.sources import load_state
from kubectl_policy.sources.snapshot import SECRET, Header, pack, write
from tests.property.examples import examples
from tests.property.hostile import files
from tests.property.strategies import worlds
from tests.property.world import World, profiles_of, snapshot_of
from tests.repository import CM, alone
from tests.text.readings import printed, says_the_same

_FIXTURES: Final = Path(__file__).parents[2] / "fixtures"
_FOLDERS: Final = sorted(
    {
        file.parent
        for file in _FIXTURES.rglob("*.yaml")
        if "repositories" not in file.parts and "profiles" not in file.parts
    }
    | {*(_FIXTURES / "repositories").iterdir()}
)
# Of the folders one of so many; in a thorough run all.
_FOLDER_STEP: Final = max(4 // examples(1), 1)


def _name_of(folder: Path) -> str:
    return str(folder.relative_to(_FIXTURES))


def questions(refs: Sequence[ObjectRef]) -> Iterator[tuple[str, ...]]:
    """Yield commands about some objects: all of them about each object, and about each policy with an object."""
    routes = [ref for ref in refs if ref.kind.endswith("Route")]
    kinds = {"Gateway", "ListenerSet", "XListenerSet", "Service", "GatewayClass", "Namespace"}
    others = [ref for ref in refs if ref.kind in kinds]
    policies = [ref for ref in refs if ref not in {*routes, *others} and "k8s.io" not in ref.group_kind.group]
    yield from (("get", word, "-A") for word in ("policies", "routes", "gateways", "effective"))
    yield "status", "-A", "--show-all"
    yield "get", "policykinds"
    for ref in (*routes, *others, *policies):
        yield "describe", *_named(ref)
        yield "blast-radius", *_named(ref)
    for place, policy in enumerate(policies):
        yield "explain", _named(policy)[0].partition("/")[0]
        for ref in [*routes, *others][place::4]:
            where = ("--target-namespace", ref.namespace) if ref.namespace else ()
            yield "why-not", _named(policy)[0], *_named(ref)[:1], *_named(policy)[1:], *where


def _named(ref: ObjectRef) -> tuple[str, ...]:
    words = f"{ref.kind.lower()}.{ref.group_kind.group}".rstrip(".")
    return (f"{words}/{ref.name}", *(("-n", ref.namespace) if ref.namespace else ()))


@settings(max_examples=examples(6))
@given(data=st.data(), world=worlds())
def test_however_a_world_is_written(data: st.DataObject, world: World) -> None:
    """Byte for byte, with all that is said beside the answer; also of what changes from one text to another."""
    ask_of_texts(data, snapshot_of(world).resources, _profiles(world))


@settings(max_examples=examples(5))
@given(data=st.data(), folder=st.sampled_from(_FOLDERS))
def test_however_a_fixture_is_written(data: st.DataObject, folder: Path) -> None:
    """With policy kinds of implementations, and what these refer to."""
    ask_of_texts(data, load_manifests(folder).resources, {})


def ask_of_texts(data: st.DataObject, resources: Sequence[Resource], profiles: Mapping[str, bytes]) -> None:
    """Ask some questions of what is written in some way, and what would be otherwise if it were in another one."""
    every = list(questions([resource.ref for resource in resources]))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write(folder / "profiles", profiles or {"none.yaml": b"{group: example.com, kinds: {}}"})
        for state in ("before", "after"):
            _write(folder / state, data.draw(files(resources)))
        more = ["--profiles", f"{name}/profiles", "-o", data.draw(st.sampled_from(("json", "json", "wide")))]
        more += ["--complete"] if data.draw(st.booleans()) else []
        for arguments in data.draw(st.lists(st.sampled_from(every), min_size=5, max_size=5, unique=True)):
            says_the_same([*arguments, "--offline", f"{name}/before", *more])
        says_the_same(["diff", f"{name}/before", f"{name}/after", *more])


def _write(folder: Path, texts: Mapping[str, bytes]) -> None:
    folder.mkdir()
    for name, text in texts.items():
        (folder / name).write_bytes(text)


def _profiles(world: World) -> Mapping[str, bytes]:
    found = (replace(profile, evidence=("https://example.com",)) for profile in profiles_of(world))
    return {f"{place}.yaml": json.dumps(profile_file(each)).encode() for place, each in enumerate(found)}


@pytest.mark.parametrize("folder", _FOLDERS[::_FOLDER_STEP], ids=_name_of)
def test_the_fixtures(folder: Path) -> None:
    """One question of each sort, of objects in turn; once as if nothing else existed, once not."""
    try:
        refs = sorted(resource.ref for resource in load_manifests(folder).resources)
    except PolicyError:
        refs = []
    asked: dict[tuple[str, str], tuple[str, ...]] = {}
    for number, arguments in enumerate(questions(refs)):
        sort = arguments[0], arguments[1].partition("/")[0] if arguments[0] == "describe" else ""
        if sort not in asked or number % 3 == 0:
            asked[sort] = arguments
    for number, arguments in enumerate(asked.values()):
        options = [*["--complete"] * (number % 2), *["--no-render"] * (arguments[0] != "explain")]
        says_the_same([*arguments, "--offline", str(folder), "-o", "json", *options])


# Of many questions, one in so many; in a thorough run, all.
_QUESTION_STEP: Final = max(20 // examples(1), 1)
_HEADER: Final = Header(taken="2026-03-01T10:00:00Z", version="kubectl-policy 0.1.0")


def packed_file(snapshot: Snapshot, folder: Path, name: str = "packed.gz") -> Path:
    file = folder / name
    write(str(file), pack(snapshot, _HEADER))
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
    return {resource.ref: plain(resource.raw, resource.ref) for resource in one.resources} == {
        resource.ref: plain(resource.raw, resource.ref) for resource in other.resources
    }


def plain(raw: Json, ref: ObjectRef) -> Json:
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
    return sorted(
        (str(end), str(effective.path), str(effective.resolution.kind), str(effective.resolution.spec))
        for end in analysis.topology.nodes
        for effective in analysis.effective(end)
    )


@pytest.mark.parametrize("folder", _FOLDERS[::_FOLDER_STEP], ids=_name_of)
def test_answers_about_fixtures_are_the_same(folder: Path, tmp_path: Path) -> None:
    """In JSON but for the places of objects; one question of each sort, of objects in turn."""
    try:
        states = [load_manifests(folder, options=InputOptions(complete=complete)) for complete in (False, True)]
    except PolicyError:
        return
    taken = [packed_file(state, tmp_path, f"{number}.gz") for number, state in enumerate(states)]
    for number, arguments in enumerate(questions(sorted(resource.ref for resource in states[0].resources))):
        if number < 4 or number % _QUESTION_STEP == 0:
            is_complete = number % 2 == 1 and arguments[0] != "explain"
            raw = ["--no-render"] if arguments[0] != "explain" else []
            asked = [
                ["--offline", str(folder), *["--complete"] * is_complete, *raw],
                ["--offline", str(taken[is_complete])],
            ]
            answers = [printed([*arguments, *each, "-o", "json"]) for each in asked]
            assert answers[0].code == answers[1].code
            assert len({without_places(answer.out) for answer in answers}) == 1


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


@pytest.mark.parametrize("folder", _FOLDERS, ids=_name_of)
def test_what_is_attached_to_what_is_the_same_without_values(folder: Path) -> None:
    """Every path, and every attachment but those of policies that are invalid for their values alone."""
    try:
        taken = load_manifests(folder)
    except PolicyError:
        return
    analysis = analyze(taken)
    redaction = Redaction(analysis.registry)
    resources = tuple(replace(resource, raw=redaction.redact(resource)) for resource in taken.resources)
    shown = analyze(replace(taken, resources=resources))
    every = (each for policy in analysis.policies for each in analysis.attachments.get(policy.ref, ()))
    invalid = {each.policy for each in every if each.state == "policy invalid"}
    assert hierarchy(shown, invalid) == hierarchy(analysis, invalid)


def hierarchy(analysis: Analysis, without: Collection[ObjectRef] = ()) -> Sequence[tuple[str, ...]]:
    """Return every path, and every attachment of all policies but some."""
    paths = [(str(end), *map(str, path)) for end in analysis.topology.nodes for path in analysis.topology.paths(end)]
    attached = [
        (str(each.policy), str(each.target), each.state)
        for policy in analysis.policies
        for each in analysis.attachments.get(policy.ref, ())
        if policy.ref not in without
    ]
    return sorted([*paths, *attached])


FOLDERS = ("", "apps/", "apps/dev/", "Apps/", ".ci/", "clusters/prod/")
NAMES = ("a.yaml", "b.yml", "A.yaml", "c.json", "é b.yaml", ".hidden.yaml", "kustomization.yaml", "notes.md", "dev")
FLUX = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: k, namespace: flux-system}
spec: {path: ./apps, targetNamespace: y, sourceRef: {kind: GitRepository, name: r}}
"""
CONTENTS = st.sampled_from(
    [
        *(CM % name for name in ("a", "b", "c")),
        '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "json"}}',
        "resources: [a.yaml, ../apps, ../b.yml]\nnamespace: x\n",
        "resources: [dev]\nnamePrefix: p-\n",
        FLUX,
        "apiVersion: v1\nkind: [\n",
        "# none\n",
        b"\xff\xfe",
        "é".encode("latin-1"),
        "dev/\n*.json\n",
    ]
)
LINKS = st.sampled_from(["a.yaml", "../a.yaml", "apps", "dev", "..", "../apps/dev", "none", "none.yaml", "link", "./"])
PATHS = st.builds(str.__add__, st.sampled_from(FOLDERS), st.sampled_from([*NAMES, ".kubectl-policyignore"]))
LINK_PATHS = st.builds(str.__add__, st.sampled_from(FOLDERS), st.sampled_from(["link", "link.yaml", "zz.yaml"]))


def _read(operand: str) -> str:
    """Read a tree into text, without the beginnings of origins and without colons; an error is text as well."""
    try:
        snapshot = load_state(operand, options=InputOptions(exclude=("/clusters/prod/b.yml",)))
    except SourceError as error:
        return error.message.partition(": ")[2].replace(":", "")
    objects = [(resource.ref, resource.origin, {**resource.raw}) for resource in snapshot.resources]
    read = [objects, snapshot.gaps, snapshot.diagnostics]
    shown = repr([*read, snapshot.left_out, snapshot.ignored]).replace(f"{operand.rstrip(':')}:", "")
    return shown.replace("--offline . ", "--offline  ").replace("--offline .'", "--offline '").replace(":", "")


@given(files=st.dictionaries(PATHS, CONTENTS, min_size=1, max_size=8), links=st.dictionaries(LINK_PATHS, LINKS))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
def test_a_tree_is_read_the_same_from_everywhere(
    files: dict[str, str | bytes], links: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Origins begin otherwise, and that is all."""
    with monkeypatch.context() as patch, TemporaryDirectory() as folder:
        repository = alone(Path(folder), patch)
        patch.chdir(repository.folder)
        for path, content in files.items():
            if not Path(path).is_dir() and not any(parent.is_file() for parent in Path(path).parents):
                repository.write(path, content)
        for path, target in links.items():
            around = Path(path).parent
            if around.is_dir() and not os.path.normpath(around / target).startswith(".."):
                repository.link(path, target)
        repository.commit()
        for name in ("../t.tar", "../t.tar.gz"):
            repository.git("archive", f"--output={name}", "HEAD")
        on_disk = _read(".")
        for operand in ("HEAD:", ":", "../t.tar", "../t.tar.gz"):
            assert _read(operand) == on_disk
        patch.chdir(folder)
