"""Nothing about an implementation is in code but what the documentation lists; all else a user could have written."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pytest

import kubectl_policy
from kubectl_policy import NodeRef, analyze, load_profiles
from kubectl_policy.profiles import load
from kubectl_policy.questions.describe.objects import describe
from kubectl_policy.questions.describe.policies import describe_policy
from tests import fast_yaml
from tests.implementations import affected, manifests, places, reported, settings, states
from tests.test_docs import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_policy import Analysis, PolicyKindProfile


PACKAGE: Final = Path(kubectl_policy.__file__).parent
DATA: Final = PACKAGE / "profiles" / "data"
# Each world with the files of profiles that its answers rest on.
WORLDS: Final = {
    "envoy-gateway": ["gateway.envoyproxy.io"],
    "kuadrant": ["kuadrant.io", "extensions.kuadrant.io"],
    "gloo": ["gateway.solo.io"],
    "linkerd": ["policy.linkerd.io"],
    "gke": ["networking.gke.io"],
    "aws": ["application-networking.k8s.aws"],
    "azure": ["alb.networking.azure.io"],
    "nginx-gateway-fabric": ["gateway.nginx.org"],
    "kgateway": ["gateway.kgateway.dev", "gateway.networking.k8s.io"],
    "delegation": ["gateway.kgateway.dev"],
}
NAMES: Final = re.compile(
    "envoy|kuadrant|authorino|limitador|istio|merge_?type|json_?merge"
    "|gloo|solo[.-]?io|linkerd|gke|lattice|azure|kong|kuma|traefik|contour|haproxy|nginx|ngf|kgateway|kgw",
    re.IGNORECASE,
)


def words_of(tree: ast.AST) -> Iterator[str]:
    """Every name and every text in code; what is said about code is not part of it."""
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield node.value
        for field in ("id", "attr", "name", "arg", "module"):
            name = getattr(node, field, None)
            if isinstance(name, str):
                yield name


def test_the_words_of_code_are_names_and_texts() -> None:
    """Of a docstring, or of a comment, nothing; of everything else, everything."""
    code = '"""Envoy."""\nimport istio\ndef merge_type(kuadrant):  # envoy\n    "Envoy."\n    return x["JSONMerge"]'
    assert {word for word in words_of(ast.parse(code)) if NAMES.search(word)} == {
        "istio",
        "merge_type",
        "kuadrant",
        "JSONMerge",
    }


def test_no_module_knows_an_implementation() -> None:
    """Neither by its name nor by a value that only its policies have."""
    modules = {path.relative_to(PACKAGE).as_posix(): path.read_text("utf-8") for path in PACKAGE.rglob("*.py")}
    assert modules
    # To parse all of them takes seconds, and in most there is no such name at all.
    trees = {name: ast.parse(text) for name, text in modules.items() if NAMES.search(text)}
    assert [(name, word) for name, tree in trees.items() for word in words_of(tree) if NAMES.search(word)] == []


def profiles_of(world: str) -> list[PolicyKindProfile]:
    """The built-in profiles of a world, read as a user's."""
    return [profile for group in WORLDS[world] for profile in load_profiles(DATA / f"{group}.yaml")]


def answers(analysis: Analysis) -> dict[str, object]:
    """Everything that is said of a world, but for where it is known from."""
    described = {str(policy.ref): describe_policy(analysis, policy.ref) for policy in analysis.policies}
    nodes = [*places(analysis), *{NodeRef(node.object): None for node in places(analysis)}]
    objects = {str(node): describe(analysis, node) for node in nodes}
    return {
        "settings": {
            kind: settings(analysis, kind) for kind in {str(policy.ref.group_kind) for policy in analysis.policies}
        },
        "states": states(analysis),
        "attachments": analysis.attachments,
        "reported": {name: reported(analysis, name) for name in described},
        "affected": {str(node): affected(analysis, node) for node in nodes},
        "fields": {name: (answer.fields, answer.affected, answer.doubts) for name, answer in described.items()},
        "in force": {
            name: [
                (group.kind, group.extent.positions, group.extent.at, group.settings, group.without_effect)
                for group in answer.in_force
            ]
            for name, answer in objects.items()
        },
        "not applying": {name: answer.not_applying for name, answer in objects.items()},
        "diagnostics": analysis.diagnostics,
    }


