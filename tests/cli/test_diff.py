"""`diff` and `blast-radius`: arguments, formats, streams and exit codes."""

from __future__ import annotations

import io
import json
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
import yaml

from kubectl_policy.cli.commands.changes import DIFF
from kubectl_policy.sources import Lines
from tests.cli.conftest import MANIFESTS
from tests.repository import Repository

if TYPE_CHECKING:
    from kubectl_policy.model import Json, Origin
    from kubectl_policy.model.fields import FieldPath
    from tests.cli.conftest import Command

BAKERY: Final = Path(__file__).parents[2] / "fixtures" / "bakery"
OUTPUTS: Final = DIFF.formats
BLUE: Final = MANIFESTS.replace("color: red", "color: blue")


@pytest.mark.parametrize("second", [["--delete", "colorpolicy/red"], ["--retarget", "colorpolicy/red=service/s"]])
def test_a_policy_is_not_changed_in_two_ways_at_once(command: Command, manifests: Path, second: list[str]) -> None:
    first = ("--retarget", "colorpolicy/red=gateway/g")
    code, out, err = command("diff", "-n", "app", "--offline", manifests, *first, *second)
    assert (code, out) == (2, "")
    assert err.startswith("error: ColorPolicy app/red is to be changed in two ways at once\n")


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


@pytest.mark.parametrize("output", ["tree", "json", "summary", "table"])
def test_a_part_of_a_state_is_to_be_applied(command: Command, tmp_path: Path, output: str) -> None:
    """A file next to the state of everything says little."""
    (tmp_path / "whole").mkdir()
    document = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d, namespace: app}\n"
    (tmp_path / "whole" / "all.yaml").write_text("---\n".join([MANIFESTS, *(document % n for n in range(12))]), "utf-8")
    (tmp_path / "part.yaml").write_text(document % 0, "utf-8")
    whole, part = tmp_path / "whole", tmp_path / "part.yaml"
    write = f"write kubectl policy diff -f {part} --offline {whole}"
    hint = f"hint: for what changes when {part} is applied to {whole}, {write}"
    for states, subject in (((whole, part), "later"), ((part, whole), "earlier")):
        compared = command("diff", *states, "--complete", "-o", output)
        assert compared.err.splitlines()[-1] == hint
        assert f"he {subject} state lacks nearly all objects" in " ".join((compared.out + compared.err).split())


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
    color = ("get", "effective", "-n", "app", "--field", "color", "--no-headers", "--offline")
    assert [command(*color, f"{revision}:manifests").out.split()[-1] for revision in ("main~1", "main")] == [
        "red",
        "blue",
    ]
    assert command("diff", "-f", "main:manifests", "--offline", "main~1:manifests").code == 1


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
    kinds = {"Namespace", "Service", "HTTPRoute", "BackendTLSPolicy", "ReferenceGrant"}
    assert {result["kind"] for result in document["deleted"]} == kinds


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


RETRIES: Final = ("blast-radius", "retrypolicy/resilience", "-n", "baker", "--offline", BAKERY)
IDLE: Final = ("blast-radius", "retrypolicy/wedding", "-n", "baker", "--offline", BAKERY, "--complete")


def test_an_object_that_is_not_there_has_no_answer(command: Command) -> None:
    code, out, err = command("blast-radius", "retrypolicy/nowhere", "-n", "baker", "--offline", BAKERY)
    assert (code, out) == (3, "")
    assert 'retrypolicy "nowhere" not found in namespace baker' in err


