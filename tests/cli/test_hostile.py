"""Hostile input: each with a clear message, the right exit code, and never a traceback."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import MANIFESTS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Command, Result

FORMATS = ("tree", "table", "wide", "csv", "yaml", "json", "name")
ASK = ("describe", "httproute/r", "-n", "app", "--offline")
COLOR = "apiVersion: example.com/v1\nkind: ColorPolicy\n"
HEAD = "apiVersion: gateway.networking.k8s.io/v1\nkind: {}\nmetadata: {{name: {}, namespace: app}}\n"


def _refused(result: Result, message: str) -> None:
    assert (result.code, result.out) == (3, "")
    assert result.err.startswith("error: ")
    assert message in result.err
    assert "Traceback" not in result.err


def test_an_empty_folder(command: Command, tmp_path: Path) -> None:
    _refused(command(*ASK, tmp_path), "it contains no manifests")


def test_a_missing_path(command: Command, tmp_path: Path) -> None:
    _refused(command(*ASK, tmp_path / "nowhere"), "nowhere")


def test_a_folder_without_permission(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason is given; root may read everything, so for root the system's answer is played."""
    closed = tmp_path / "closed"
    closed.mkdir()
    closed.chmod(0)
    if os.access(closed, os.R_OK):

        def refuse(path: object) -> object:
            raise PermissionError(13, "Permission denied", str(path))

        monkeypatch.setattr(os, "listdir", refuse)
        monkeypatch.setattr(os, "scandir", refuse)
    _refused(command(*ASK, closed), "ermission denied")
    closed.chmod(0o700)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("binary.yaml", b"\x00\x01\x02\xff\xfe" * 50),
        ("brackets.yaml", b"a: " + b"[" * 100_000),
        ("brackets.json", b"[" * 100_000 + b"]" * 100_000),
        ("dashes.yaml", b"- " * 100_000),
        (
            "bomb.yaml",
            b"a0: &a0 [x]\n"
            + b"".join(b"a%d: &a%d [%s]\n" % (n, n, b",".join([b"*a%d" % (n - 1)] * 9)) for n in range(1, 12)),
        ),
        ("loop.yaml", b"a: &a [*a]\n"),
        ("template.yaml", b"kind: {{ .Values.kind }}\n"),
        ("tag.yaml", b"a: !!int [true]\nb: !!int true\n"),
    ],
)
def test_a_file_that_cannot_be_read_is_a_gap(command: Command, manifests: Path, name: str, content: bytes) -> None:
    path = manifests / name
    # Without an object in it, broken as it may be, it would be no manifest.
    path.write_bytes(b"apiVersion: v1\nkind: List\nitems: []\n---\n" + content)
    code, out, err = command(*ASK, manifests)
    assert code == 0
    assert "as far as could be read: 1 file may hold more." in " ".join(out.split())
    assert name in out
    assert "Traceback" not in out + err
    _refused(command(*ASK, path), name)