@pytest.mark.parametrize("world", WORLDS)
def test_a_profile_means_the_same_whoever_gives_it(world: str) -> None:
    """The user's own file, with the content of the built-in one, gives every answer anew."""
    assert answers(analyze(manifests(world), profiles=profiles_of(world))) == answers(analyze(manifests(world)))


def forget() -> None:
    """Forget the built-in profiles that were read."""
    for found in vars(load).values():
        if hasattr(found, "cache_clear"):
            found.cache_clear()


@pytest.fixture
def nothing_built_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterable[None]:
    """Without any file of built-in profiles."""
    with monkeypatch.context() as patch:
        patch.setattr(load, "_DATA", tmp_path)
        forget()
        yield
    forget()


@pytest.mark.usefixtures("nothing_built_in")
@pytest.mark.parametrize("world", WORLDS)
def test_without_any_profile_the_kinds_are_guessed(world: str) -> None:
    """By names and shapes, if they are called policies, and the answers differ: they come from the profile."""
    analysis = analyze(manifests(world))
    assert {profile.known_by for profile in analysis.registry.policy_kinds} <= {"shape"}
    assert answers(analysis) != answers(analyze(manifests(world), profiles=profiles_of(world)))


@pytest.mark.usefixtures("nothing_built_in")
@pytest.mark.parametrize("world", WORLDS)
def test_a_users_profile_is_all_that_is_needed(world: str) -> None:
    """With nothing built in, what the user gives is what the world's own tests expect."""
    analysis = analyze(manifests(world), profiles=profiles_of(world))
    assert {profile.known_by for profile in analysis.registry.policy_kinds} == {"profile"}
    found = answers(analysis)
    forget()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(load, "_DATA", DATA)
        assert found == answers(analyze(manifests(world)))


PAGE: Final = ROOT / "docs" / "code-for-implementations.md"
# Choices of which each value is code of its own.
BY_VALUE: Final = frozenset({"sameLevel", "status.placement"})
# What files say that no code looks at, and what every kind has.
NOT_CHOICES: Final = frozenset({"delegation.evidence", "gateways.evidence", "controllers"})
# Two files that are of one implementation.
SAME: Final = {"extensions.kuadrant.io": "kuadrant.io"}


class Row(NamedTuple):
    """A row of the table: choices, the groups whose files make them, and the modules that carry them out."""

    choices: tuple[str, ...]
    groups: frozenset[str]
    modules: tuple[str, ...]


def rows() -> list[Row]:
    """The table of the page."""
    lines = [line.strip("| ").split(" | ") for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")]
    return [
        Row(
            tuple(re.findall(r"`([^`]+)`", choices)),
            frozenset(re.findall(r"[\w.-]+", groups)),
            tuple(re.findall(r"`([^`]+)`", modules)),
        )
        for choices, groups, modules, _ in lines
    ]


def choices_of(where: str, said: dict[str, Any]) -> Iterator[str]:
    """The choices that a part of a profile file makes."""
    for field, value in said.items():
        name = f"{where}{field}"
        yield f"{name}: {value}" if name in BY_VALUE else name


@cache
def said_in_files() -> dict[str, set[str]]:
    """Every choice that some built-in file makes, with the groups of the files."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in sorted(DATA.glob("*.yaml")):
        for choice in _choices_in(path):
            found[choice].add(SAME.get(path.stem, path.stem))
    return found


def _choices_in(path: Path) -> Iterator[str]:
    document: Any = fast_yaml.load(path.read_text("utf-8"))
    for part in ("gateways", "delegation"):
        yield from choices_of(f"{part}.", document.get(part, {}))
    yield from choices_of("status.", document.get("status", {}))
    for kind in document["kinds"].values():
        yield from choices_of("", kind)
        yield from choices_of("status.", kind.get("status", {}))


@pytest.mark.parametrize("row", rows(), ids=lambda row: ", ".join(row.choices))
def test_those_who_make_a_choice_are_named(row: Row) -> None:
    """All of them, for each choice of the row taken together, and the row names code."""
    found = said_in_files()
    assert set(row.groups) == {group for choice in row.choices for group in found[choice]}
    assert row.modules
    for module in row.modules:
        assert PACKAGE.joinpath(*module.split(".")).with_suffix(".py").is_file(), f"there is no {module}"


def test_no_choice_of_one_implementation_is_left_out() -> None:
    """What one built-in file alone says is there because of one implementation."""
    alone = {choice for choice, groups in said_in_files().items() if len(groups) == 1} - NOT_CHOICES
    assert alone - {choice for row in rows() for choice in row.choices} == set()
