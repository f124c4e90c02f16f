"""Lines of settings in files, on standard input and in revisions; namespaces that files around an object set."""

from __future__ import annotations

import io
import json
import re
import sys
from typing import TYPE_CHECKING, Final

import pytest

from tests.cli.conftest import MANIFESTS
from tests.repository import Repository

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Command

DESCRIBE = ("describe", "httproute/r", "-n", "app", "-o", "json")
LINE = MANIFESTS.count("\n")


def origins(answer: str) -> list[tuple[str, str, int]]:
    """The file, the field and the line of every setting in a description."""
    settings = [setting for group in json.loads(answer)["inForce"] for setting in group["settings"]]
    return [(item["origin"]["source"], item["declaredIn"], item["origin"]["line"]) for item in settings]


@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"], ids=["plain", "bom"])
def test_a_file(command: Command, tmp_path: Path, start: bytes) -> None:
    (tmp_path / "a.yaml").write_bytes(start + MANIFESTS.encode())
    answer = command(*DESCRIBE, "--offline", tmp_path / "a.yaml")
    assert origins(answer.out) == [(str(tmp_path / "a.yaml"), "spec.color", LINE)]


def test_standard_input(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    block = MANIFESTS.replace("spec: {targetRef", "spec:\n  targetRef").replace(", color: red}", "\n  color: red")
    monkeypatch.setattr(sys, "stdin", io.StringIO(block))
    assert origins(command(*DESCRIBE, "--offline", "-").out) == [("<stdin>", "spec.color", LINE + 2)]


def test_a_revision(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = Repository(tmp_path / "repository")
    repository.write("a.yaml", MANIFESTS)
    repository.commit()
    repository.write("a.yaml", "# one line more\n" + MANIFESTS.replace("color: red", "color: blue"))
    monkeypatch.chdir(repository.folder)
    (change,) = json.loads(command("diff", "main:", ".", "-o", "json").out)["effects"]
    (field,) = change["fields"]
    assert field["before"]["origin"] == {"source": "main:a.yaml", "line": LINE}
    assert field["after"]["origin"] == {"source": "a.yaml", "line": LINE + 1}


def test_what_a_kustomization_places(command: Command, tmp_path: Path) -> None:
    """The object is in another namespace than its file says, and its fields are on the lines of the file."""
    (tmp_path / "kustomization.yaml").write_text("namespace: app\nresources: [a.yaml]\n", encoding="utf-8")
    (tmp_path / "a.yaml").write_text(MANIFESTS.replace(", namespace: app", ""), encoding="utf-8")
    answer = command(*DESCRIBE, "--offline", tmp_path)
    assert origins(answer.out) == [(str(tmp_path / "a.yaml"), "spec.color", LINE)]


def test_a_policys_own_fields(command: Command, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(MANIFESTS, encoding="utf-8")
    answer = command("describe", "colorpolicy/red", "-n", "app", "-o", "json", "--offline", tmp_path)
    (field,) = json.loads(answer.out)["fields"]
    assert (field["origin"]["line"], field["declaredIn"]) == (LINE, "spec.color")


def test_who_wrote_it(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = Repository(tmp_path / "repository")
    repository.write("a.yaml", MANIFESTS)
    commit = repository.commit()
    monkeypatch.chdir(repository.folder)
    asked = ("describe", "httproute/r", "-n", "app", "--blame", "--offline", ".")
    assert f":{LINE} Somebody, 2026-01-01, {commit[:7]}\n" in command(*asked).out
    (setting,) = json.loads(command(*asked, "-o", "json").out)["inForce"][0]["settings"]
    assert setting["blame"] == {"who": "Somebody", "when": "2026-01-01T00:00:00+00:00", "commit": commit}
    repository.write("a.yaml", MANIFESTS.replace("color: red", "color: blue"))
    policy = command("describe", "colorpolicy/red", "-n", "app", "--blame", "--offline", ".")
    assert f":{LINE} not committed yet" in policy.out
    assert not policy.err


def test_who_wrote_it_is_not_known(command: Command, manifests: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(manifests.parent))
    code, out, err = command(*DESCRIBE, "--blame", "--offline", manifests)
    assert (code, json.loads(out)["inForce"][0]["settings"][0]["blame"]) == (0, None)
    assert err == f"the authors of {manifests / 'all.yaml'} are not known: it is in no git repository\n"


def test_who_owns_it(command: Command, tmp_path: Path) -> None:
    """What an API server recorded comes first."""
    fields = '{"f:spec": {"f:color": {}}}'
    owner = f"managedFields: [{{manager: kubectl, time: '2026-03-01T10:00:00Z', fieldsV1: {fields}}}]"
    text = MANIFESTS.replace("{name: red, namespace: app}", f"{{name: red, namespace: app, {owner}}}")
    (tmp_path / "a.yaml").write_text(text, encoding="utf-8")
    code, out, err = command("describe", "httproute/r", "-n", "app", "--blame", "--offline", tmp_path)
    assert (code, err) == (0, "")
    assert "kubectl, 2026-03-01" in out


ROUTE_MANIFEST: Final = """
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: echo}
spec: {parentRefs: [{name: edge, namespace: infra}], rules: [{backendRefs: [{name: echo, port: 80}]}]}
"""
POLICY: Final = """
apiVersion: example.io/v1
kind: RetryPolicy
metadata: {name: slow}
spec: {targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: echo}, attempts: 2}
"""
KUSTOMIZATION: Final = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"


def tree(folder: Path, namespace: str) -> Path:
    message = KUSTOMIZATION + namespace + "resources: [route.yaml, policy.yaml]\n"
    for name, text in (("kustomization.yaml", message), ("route.yaml", ROUTE_MANIFEST), ("policy.yaml", POLICY)):
        (folder / name).write_text(text, "utf-8")
    return folder


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("describe", "httproute/echo"), 0),
        # Whether it has an effect is unknown: the Gateway of its route was not read.
        (("describe", "retrypolicy/slow"), 4),
        (("blast-radius", "httproute/echo", "--allow-incomplete"), 0),
        (("why-not", "retrypolicy/slow", "httproute/echo"), 4),
        (("get", "policies"), 0),
    ],
)
def test_what_says_a_namespace_is_told_once(
    command: Command, tmp_path: Path, arguments: tuple[str, ...], code: int
) -> None:
    result = command(*arguments, "-n", "media", "--offline", tree(tmp_path, "namespace: media\n"))
    assert result.code == code
    (message,) = [line for line in result.err.splitlines() if " is in namespace " in line]
    assert re.search(r" is in namespace media by .*kustomization\.yaml:3$", message)


def test_where_nothing_says_it_the_answer_says_so(command: Command, tmp_path: Path) -> None:
    out = command("describe", "httproute/echo", "-n", "media", "--offline", tree(tmp_path, "")).out
    assert "the namespace of HTTPRoute" in out
    assert "Could not be seen" in out
