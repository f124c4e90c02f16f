"""A cluster gives the answers that manifests, or a snapshot, of the same objects give."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from difflib import unified_diff
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from hypothesis import Phase, given, settings
from msgspec.structs import replace

from kubectl_policy import cli
from kubectl_policy.model import Json
from kubectl_policy.model.kinds import POLICY_LABEL
from kubectl_policy.profiles.load import profile_file
from kubectl_policy.sources import load_manifests
from tests.live.conftest import BAKERY
from tests.live.server import ADMIN, BAKER, PASTRY, Server
from tests.property.strategies import worlds
from tests.property.world import POLICIES, World, profiles_of, snapshot_of

# What was read from a file has a line there, which is said in sentences as well, and is in "the input".
_IN_DUMP: Final = re.compile(r" \(/[^ \"]*/dump\.json:[0-9]+\)")


def dumped(server: Server, folder: Path) -> Path:
    """A file in a folder with everything that kubectl gets, as JSON."""
    kinds = server.kubectl("api-resources", "--verbs=list,create", "-o", "name").split()
    path = folder / "dump.json"
    path.write_text(server.kubectl("get", ",".join(kinds), "-A", "-o", "json", "--show-managed-fields"))
    return path


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    """The exit code of a command and the lines of its document, or of what it says if it has none, without places."""
    capsys.readouterr()
    code = cli.run([*arguments, "-o", "json"])
    out, err = capsys.readouterr()
    said = json.dumps(_without_places(json.loads(out)), indent=1) if out else err
    return [f"exit code {code}", *said.splitlines()]


def _without_places(document: Json) -> Json:
    match document:
        case dict():
            return {key: _without_places(value) for key, value in document.items() if key not in {"source", "line"}}
        case list():
            return [_without_places(value) for value in document]
        case str():
            return _IN_DUMP.sub("", document).replace("the input", "the cluster")
        case _:
            return document


QUESTIONS: Final = (
    "describe httproute/baker -n baker",
    "describe gateway/edge -n infra",
    "describe retrypolicy/resilience -n baker",
    "describe service/till -n baker",
    "describe namespace/baker",
    "get policies -n baker",
    "get policykinds",
    "get routes -n baker",
    "get gateways -n infra",
    "get services -n baker",
    "get effective -n baker",
    "status -n baker",
    "why-not retrypolicy/resilience httproute/events -n baker",
    "blast-radius retrypolicy/resilience -n baker",
    "blast-radius gateway/edge -n infra",
    "diff --delete retrypolicy/resilience -n baker",
    "explain retrypolicy",
)


@pytest.fixture(scope="module")
def dump(server: Server, tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(dumped(server, tmp_path_factory.mktemp("dump")))


@pytest.mark.parametrize("question", QUESTIONS)
def test_answers_are_the_same(server: Server, dump: str, question: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Documents say the same, but for where it was read."""
    live = answer(capsys, *question.split(), "--kubeconfig", str(server.kubeconfig(ADMIN)))
    offline = answer(capsys, *question.split(), "--offline", dump)
    assert live[0] in {"exit code 0", "exit code 1"}
    different = "\n".join(unified_diff(offline, live, "offline", "live", lineterm=""))
    assert not different, different


# All policy kinds of generated worlds are called so; what they do is in the profiles of each world.
KINDS: Final = ("K", "L")
CLUSTER_SCOPED: Final = ("GatewayClass", "Namespace")
WORLDS: Final = 8


class Placed(NamedTuple):
    """A world on a server: its objects, and the folder with the profiles of its policy kinds."""

    objects: Sequence[Any]
    profiles: Path


class Batch(NamedTuple):
    """Worlds on a server, all that kubectl gets there, and how the server is asked."""

    worlds: Sequence[Placed]
    dump: str
    live: Sequence[str]