def test_a_document_of_fifty_megabytes(command: Command, manifests: Path) -> None:
    """It is refused before it can fill the memory; the rest is answered."""
    line = b"- some text that goes on and on and on and on and on and on\n"
    start = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: huge}\nlines:\n"
    (manifests / "huge.yaml").write_bytes(start + line * (50_000_000 // len(line)))
    code, _, remarks = command(*ASK, manifests)
    assert code == 0
    assert "huge.yaml:1: a YAML document of more than 32 MiB" in remarks


@pytest.mark.parametrize(
    "document",
    [
        HEAD.format("Gateway", "g") + "spec: {gatewayClassName: x, listeners: http}\n",
        HEAD.format("Gateway", "g") + "spec: [1, 2]\n",
        HEAD.format("Gateway", "g") + "spec: {listeners: [1, {name: [x]}, null]}\n",
        HEAD.format("HTTPRoute", "q") + "spec: {parentRefs: 7, rules: {a: b}, hostnames: [1]}\n",
        f"{COLOR}metadata: {{name: p, namespace: app}}\nspec: {{targetRefs: 7}}\n",
        f"{COLOR}metadata: {{name: p, namespace: app}}\nspec: {{targetRefs: [7, {{kind: [1]}}]}}\n",
        f"{COLOR}metadata: {{name: 7, namespace: [1], labels: x}}\nspec: text\n",
        "apiVersion: v1\nkind: Service\nmetadata: {name: s2, namespace: app}\nspec: {ports: {a: 1}}\n",
        "apiVersion: v1\nkind: [Service]\nmetadata: 3\n",
    ],
)
def test_a_field_of_the_wrong_type(command: Command, manifests: Path, document: str) -> None:
    (manifests / "odd.yaml").write_text(document, "utf-8")
    for name in ("httproute/r", "gateway/g", "service/s", "colorpolicy/red"):
        code, out, err = command("describe", name, "-n", "app", "--offline", manifests, "-o", "json")
        assert code == 0, (name, out, err)
        assert "Traceback" not in err


def test_a_gateway_with_listeners_as_text_is_a_problem(command: Command, manifests: Path) -> None:
    head = HEAD.format("Gateway", "bad")
    (manifests / "odd.yaml").write_text(f"{head}spec:\n  gatewayClassName: x\n  listeners: http\n", "utf-8")
    out = command("describe", "gateway/bad", "-n", "app", "--offline", manifests).out
    line = head.count("\n") + 3
    assert f"odd.yaml:{line}:" in out
    assert "spec.listeners is a string, must be a list" in " ".join(out.split())


@pytest.mark.parametrize("name", FORMATS)
def test_names_cannot_control_the_terminal(command: Command, tmp_path: Path, name: str) -> None:
    evil = "\\e[2J\\n[bold]x[/bold]\\u202e"
    text = MANIFESTS.replace("name: red", f'name: "{evil}"').replace("color: red", f'"{evil}": "{evil}"')
    lost = text.split("---\n")[-1].replace("name: r}", f'name: "{evil}"}}').replace("name: ", "name: x", 1)
    folder = tmp_path / "[red]folder[red]"
    folder.mkdir()
    (folder / "all.yaml").write_text(f"{text}---\n{lost}---\nkind: {{{{ x }}}}\n", "utf-8")
    for arguments in ((), ("--color", "never")):
        code, out, err = command(*ASK, folder, "-o", name, *arguments)
        assert code == 0
        assert all(line.isprintable() for line in (out + err).splitlines())
        assert out.count("[bold]") or name == "name"


def test_markup_is_not_obeyed_in_colour(command: Command, manifests: Path) -> None:
    (manifests / "all.yaml").write_text(MANIFESTS.replace("color: red", 'color: "[bold]x[/bold] :smile:"'), "utf-8")
    assert "[bold]x[/bold] :smile:" in command(*ASK, manifests, "--color", "always").out


def test_a_value_nested_deeply_is_answered_or_refused(command: Command, manifests: Path) -> None:
    deep = '{"a": ' * 190 + "1" + "}" * 190
    (manifests / "all.yaml").write_text(MANIFESTS.replace("color: red", f"color: {deep}"), "utf-8")
    for name in FORMATS:
        assert command(*ASK, manifests, "-o", name).code == 0


@pytest.mark.parametrize("name", FORMATS)
def test_names_are_no_commands_to_a_ci(command: Command, manifests: Path, name: str) -> None:
    """No line begins with `::`, on either stream, where objects and kinds are called so."""
    text = MANIFESTS.replace("kind: ColorPolicy", 'kind: "::add-mask::x"')
    text = text.replace("name: red", 'name: "::stop-commands::y"')
    broken = '---\napiVersion: v1\nkind: "::error::z"\nmetadata: 3\n'
    (manifests / "all.yaml").write_text(text + broken, "utf-8")
    for arguments in (ASK, ("get", "policies", "-A", "--offline"), ("status", "-A", "--offline")):
        code, out, err = command(*arguments, manifests, *(("-o", name) if name != "tree" else ()))
        assert code in {0, 3}
        assert not any(line.lstrip().startswith("::") for line in (out + err).splitlines())
