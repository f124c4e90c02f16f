"""Repositories as people keep them: what is read of them as they are, and what their own programs make of them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy import load_manifests

if TYPE_CHECKING:
    from kubectl_policy.model import Snapshot

REPOSITORIES: Final = Path(__file__).parents[2] / "fixtures" / "repositories"
NAMES: Final = sorted(path.name for path in REPOSITORIES.iterdir())
KUSTOMIZATIONS: Final = sorted(
    path.parent for path in REPOSITORIES.rglob("kustomization.yaml") if "components" not in path.parts
)


def program(name: str) -> str:
    """Where a program is; where it is not, the test is left out."""
    found = shutil.which(name)
    return found or pytest.skip(f"{name} is not installed")


def raw(name: str) -> Snapshot:
    """A repository as it is read without any program."""
    return load_manifests([REPOSITORIES / name])


@pytest.mark.parametrize("name", NAMES)
def test_a_repository_says_what_it_is(name: str) -> None:
    """A reader who opens the folder finds the story first."""
    assert (REPOSITORIES / name / "README.md").read_text("utf-8").startswith("# ")


@pytest.mark.parametrize("folder", KUSTOMIZATIONS, ids=lambda folder: folder.relative_to(REPOSITORIES).as_posix())
def test_every_kustomization_can_be_built(folder: Path) -> None:
    """What would not work for its owners would prove nothing."""
    built = subprocess.run([program("kubectl"), "kustomize", str(folder)], capture_output=True, check=False)  # noqa: S603 (our own files)
    assert (built.returncode, built.stderr) == (0, b"")


@pytest.mark.parametrize("values", [[], ["--values", str(REPOSITORIES / "helm" / "values-night.yaml")]])
def test_the_chart_can_be_rendered(values: list[str]) -> None:
    """By day and by night."""
    words = [program("helm"), "template", "parcels", str(REPOSITORIES / "helm" / "chart"), "--namespace", "post"]
    rendered = subprocess.run([*words, *values], capture_output=True, check=False)  # noqa: S603 (our own files)
    assert (rendered.returncode, rendered.stderr) == (0, b"")
    assert (b"rateLimit" in rendered.stdout) == bool(values)


@pytest.mark.parametrize("name", NAMES)
def test_every_repository_can_be_read(name: str) -> None:
    """As it is, there are objects in it."""
    assert raw(name).resources