def test_lines_of_values_are_looked_up_for_documents_alone(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[FieldPath] = []

    def locate(_: Lines, __: Origin, field: FieldPath, ___: Json = None) -> None:
        asked.append(field)

    monkeypatch.setattr(Lines, "locate", locate)
    assert command(*RETRIES).code == 0
    assert not asked
    assert command(*RETRIES, "-o", "json").code == 0
    assert asked


@pytest.mark.parametrize("output", OUTPUTS)
def test_the_exit_code_says_that_something_changes(command: Command, output: str) -> None:
    """In every format, and only if it is asked for."""
    assert command(*RETRIES, "-o", output).code == 0
    assert command(*RETRIES, "-o", output, "--exit-code").code == 1
    assert command(*IDLE, "-o", output, "--exit-code").code == 0  # Its target does not exist, and nobody misses it.


@pytest.mark.parametrize("output", OUTPUTS)
def test_an_answer_that_is_not_complete_fails_closed(command: Command, tmp_path: Path, output: str) -> None:
    """A file that could not be read might hold what else would change, unless a person says not to mind."""
    (tmp_path / "broken.yaml").write_text("apiVersion: v1\nkind: [", "utf-8")
    ask = (*RETRIES, "--offline", tmp_path, "-o", output)
    result = command(*ask)
    assert result.code == 4
    assert command(*ask, "--exit-code").code == 4
    assert command(*ask, "--allow-incomplete").code == 0
    assert command(*ask, "--allow-incomplete", "--exit-code").code == 1
    assert "broken.yaml" in "".join(result.out + result.err).replace("&#46;", ".")


@pytest.mark.parametrize("output", OUTPUTS)
def test_a_policy_of_which_nothing_is_computed_fails_closed(command: Command, tmp_path: Path, output: str) -> None:
    """How its kind attaches is not known: that it affects nothing cannot be said."""
    plugin = "apiVersion: configuration.konghq.com/v1\nkind: KongUpstreamPolicy\nmetadata: {name: p, namespace: app}\n"
    (tmp_path / "plugin.yaml").write_text(plugin, "utf-8")
    ask = ("blast-radius", "kongupstreampolicy/p", "-n", "app", "--offline", tmp_path, "-o", output)
    assert command(*ask).code == 4
    assert command(*ask, "--allow-incomplete").code == 0


def test_documents_are_the_same_as_json_and_as_yaml(command: Command) -> None:
    document = json.loads(command(*RETRIES, "-o", "json").out)
    assert yaml.safe_load(command(*RETRIES, "-o", "yaml").out) == document
    assert (document["kind"], document["complete"]) == ("BlastRadius", True)


def test_owners_are_counted(command: Command) -> None:
    assert "  team         baker 7, pastry 1\n" in command(*RETRIES, "--owner", "team").out
    assert "  absent       no absent label: 8\n" in command(*RETRIES, "--owner", "absent").out


def test_a_namespace_without_a_manifest_can_be_asked_about(command: Command, manifests: Path) -> None:
    """It is there, for things live in it; with it goes everything."""
    code, out, _ = command("blast-radius", "namespace/app", "--offline", manifests, "--complete")
    assert code == 0
    assert "Deleted with it\n  Service app/s, ColorPolicy app/red, Gateway app/g, HTTPRoute app/r\n" in out


def test_names_cannot_control_the_terminal(command: Command, manifests: Path) -> None:
    hostile = "\x1b[31mred\x07\u202e[bold]x[/bold]</details><script>|`\n::error::x"
    policy = {
        "apiVersion": "example.com/v1",
        "kind": "ColorPolicy",
        "metadata": {"name": "bad", "namespace": "app"},
        "spec": {
            "targetRef": {"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "r"},
            "shade": hostile,
        },
    }
    (manifests / "bad.yaml").write_text(json.dumps(policy), "utf-8")
    for output in OUTPUTS:
        color = ("--color", "always") if output == "tree" else ()
        result = command("blast-radius", "colorpolicy/bad", "-n", "app", "--offline", manifests, "-o", output, *color)
        assert result.code == 0
        assert not any(mark in result.out for mark in ("\x1b[31mred", "\x07", "\u202e"))
        assert "\n::error" not in result.out + result.err


def test_no_list_of_a_large_answer_is_cut_in_a_pipe(command: Command, tmp_path: Path) -> None:
    heads = "apiVersion: v1\nkind: Namespace\nmetadata: {name: app}\n---\n"
    policy = "apiVersion: e.com/v1\nkind: APolicy\nmetadata: {name: p, namespace: app}\n"
    policy += "spec: {targetRef: {group: '', kind: Namespace, name: app}, a: 1}\n"
    services = "".join(
        "---\napiVersion: v1\nkind: Service\nspec: {ports: [{port: 80}]}\n"
        f"metadata: {{name: s{n:02}, namespace: app}}\n"
        for n in range(30)
    )
    (tmp_path / "all.yaml").write_text(heads + policy + services, "utf-8")
    ask = ("blast-radius", "apolicy/p", "-n", "app", "--offline", tmp_path)
    out = command(*ask).out
    assert "Service app/s29\n" in out
    assert "more" not in out
    (effect,) = json.loads(command(*ask, "-o", "json").out)["difference"]["effects"]
    assert len({changed["node"]["name"] for changed in effect["objects"]}) == 30


def test_what_goes_with_an_object_is_not_put_right(command: Command) -> None:
    """A problem of a policy that is deleted with its Namespace is not fixed."""
    out = command("blast-radius", "namespace/baker", "--offline", BAKERY).out
    assert "Deleted with it" in out
    assert "Problems fixed" not in out


def test_no_traffic_starts_where_no_route_leads_any_more(command: Command) -> None:
    """What is in force on a backend by itself is in force for no request."""
    ask = ("blast-radius", "gateway/harbour", "-n", "platform", "--offline", BAKERY.parent / "kgateway")
    out = " ".join(command(*ask).out.split())
    assert "Deleting Gateway platform/harbour ends all traffic for 4 routes" in out
    assert "Backend sailings/bank" in out
    assert "starts traffic" not in out
