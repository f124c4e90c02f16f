"""The law that answers do not depend on which reader reads, nor on how much of the objects is kept."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from kubectl_policy import PolicyError, load_manifests
from kubectl_policy.profiles.load import profile_file
from tests.property.examples import examples
from tests.property.hostile import files
from tests.property.strategies import worlds
from tests.property.world import profiles_of, snapshot_of
from tests.sources.lazily import says_the_same

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_policy.model import ObjectRef, Resource
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
# Of the folders one of so many; in a thorough run all.
_EVERY: Final = max(2 // examples(1), 1)


def questions(refs: Sequence[ObjectRef]) -> Iterator[tuple[str, ...]]:
    """What can be asked of some objects: all of it of each of them, and of each policy with something near it."""
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


@pytest.mark.parametrize("folder", _FOLDERS[::_EVERY], ids=lambda folder: str(folder.relative_to(_FIXTURES)))
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
        says_the_same([*arguments, "--offline", str(folder), "-o", "json", *(["--complete"] if number % 2 else [])])
