"""Objects that were recognised by the shapes of their documents, and are read when somebody asks for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.sources.files import InputFile
from kubectl_policy.sources.reading import Reading
from kubectl_policy.text import documents

if TYPE_CHECKING:
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
