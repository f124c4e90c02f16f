"""What a word for a state of the world means."""

import io

import pytest

from kubectl_policy.errors import SourceError, UsageError
from kubectl_policy.sources import InputOptions, load_manifests, load_state
from tests.repository import CM, Repository


def test_a_live_cluster(repository: Repository) -> None:
    """It is not read here; a file of that name is a file."""
    with pytest.raises(UsageError, match="live is a cluster, not manifests") as caught:
        load_state("live")
    assert caught.value.hint == "name a file, a folder or REV:PATH in git"
    repository.write("live", CM % "live")
    assert load_state("live").resources[0].ref.name == "live"


@pytest.mark.parametrize("operand", ["main", "HEAD", "@", "HEAD^{tree}", "HEAD^{/x}"])
@pytest.mark.usefixtures("repository")
def test_a_revision_without_a_path(operand: str) -> None:
    with pytest.raises(SourceError) as caught:
        load_state(operand)
    assert caught.value.message == f"{operand}: there is no such file or folder"
    assert caught.value.hint == f"write {operand}:PATH for the files in a git revision"


@pytest.mark.parametrize("operand", ["gone", "gone/a.yaml", "--help", "", "gone*.yaml", "nul\0", "x" * 300, "\ud800"])
@pytest.mark.usefixtures("repository")
def test_neither_a_file_nor_a_revision(operand: str) -> None:
    with pytest.raises(SourceError) as caught:
        load_state(operand)
    assert "revision" not in caught.value.message + caught.value.hint


@pytest.mark.parametrize("operand", ["C:/gone", "C:\\gone"])
@pytest.mark.usefixtures("repository")
def test_a_drive_is_no_revision(operand: str) -> None:
    with pytest.raises(SourceError, match="there is no such file or folder") as caught:
        load_state(operand)
    assert "revision" not in caught.value.hint


def test_a_file_counts_before_a_revision(repository: Repository) -> None:
    repository.write("main:a.yaml", CM % "file")
    assert load_state("main:a.yaml").resources[0].ref.name == "file"
    repository.write("main", CM % "main")
    assert load_state("main").resources[0].ref.name == "main"


@pytest.mark.usefixtures("repository")
def test_files() -> None:
    """A file, a folder, a pattern and standard input are what they are to `load_manifests`."""
    for operand in ("a.yaml", ".", "*.yaml"):
        assert load_state(operand) == load_manifests([operand]) or [
            (resource.ref, resource.origin) for resource in load_state(operand).resources
        ] == [(resource.ref, resource.origin) for resource in load_manifests([operand]).resources]
    assert load_state("-", stdin=io.StringIO(CM % "b")).resources[0].origin.source == "<stdin>"


@pytest.mark.parametrize("operand", ["a.yaml", "main:a.yaml", "-", "*.yaml"])
@pytest.mark.usefixtures("repository")
def test_options_hold_for_every_state(operand: str) -> None:
    """The namespace of what names none, and whether the world is closed."""
    snapshot = load_state(operand, options=InputOptions(namespace="apps", complete=True), stdin=io.StringIO(CM % "a"))
    assert (snapshot.complete, snapshot.resources[0].ref.namespace) == (True, "apps")
    assert not load_state(operand, stdin=io.StringIO(CM % "a")).complete


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "apiVersion: v1\nkind: List\nitems: []\n"])
def test_an_empty_change(repository: Repository, text: str) -> None:
    """It is no change, and a mistake, wherever it is read from."""
    repository.write("empty.yaml", text)
    repository.commit()
    for operand in ("empty.yaml", "main:empty.yaml"):
        with pytest.raises(SourceError, match="no Kubernetes object in 1 file") as caught:
            load_state(operand)
        assert caught.value.hint
