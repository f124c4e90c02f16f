"""`diff`: two states, or the input and what becomes of it; formats, streams and exit codes."""

from __future__ import annotations

import io
import json
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy.cli.commands.changes import DIFF
from tests.cli.conftest import MANIFESTS
from tests.repository import Repository

if TYPE_CHECKING:
    from tests.cli.conftest import Command

BAKERY: Final = Path(__file__).parents[2] / "fixtures" / "bakery"
OUTPUTS: Final = DIFF.formats
EXAMPLE: Final = "for example: diff main:manifests manifests, or diff -f change.yaml --offline manifests"
BLUE: Final = MANIFESTS.replace("color: red", "color: blue")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--retarget", "colorpolicy/red=gateway/g", "--delete", "colorpolicy/red"], "ColorPolicy app/red"),
        (["--retarget", "colorpolicy/red=gateway/g", "--retarget", "colorpolicy/red=service/s"], "ColorPolicy app/red"),
    ],
)
def test_a_policy_is_not_changed_in_two_ways_at_once(
    command: Command, manifests: Path, arguments: list[str], message: str
) -> None:
    code, out, err = command("diff", "-n", "app", "--offline", manifests, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {message} is to be changed in two ways at once\n")


@pytest.mark.parametrize("output", OUTPUTS)
def test_the_exit_code_says_whether_anything_changes(command: Command, tmp_path: Path, output: str) -> None:
    """In every format, without being asked to."""
    before, after = tmp_path / "before.yaml", tmp_path / "after.yaml"
    before.write_text(MANIFESTS, "utf-8")
    after.write_text(f"# A comment.\n{MANIFESTS}", "utf-8")
    assert command("diff", before, after, "--complete", "-o", output).code == 0
    after.write_text(BLUE, "utf-8")
    result = command("diff", before, after, "--complete", "-o", output)
    assert result.code == 1
    assert result.out


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("state", ["before", "after"])
def test_a_state_that_is_not_complete_fails_closed(command: Command, tmp_path: Path, output: str, state: str) -> None:
    """What could not be read on either side may be all the difference; nothing known to change is no excuse."""
    for name in ("before", "after"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "fine.yaml").write_text(MANIFESTS, "utf-8")
    (tmp_path / state / "broken.yaml").write_text("apiVersion: v1\nkind: [", "utf-8")
    ask = ("diff", tmp_path / "before", tmp_path / "after", "--complete", "-o", output)
    result = command(*ask)
    assert result.code == 4
    assert "broken.yaml" in (result.out + result.err).replace("&#46;", ".")
    assert command(*ask, "--allow-incomplete").code in {0, 1}


def test_two_revisions_are_compared(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is checked out; a revision with itself changes nothing, and one with the folder as it is may."""
    repository = Repository(tmp_path / "repository")
    repository.write("manifests/all.yaml", MANIFESTS)
    repository.commit()
    monkeypatch.chdir(repository.folder)
    assert command("diff", "main:manifests", "main:manifests", "--complete").code == 0
    assert command("diff", "main:manifests", "manifests", "--complete").code == 0
    repository.write("manifests/all.yaml", BLUE)
    code, out, _ = command("diff", "main:manifests", "manifests", "--complete")
    assert code == 1
    assert "  color   red   → blue, set by ColorPolicy app/red → HTTPRoute app/r\n" in out
    repository.commit()
    assert command("diff", "main~1:manifests", "main:", "--complete").code == 1


def test_manifests_are_applied_from_standard_input(
    command: Command, manifests: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(BLUE.split("---\n")[-1]))
    code, out, _ = command("diff", "-f", "-", "--offline", manifests, "--complete")
    assert code == 1
    assert "  color   red   → blue, set by ColorPolicy app/red → HTTPRoute app/r\n" in out
    assert "  updated   ColorPolicy app/red\n" in out


def test_what_is_applied_is_read_by_the_definitions_in_the_input(command: Command, tmp_path: Path) -> None:
    """An object of a cluster-scoped kind is the one that is there, and not one in a namespace."""
    definition = (
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: meshes.e.com}\n"
        "spec: {group: e.com, scope: Cluster, names: {kind: Mesh, plural: meshes, singular: mesh}}\n"
    )
    mesh = "apiVersion: e.com/v1\nkind: Mesh\nmetadata: {name: m}\nspec: {a: 1}\n"
    (tmp_path / "world.yaml").write_text(f"{definition}---\n{mesh}", "utf-8")
    (tmp_path / "change.yaml").write_text(mesh.replace("a: 1", "a: 2"), "utf-8")
    ask = ("diff", "-f", tmp_path / "change.yaml", "--offline", tmp_path / "world.yaml", "--complete", "-o", "json")
    document = json.loads(command(*ask).out)
    assert [result["name"] for result in document["updated"]] == ["m"]
    assert document["created"] == []


def test_deletions_take_with_them_what_goes_with_them(command: Command) -> None:
    document = json.loads(command("diff", "--delete", "ns/pastry", "--offline", BAKERY, "-o", "json").out)
    assert {result["kind"] for result in document["deleted"]} == {
        "Namespace",
        "Service",
        "HTTPRoute",
        "BackendTLSPolicy",
        "ReferenceGrant",
    }


def test_a_policy_is_retargeted(command: Command) -> None:
    ask = ("diff", "--retarget", "retrypolicy/own=httproute/menu", "-n", "baker", "--offline", BAKERY)
    code, out, _ = command(*ask)
    assert code == 1
    assert "  RetryPolicy baker/own → HTTPRoute baker/events: no longer names it\n" in out
    assert "  RetryPolicy baker/own → HTTPRoute baker/menu: names it now\n" in out


def test_a_change_without_any_object_is_no_change(command: Command, manifests: Path) -> None:
    """Whoever names an empty file has made a mistake."""
    empty = manifests / "change.txt"
    empty.write_text("# nothing\n", "utf-8")
    code, out, err = command("diff", "-f", empty, "--offline", manifests)
    assert (code, out) == (3, "")
    assert err.startswith("error: no Kubernetes object in 1 file")


@pytest.mark.unmeasured
def test_a_comment_on_a_pull_request_fits(command: Command, tmp_path: Path) -> None:
    shutil.copytree(BAKERY, tmp_path / "before")
    shutil.copytree(BAKERY, tmp_path / "after")
    name = "x" * 60
    policies = "".join(
        f"---\napiVersion: example.io/v1alpha1\nkind: RetryPolicy\nmetadata: {{name: {name}-{n}, namespace: baker}}\n"
        "spec: {targetRefs: [{group: '', kind: Service, name: oven}], defaults: {strategy: patch, attempts: %d}}\n" % n
        for n in range(1500)
    )
    (tmp_path / "after" / "more.yaml").write_text(policies, "utf-8")
    code, out, _ = command("diff", tmp_path / "before", tmp_path / "after", "-o", "markdown")
    assert code == 1
    assert len(out) <= 65_536
    assert "-o json" in out
