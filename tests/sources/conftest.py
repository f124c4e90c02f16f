"""Git repositories in which tests run."""

from pathlib import Path

import pytest

from tests.repository import CM, Repository, alone


@pytest.fixture
def empty_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A repository without any commit, which is the current directory."""
    repository = alone(tmp_path, monkeypatch)
    monkeypatch.chdir(repository.folder)
    return repository


@pytest.fixture
def repository(empty_repository: Repository) -> Repository:
    """A repository with `a.yaml` in its only commit, which is the current directory."""
    empty_repository.write("a.yaml", CM % "a")
    empty_repository.commit()
    return empty_repository
