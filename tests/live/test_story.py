"""The story of the README, told by the wheel in a clean environment, where kubectl finds it."""

import os
import pty
import select
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from kubectl_policy import __version__
from tests.live.server import ADMIN, BAKER, Server

ROOT: Final = Path(__file__).parents[2]


class Result(NamedTuple):
    """What came out of a command; whitespace in the texts is no more than a blank, wherever lines are broken."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel, and nothing else on the PATH but kubectl and what every system has."""

    folder: Path
    server: Server

    @property
    def programs(self) -> Path:
        return self.folder / "environment" / "bin"

    def variables(self, *users: str) -> dict[str, str]:
        """The environment of a user with a kubeconfig for each of some users, of which the first is current."""
        kept = {name: value for name, value in self.server.environment().items() if not name.startswith("PYTHON")}
        files = [str(self.server.kubeconfig(user)) for user in users]
        path = [str(self.programs), str(self.folder / "kubectl"), os.defpath]
        return {**kept, "HOME": str(self.folder), "KUBECONFIG": ":".join(files), "PATH": ":".join(path)}

    def run(self, *command: str, users: tuple[str, ...] = (BAKER, ADMIN)) -> Result:
        """What a command does for whom these users are."""
        done = subprocess.run(  # noqa: S603 (our own arguments)
            command,
            env=self.variables(*users),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return Result(done.returncode, " ".join(done.stdout.split()), " ".join(done.stderr.split()))


def installed(folder: Path, server: Server) -> Installed:
    """Build the wheel, and install it into a new environment in a folder.

    No registry is asked: what the wheel depends on is that of the interpreter that runs the tests, from the lock, which
    the new environment also looks into (a `.pth`). Of this project, it has the wheel alone.
    """
    _python("-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder))
    (wheel,) = folder.glob("*.whl")
    _python("-m", "venv", "--without-pip", str(folder / "environment"))
    python = folder / "environment" / "bin" / "python"
    _python("-m", "pip", f"--python={python}", "install", "--quiet", "--no-index", "--no-deps", str(wheel))
    places = sysconfig.get_paths()
    libraries = subprocess.run(  # noqa: S603 (our own arguments)
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True,
        text=True,
        check=True,
    )
    (Path(libraries.stdout.strip()) / "dependencies.pth").write_text(f"{places['purelib']}\n{places['platlib']}\n")
    (folder / "kubectl").mkdir()
    (folder / "kubectl" / "kubectl").symlink_to(server.programs.kubectl)
    return Installed(folder, server)


def _python(*arguments: str) -> None:
    done = subprocess.run(  # noqa: S603 (our own arguments)
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


DESCRIBE: Final = ("kubectl", "policy", "describe", "httproute/baker", "-n", "baker")
# kubectl's own script needs the package bash-completion, to join what readline takes apart.
BASHRC: Final = """
PS1='ready> '
bind 'set enable-bracketed-paste off' 2>/dev/null
if [[ -r /usr/share/bash-completion/bash_completion ]]; then
    source /usr/share/bash-completion/bash_completion
else
    _get_comp_words_by_ref() { words=("${COMP_WORDS[@]}") cword=$COMP_CWORD cur=${COMP_WORDS[COMP_CWORD]}; }
fi
source <(kubectl completion bash)
"""


@pytest.fixture(scope="module")
def plugin(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return installed(tmp_path_factory.mktemp("story"), server)


def test_it_is_the_wheel_that_runs(plugin: Installed) -> None:
    code, out, _ = plugin.run("python", "-c", "import kubectl_policy; print(kubectl_policy.__file__)")
    assert code == 0
    assert out.startswith(str(plugin.folder / "environment"))
    assert plugin.run("kubectl", "policy", "version").out == f"kubectl-policy {__version__}"


def test_kubectl_lists_the_plugin(plugin: Installed) -> None:
    code, out, err = plugin.run("kubectl", "plugin", "list")
    assert (code, err) == (0, "")
    assert out.endswith(str(plugin.programs / "kubectl-policy"))


def test_an_operator_sees_all_that_affects_the_route(plugin: Installed) -> None:
    code, out, err = plugin.run(*DESCRIBE, "--context", ADMIN)
    assert (code, err) == (0, "")
    assert out.startswith(
        "HTTPRoute baker/baker is affected by 4 policies. Hostname bread.example.com, 1 rule on listeners http and "
        "https of Gateway infra/edge."
    )
    assert "RetryPolicy attempts 5, perTryTimeout 2s, retryOn baker/quick → HTTPRoute baker/baker, merged with" in out
    assert "perTryTimeout 2s instead of 10s, baker/resilience (the nearer policy wins)" in out
    assert "request 10s instead of 30s, baker/slow (overridden from above)" in out
    assert "Could not be seen" not in out


def test_a_developer_sees_what_they_may_and_what_is_hidden(plugin: Installed) -> None:
    code, out, err = plugin.run(*DESCRIBE)
    assert (code, err) == (0, "")
    assert out.startswith(
        "HTTPRoute baker/baker is affected by 2 policies, as far as could be read: RetryPolicies are hidden from you."
    )
    assert "request 10s instead of 30s, baker/slow (overridden from above)" in out
    assert "list retrypolicies.example.io in namespaces baker and infra" in out
    assert "attempts" not in out


def test_the_order_of_files_says_which_context_is_current(plugin: Installed) -> None:
    files = (ADMIN, BAKER)
    assert "is affected by 4 policies." in plugin.run(*DESCRIBE, users=files).out
    assert "is affected by 2 policies," in plugin.run(*DESCRIBE, "--context", BAKER, users=files).out


def test_what_a_deletion_would_change(plugin: Installed) -> None:
    code, out, _ = plugin.run(
        *("kubectl", "policy", "blast-radius", "retrypolicy/resilience", "-n", "baker", "--context", ADMIN)
    )
    assert code == 0
    assert out.startswith("RetryPolicy baker/resilience → Namespace baker affects 8 objects in 2 namespaces")


@pytest.mark.skipif(not shutil.which("bash"), reason="bash is not installed")
@pytest.mark.parametrize("called", ["kubectl policy", "kubectl-policy"])
def test_usage_shows_how_it_was_called(plugin: Installed, called: str) -> None:
    """By kubectl, or by itself; also of a command, and where something is wrong."""
    for words, shown in (
        ("--help", f"Usage: {called} [OPTIONS] COMMAND"),
        ("describe --help", f"Usage: {called} describe [OPTIONS]"),
        ("frobnicate", f"hint: {called} --help lists"),
    ):
        _, out, err = plugin.run("bash", "-c", f"{called} {words}; exit")
        assert shown in out + err


@pytest.mark.skipif(not shutil.which("bash"), reason="bash is not installed")
def test_a_prompt_completes_and_answers(plugin: Installed, tmp_path: Path) -> None:
    """A command, then the name of an object of the cluster; what was completed is run."""
    with _prompt(plugin, tmp_path) as terminal:
        _until(terminal, "ready> ")
        os.write(terminal, b"kubectl policy descr\t")
        _until(terminal, "kubectl policy describe ")
        os.write(terminal, b"-n baker httproute/me\t")
        _until(terminal, "httproute/menu ")
        os.write(terminal, b"--context admin\r")
        _until(terminal, "HTTPRoute baker/menu is affected by ")


@contextmanager
def _prompt(plugin: Installed, folder: Path) -> Generator[int]:
    """A shell in a terminal, of which this is the other end."""
    (folder / "bashrc").write_text(BASHRC)
    variables = {**plugin.variables(BAKER, ADMIN), "TERM": "dumb", "KUBECTL_POLICY_COMPLETION_TIMEOUT": "20"}
    ours, theirs = pty.openpty()
    command = ["bash", "--noprofile", "--rcfile", str(folder / "bashrc"), "-i"]
    with subprocess.Popen(  # noqa: S603 (our own shell)
        command, env=variables, cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    ) as shell:
        os.close(theirs)
        try:
            yield ours
        finally:
            shell.kill()
            os.close(ours)


def _until(terminal: int, text: str) -> None:
    shown, end = "", time.monotonic() + 30
    while text not in shown:
        is_there, _, _ = select.select([terminal], [], [], max(0, end - time.monotonic()))
        assert is_there, f"{text!r} is not in {shown!r}"
        shown += os.read(terminal, 65536).decode(errors="replace")