@pytest.fixture(scope="module")
def batch(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Batch]:
    """A server that has all worlds at once, which takes no longer than to put one there; later, no policy is left."""
    folder = tmp_path_factory.mktemp("worlds")
    (folder / "kinds.json").write_text(json.dumps(listed(list(map(definition, KINDS)))))
    server.apply(folder / "kinds.json")
    found = [_placed(world, f"w{number}", folder) for number, world in enumerate(generated())]
    every = [obj for world in found for obj in world.objects]
    server.kubectl("apply", "--server-side", "-f", "-", data=listed(every))
    live = ["--kubeconfig", str(server.kubeconfig(ADMIN)), "--cache-dir", str(folder)]
    yield Batch(found, str(dumped(server, folder)), live)
    server.kubectl("delete", "-f", str(folder / "kinds.json"))


def generated() -> Sequence[World]:
    """Some of the worlds that other laws are tried with; of many, as those in a row are like each other."""
    found: dict[str, World] = {}

    @settings(max_examples=10 * WORLDS, phases=[Phase.generate])
    @given(world=worlds())
    def keep(world: World) -> None:
        found[str(world)] = world

    keep()
    return [*found.values()][:: len(found) // WORLDS][-WORLDS:]


def _placed(world: World, name: str, folder: Path) -> Placed:
    profiles = folder / name
    profiles.mkdir()
    for profile in profiles_of(world):
        text = json.dumps(profile_file(replace(profile, evidence=("https://example.com",))))
        (profiles / f"{profile.group_kind.kind}.yaml").write_text(text)
    return Placed([placed(resource.raw, name) for resource in snapshot_of(world).resources], profiles)


def listed(objects: Sequence[Json]) -> Json:
    return {"apiVersion": "v1", "kind": "List", "items": objects}


def definition(kind: str) -> dict[str, Any]:
    """The definition of a policy kind that takes everything."""
    plural = f"{kind.lower()}s"
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1alpha1", "served": True, "storage": True, "schema": {"openAPIV3Schema": anything}}
    names = {"kind": kind, "plural": plural, "singular": kind.lower()}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{POLICIES}", "labels": {POLICY_LABEL: "inherited"}},
        "spec": {"group": POLICIES, "scope": "Namespaced", "names": names, "versions": [version]},
    }


