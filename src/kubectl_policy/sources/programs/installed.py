"""Programs that are installed: their paths and versions, and the environment in which they run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.sources.programs.cache import Cache

_FOLDERS: Final = (
    "HOME",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "HELM_CACHE_HOME",
    "HELM_CONFIG_HOME",
    "HELM_DATA_HOME",
    "HELM_PLUGINS",
    "HELM_REPOSITORY_CACHE",
)
_PROXIES: Final = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
# Nothing listens there, so that whatever asks for a server is refused at once.
_NOWHERE: Final = "http://127.0.0.1:9"
_SYSTEM: Final = "/usr/bin:/bin"
# Windows needs it to start any program.
_NEEDED: Final = ("SYSTEMROOT",)
_VERSION_ARGUMENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "helm": ("version",),
    "kubectl": ("version", "--client"),
    "kustomize": ("version",),
}
_VERSION: Final = re.compile(r"(?<![\w.])v?(\d+\.\d+(?:\.\d+)?(?:-[\w.]+)?)")
_EMBEDDED_KUSTOMIZE: Final = re.compile(r"(?i:kustomize version: )v([\w.-]+)")
_MAX_SECONDS_FOR_VERSION: Final = 10


def find_program(name: str) -> str:
    """Return the path of a program that is installed; empty if it is not."""
    return os.path.abspath(path) if (path := shutil.which(name)) else ""  # noqa: PTH100 (links may tell what to be)


def identity_of(program: str) -> str:
    """Return a text that changes whenever the file of a program changes."""
    try:
        status = os.stat(program)  # noqa: PTH116 (the path is text)
    except OSError:
        return program
    return f"{program} {status.st_size} {status.st_mtime_ns}"


def version_of(program: str, home: Path, kept: Cache | None = None) -> str:
    """Return the name and version of a program, as in `kustomize 5.7.1`; the name alone if it does not say.

    `kubectl kustomize 5.5.0` is the version of Kustomize that is part of kubectl. The answer is kept for as long as the
    file of the program stays the same.
    """
    key = f"version-{blake2b(identity_of(program).encode(), digest_size=20).hexdigest()}"
    if kept and (version := kept.get(key)):
        return version.decode("utf-8", "replace")
    name = Path(program).name.removesuffix(".exe")
    text = _ask_version(program, _VERSION_ARGUMENTS.get(name, ("--version",)), home)
    match = (_EMBEDDED_KUSTOMIZE if name == "kubectl" else _VERSION).search(text)
    if not match:
        return name
    answer = f"{'kubectl kustomize' if name == 'kubectl' else name} {match[1]}"
    if kept:
        kept.put(key, answer.encode())
    return answer


def _ask_version(program: str, arguments: tuple[str, ...], home: Path) -> str:
    try:
        completed = subprocess.run(  # noqa: S603 (no shell; the arguments are constants)
            (program, *arguments),
            env=environment(home, (program,)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_MAX_SECONDS_FOR_VERSION,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return ""
    return completed.stdout.decode("utf-8", "replace")


def environment(home: Path, programs: tuple[str, ...], *, network: bool = False) -> Mapping[str, str]:
    """Return the environment of the first of some programs, which may start the others.

    Without network, no other program, configuration or credential of the user is to be found in it.
    """
    always = {"KUBECONFIG": str(home / "none"), "TMPDIR": str(home), "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    if network:
        return {**os.environ, **always}
    paths = [os.path.dirname(helper) for helper in programs[1:]]  # noqa: PTH120 (text)
    # A program that is a script itself needs those of the system; what they could fetch with git, they may not.
    paths += [_SYSTEM] if _is_script(programs[0]) else []
    return {
        **{name: os.environ[name] for name in _NEEDED if name in os.environ},
        **dict.fromkeys(_FOLDERS, str(home)),
        **dict.fromkeys((*_PROXIES, *map(str.lower, _PROXIES)), _NOWHERE),
        **always,
        "PATH": os.pathsep.join(paths) or str(home),
        # Should there be a git after all, it fetches nothing.
        "GIT_ALLOW_PROTOCOL": "",
        "GOMAXPROCS": "2",
    }


@cache
def _is_script(path: str) -> bool:
    """Whether a program is run by another one, which is looked for where programs of the system are."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 (the path is text, and no more of it is read)
            return file.read(2) == b"#!"
    except OSError:
        return False
