"""The comments in what is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.sources import Lines
from tests.repository import alone

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

TEXT = "a: 1\nb: 2 # kubectl-policy: ignore GWP1001\n"


def test_in_a_file(tmp_path: Path) -> None:
    """Which is read once."""
    file = tmp_path / "a.yaml"
    file.write_text(TEXT)
    lines = Lines()
    assert [each.says for each in lines.comments(str(file))] == ["ignore GWP1001"]
    file.unlink()
    assert [each.line for each in lines.comments(str(file))] == [2]


def test_in_what_is_no_file(tmp_path: Path) -> None:
    """There is none, whatever is the matter with it."""
    (tmp_path / "b.yaml").write_bytes(b"\xff\xfe\xfa # kubectl-policy: ignore")
    for source in (str(tmp_path), f"{tmp_path}/no.yaml", f"{tmp_path}/b.yaml", "<stdin>", "kind:dev", "a\0b", ""):
        assert Lines().comments(source) == ()


def test_in_what_cannot_be_read_again() -> None:
    """Whoever has the text may tell it."""
    lines = Lines()
    lines.keep("<stdin>", TEXT)
    assert [each.line for each in lines.comments("<stdin>")] == [2]


def test_in_a_revision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are found as well."""
    repository = alone(tmp_path, monkeypatch)
    repository.write("a.yaml", TEXT)
    repository.commit()
    monkeypatch.chdir(repository.folder)
    assert [each.line for each in Lines().comments("HEAD:a.yaml")] == [2]
    assert Lines().comments("HEAD:b.yaml") == ()
