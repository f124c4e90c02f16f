"""Paths that options, variables and config files name: what is no file is refused at once, in one line."""

from __future__ import annotations

import json
import os
import socket
from typing import TYPE_CHECKING, Final

import pytest

from kubectl_policy.text import named_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.cli.conftest import Command

WORLD: Final = ("--offline", "all.yaml")
# A command for each option that takes a path; `{}` stands for it.
OPTIONS: Final = {
    "--offline": ("get", "policies", "--offline", "{}"),
    "--offline beside another": ("get", "policies", *WORLD, "--offline", "{}"),
    "lint": ("lint", "{}"),
    "--context-from": ("lint", "all.yaml", "--context-from", "{}"),
    "--diff-base": ("lint", "all.yaml", "--diff-base", "{}"),
    "diff before": ("diff", "{}", "all.yaml"),
    "diff after": ("diff", "all.yaml", "{}"),
    "diff -f": ("diff", *WORLD, "-f", "{}"),
    "--profiles": ("get", "policies", *WORLD, "--profiles", "{}"),
    "--config": ("lint", "all.yaml", "--config", "{}"),
    "--baseline": ("lint", "all.yaml", "--baseline", "{}"),
    "--kubeconfig": ("get", "policies", "--kubeconfig", "{}"),
    "snapshot": ("snapshot", "-o", "-", "--offline", "{}"),
}
VARIABLES: Final = {
    "KUBECONFIG": ("get", "policies"),
    "KUBECTL_POLICY_CONFIG": ("get", "policies", *WORLD),
    "KUBECTL_POLICY_OFFLINE": ("get", "policies"),
}
# For each key of a config file, whether the file is that of a project.
KEYS: Final = {"baseline": True, "context-from": True, "profiles": False, "offline": False}
REASONS: Final = {
    "/dev/zero": "it is a device, not a file",
    "link.yaml": "it is a device, not a file",
    "socket": "it is a socket, not a file",
    "pipe": "no program writes to this pipe",
}


@pytest.fixture(autouse=True)
def special_files(manifests: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The current folder, with one file of each special type."""
    monkeypatch.chdir(manifests)
    monkeypatch.setattr(named_file, "_PATIENCE", 1)
    os.mkfifo("pipe")
    (manifests / "link.yaml").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        yield


def _check(command: Command, arguments: tuple[str, ...], path: str) -> None:
    code, out, err = command(*arguments)
    assert (code in {2, 3}, out) == (True, "")
    assert [line for line in err.splitlines() if path in line and REASONS[path] in line] == err.splitlines()[:1]
    assert err.startswith("error: ")


@pytest.mark.parametrize("path", REASONS)
@pytest.mark.parametrize("option", OPTIONS)
def test_an_option(command: Command, option: str, path: str) -> None:
    _check(command, tuple(word.format(path) for word in OPTIONS[option]), path)


@pytest.mark.parametrize("path", REASONS)
@pytest.mark.parametrize("variable", VARIABLES)
def test_a_variable(command: Command, monkeypatch: pytest.MonkeyPatch, variable: str, path: str) -> None:
    monkeypatch.setenv(variable, path)
    _check(command, VARIABLES[variable], path)


@pytest.mark.parametrize("path", REASONS)
@pytest.mark.parametrize("key", KEYS)
def test_a_key_of_a_config_file(
    command: Command, manifests: Path, monkeypatch: pytest.MonkeyPatch, key: str, path: str
) -> None:
    """JSON is YAML as well."""
    (manifests / "config.yaml").write_text(json.dumps({key: path if key == "baseline" else [path]}))
    arguments: tuple[str, ...] = ("lint", "all.yaml", "--config", "config.yaml")
    if not KEYS[key]:
        monkeypatch.setenv("KUBECTL_POLICY_CONFIG", "config.yaml")
        arguments = ("get", "policies", *(WORLD if key == "profiles" else ()))
    _check(command, arguments, path)


def test_a_token_file(command: Command, manifests: Path) -> None:
    """A kubeconfig names further files."""
    user = {"tokenFile": "/dev/zero"}
    config = {
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:9"}}],
        "users": [{"name": "u", "user": user}],
        "current-context": "c",
    }
    (manifests / "kubeconfig").write_text(json.dumps(config))
    _check(command, ("get", "policies", "--kubeconfig", "kubeconfig"), "/dev/zero")


def test_the_null_device_is_an_empty_config_file(command: Command) -> None:
    """It is named where no config file is to be read."""
    assert command("lint", "all.yaml", "--config", os.devnull).code == 0
