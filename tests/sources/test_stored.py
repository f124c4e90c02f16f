"""Objects that were recognised by the shapes of their documents, and are read when somebody asks for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy import load_manifests
from kubectl_policy.model.index import Index
from kubectl_policy.sources.files import InputFile
from kubectl_policy.sources.reading import Reading
from kubectl_policy.text import documents

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

_KUSTOMIZATION = """\
# of {0}
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
metadata:
  name: {0}
"""


def test_what_is_said_about_other_files_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kustomizations may be as alike as other documents."""
    monkeypatch.setattr(documents, "PATIENCE", 1)
    reading = Reading({})
    for name in "ab":
        reading.read_file(InputFile(f"{name}/kustomization.yaml"), lambda path: _KUSTOMIZATION.format(path[0]))
    found = [document and (document.line, document.value) for document in reading.others.values()]
    known = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization"}
    assert found == [(2, {**known, "metadata": {"name": name}}) for name in "ab"]


def test_what_is_read_for_the_most_part_is_not_searched(tmp_path: Path) -> None:
    """To look for what may name an object pays while little was read."""
    text = "---\n".join(f"apiVersion: v1\nkind: Service\nmetadata:\n  name: s{place}\n" for place in range(100))
    (tmp_path / "all.yaml").write_text(text, encoding="utf-8")
    world = Index(load_manifests([str(tmp_path)])).world
    asked = [world.is_narrow for ref in [*world.names()] if world.get(ref)]
    assert (asked[0], asked[-1]) == (True, False)
