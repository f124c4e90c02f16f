"""One tree is read the same from a folder, from a git revision, from the index and from an archive."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kubectl_policy.errors import SourceError
from kubectl_policy.sources import InputOptions, load_state
from tests.repository import CM, alone

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
