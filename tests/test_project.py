"""Promises that the project makes about itself, whatever its code does."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import kubectl_policy
from kubectl_policy import __version__
from tests.conftest import MEASURED

ROOT = Path(__file__).parent.parent
# A name, a version, perhaps a marker, and hashes: all else could tie the lock to one machine or mirror.
PIN = re.compile(r"[a-z0-9-]+==[a-z0-9.]+( ; [a-z0-9 _.'=<>!()]+)?( +--hash=sha256:[0-9a-f]{64})+", re.IGNORECASE)
# One line of an ignore list, as pyproject.toml lays them out.
RULE = re.compile(r'^\s*"(?P<rule>[A-Z]+[0-9]*)",(?P<rest>.*)$')


def _ignored_rules() -> list[tuple[str, str]]:
    """Each ruff rule that is ignored anywhere in the project's settings, with what follows it on its line."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    lint = tomllib.loads(text)["tool"]["ruff"]["lint"]
    ignored = [*lint["ignore"], *(rule for rules in lint["per-file-ignores"].values() for rule in rules)]
    lines = [match for match in map(RULE.match, text.splitlines()) if match]
    assert sorted(match["rule"] for match in lines) == sorted(ignored), "write each ignored rule on a line of its own"
    return [(match["rule"], match["rest"]) for match in lines]


def test_the_lock_holds_names_versions_and_hashes_only() -> None:
    """Nothing is installed unchecked, and whoever installs decides where the packages come from."""
    pins = (ROOT / "requirements.lock").read_text("utf-8").replace("\\\n", " ").splitlines()
    odd = [pin for pin in pins if not PIN.fullmatch(pin)]
    assert pins, "requirements.lock is empty; run `make lock`"
    assert odd == [], "requirements.lock names a host, a URL or a path, or lacks a hash; run `make lock`"


@pytest.mark.parametrize(("rule", "rest"), _ignored_rules())
def test_every_ignored_rule_has_a_reason(rule: str, rest: str) -> None:
    """A rule is switched off for a reason that a reader can disagree with."""
    assert re.search(r"#\s*\S+(\s+\S+){2}", rest), f"say why {rule} is ignored, behind it in pyproject.toml"


@pytest.mark.parametrize("command", ["make demo", "make test"])
def test_the_readme_says_how_to_begin(command: str) -> None:
    """Somebody who has just cloned the project finds the two commands to begin with."""
    assert command in (ROOT / "README.md").read_text("utf-8"), f"README.md does not mention `{command}`"


def test_the_version_is_the_same_everywhere() -> None:
    """What the package says of itself is what is published."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["version"] == __version__, "pyproject.toml and kubectl_policy.__version__ differ"


def test_every_public_name_is_there() -> None:
    """Whether or not it was used before: completion shows what there is."""
    names = dir(kubectl_policy)
    assert {*kubectl_policy.__all__, "__version__"} == {*names}
    assert all(getattr(kubectl_policy, name) is not None for name in names)
    assert {"describe", "why_not", "blast_radius", "status", "diff", "in_force"} <= {*names}


@pytest.mark.parametrize("name", MEASURED)
def test_what_coverage_is_measured_by_is_there(name: str) -> None:
    """A renamed module of tests would be measured no longer."""
    assert (Path(__file__).parent / name).exists()


def test_data_files_lie_where_the_wheel_takes_them() -> None:
    """Profiles are package data, so they lie inside the package, as does the marker of a typed package."""
    package = ROOT / "src" / "kubectl_policy"
    assert (package / "py.typed").is_file(), "py.typed is missing: type checkers would ignore the annotations"
    assert list((package / "profiles").rglob("*.yaml")), "no profile is in the package"