@pytest.mark.parametrize("number", range(WORLDS))
def test_answers_are_those_of_manifests(batch: Batch, number: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Of some objects of a world, described and deleted, but for where they were read."""
    world = batch.worlds[number]
    for question in questions(world.objects, number):
        asked = [*question, "--profiles", str(world.profiles)]
        of_manifests = answer(capsys, *asked, "--offline", batch.dump, "--complete")
        of_cluster = answer(capsys, *asked, *batch.live)
        different = "\n".join(unified_diff(of_manifests, of_cluster, "manifests", "cluster", n=9, lineterm=""))
        assert not different, f"{' '.join(asked)}\n{different}"


def placed(value: Json, world: str) -> Any:  # noqa: ANN401 (any JSON)
    """A part of an object in a world of its own: names of Namespaces and classes begin with the world's.

    What the server would refuse is mended: Services have ports with names, backends have ports, and a route names a
    parent once. What it does not know of routes is left out.
    """
    match value:
        case list():
            return [placed(each, world) for each in value]
        case dict():
            return _mended({key: placed(each, world) for key, each in value.items() if key != "own"}, world)
        case _:
            return value


def _mended(found: dict[str, Any], world: str) -> dict[str, Any]:
    for key in {"namespace", "gatewayClassName"} & found.keys():
        found[key] = f"{world}-{found[key]}"
    if found.get("kind") in CLUSTER_SCOPED:
        named = found.get("metadata", found)
        named["name"] = f"{world}-{named['name']}"
        named.pop("labels", None)
    if "backendRefs" in found:
        found["backendRefs"] = [{"port": 80, **ref} for ref in found["backendRefs"]]
    if "parentRefs" in found:
        found["parentRefs"] = [*{(ref["namespace"], ref["name"]): ref for ref in found["parentRefs"]}.values()]
    if "ports" in found:
        found["ports"] = [{"name": "web", **port} for port in found["ports"]]
    return found


def questions(objects: Sequence[Any], number: int) -> Iterator[list[str]]:
    """What is asked of the world with a number: about other sorts of objects from one to the next."""

    def one(*kinds: str) -> list[str]:
        those = [obj for obj in objects if obj["kind"] in kinds]
        found = those[number % len(those)]
        metadata, group = found["metadata"], found["apiVersion"].rpartition("/")[0]
        name = f"{found['kind'].lower()}.{group}".removesuffix(".")
        return [f"{name}/{metadata['name']}", "-n", metadata.get("namespace", "default")]

    yield ["describe", *one("HTTPRoute")]
    yield ["describe", *(one(*KINDS) if number % 2 else one("Gateway", "Service", *CLUSTER_SCOPED))]
    yield ["blast-radius", *(one("HTTPRoute", "Gateway", "Service", "Namespace") if number % 2 else one(*KINDS))]


OF_SNAPSHOTS: Final = (
    "blast-radius gateway/edge -n infra",
    "blast-radius backendtlspolicy/cream -n pastry",
    "blast-radius retrypolicy/resilience -n baker",
    "get policies -A",
    "get routes -n baker",
    "get policies -n pastry",
    "get effective -n baker",
    "get policykinds",
    "status -n baker",
    "status -A",
    "why-not retrypolicy/own httproute/menu -n baker",
)


def _every_object() -> list[str]:
    refs = (resource.ref for resource in load_manifests(BAKERY).resources)
    return [
        f"describe {ref.kind.lower()}.{ref.group_kind.group}/{ref.name} -n {ref.namespace or 'infra'}"
        for ref in refs
        if ref.kind != "CustomResourceDefinition"
    ]


@pytest.mark.parametrize("user", [ADMIN, BAKER, PASTRY])
def test_a_file_answers_as_the_server(
    server: Server, user: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In all words, but for where things are; no less is said to be hidden. The administrator asks of every object."""
    config = str(server.kubeconfig(user, namespace="pastry"))
    ask = ["--kubeconfig", config, "--cache-dir", str(tmp_path)]
    file = str(tmp_path / "s.gz")

    def answer(*words: str) -> tuple[int, Any]:
        code = cli.run([*words, "-o", "json"])
        out = capsys.readouterr().out
        return code, _without_origins(json.loads(out) if out else None, file, user)

    assert cli.run(["snapshot", "-o", file, *ask]) == 0
    capsys.readouterr()
    # Who sees one namespace alone has the snapshot of that one.
    about = "-n pastry" if user == PASTRY else ""
    objects = _every_object()[:: 3 if user == BAKER else 1]
    for question in filter(lambda each: about in each, (*objects, *OF_SNAPSHOTS)):
        there = answer(*question.split(), *ask)
        here = answer(*question.split(), "--offline", file)
        hidden = [_hidden(document) for _, document in (there, here)]
        assert hidden[0] <= hidden[1], question
        assert _but_hidden(there[1]) == _but_hidden(here[1]), question
        assert there[0] == here[0], question


def _without_origins(found: Any, file: str, user: str) -> Any:  # noqa: ANN401 (any document)
    """A document without the places of objects: a server has none, and a file has lines."""

    def kept(pairs: list[tuple[str, Any]]) -> dict[str, Any] | None:
        return None if {name for name, _ in pairs} == {"source", "line"} else dict(pairs)

    text = re.sub(rf" \((?:{re.escape(file)}:\d+|{user})\)", "", json.dumps(found))
    return json.loads(text, object_pairs_hook=kept)


def _hidden(document: Any) -> set[str]:  # noqa: ANN401 (any document)
    """What could not be read; that somewhere some was, the file may know of more kinds."""
    return {blind_spot["what"].partition(" not in ")[0] for blind_spot in document["unseen"]} if document else set()


def _but_hidden(document: Any) -> Any:  # noqa: ANN401 (any document)
    """All but what could not be read, of which a question asks for less than a snapshot does."""
    if not document:
        return document
    headline = re.sub(r"(, as far as could be read|(?<= is unknown)): [^.]*", "", document["headline"])
    seen = {**document, "headline": headline, "unseen": ()}
    if "difference" in document:
        seen["difference"] = {**document["difference"], "unseen": ()}
    return seen
