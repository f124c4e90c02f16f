"""Completion on a real cluster, by the real kubectl: names for those who may list them, and nothing but reading."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final, Protocol

import pytest

from tests.live.audit import verbs_and_resources
from tests.live.server import ADMIN, BAKER, PASTRY, Server

PROGRAMS: Final = {
    "kubectl-policy": "from kubectl_policy.__main__ import main",
    "kubectl_complete-policy": "from kubectl_policy.cli.completion.entry import main",
}
# kubectl's own script needs the package bash-completion for this alone: to join what readline takes apart.
AT_A_PROMPT: Final = """
_get_comp_words_by_ref() { words=("${COMP_WORDS[@]}") cword=$COMP_CWORD cur=${COMP_WORDS[COMP_CWORD]}; }
compopt() { :; }
source <(kubectl completion bash)
COMP_WORDS=(kubectl policy "$@") COMP_CWORD=$(($# + 1)) COMP_TYPE=9 COMP_LINE="kubectl policy $*" COLUMNS=200
__start_kubectl
printf '%s\\n' "${COMPREPLY[@]}"
"""


class Shell(Protocol):
    """Runs a program as a user, with kubectl and the plugin on the PATH."""

    def __call__(self, *command: str, user: str = ADMIN) -> list[str]: ...


@pytest.fixture
def shell(server: Server, tmp_path: Path) -> Shell:
    """The plugin is installed as a wheel installs it: two programs on the PATH."""
    for name, code in PROGRAMS.items():
        (tmp_path / name).write_text(f"#!{sys.executable}\n{code}\nmain()\n", "utf-8")
        (tmp_path / name).chmod(0o755)

    def run(*command: str, user: str = ADMIN) -> list[str]:
        environment = {
            **server.environment(),
            "KUBECONFIG": str(server.kubeconfig(user, namespace="baker")),
            "KUBECTL_POLICY_COMPLETION_TIMEOUT": "20",
            "PYTHONPATH": ":".join(sys.path),
        }
        environment["PATH"] = f"{tmp_path}:{server.programs.kubectl.parent}:{environment['PATH']}"
        done = subprocess.run(  # noqa: S603 (our own programs)
            command, env=environment, capture_output=True, text=True, timeout=120, check=True
        )
        return [line.partition("\t")[0] for line in done.stdout.splitlines()]

    return run


def offered(shell: Shell, *words: str, user: str = ADMIN) -> list[str]:
    """What kubectl offers to its words, and the directive."""
    return shell("kubectl", "__complete", "policy", *words, user=user)


def test_who_may_not_list_gets_no_names(shell: Shell) -> None:
    assert offered(shell, "describe", "retrypolicy/", user=BAKER) == [":4"]
    assert offered(shell, "describe", "httproute/", user=PASTRY) == [":4"]
    assert offered(shell, "describe", "-n", "", user=PASTRY) == [":4"]
    assert offered(shell, "describe", "-n", "pastry", "httproute/", user=PASTRY) == ["httproute/cakes", ":4"]


def test_names_are_those_of_the_namespace_of_the_context(shell: Shell) -> None:
    routes = ["httproute/baker", "httproute/events", "httproute/menu", "httproute/old", "httproute/till"]
    assert offered(shell, "describe", "httproute/", user=BAKER) == [*routes, ":4"]
    assert offered(shell, "describe", "gateway/infra/") == ["gateway/infra/edge", "gateway/infra/internal", ":4"]
    assert offered(shell, "get", "-n", "infra", "gateways", "e") == ["edge", ":4"]
    assert offered(shell, "describe", "-n", "past") == ["pastry", ":4"]


def test_types_are_those_that_the_server_serves(shell: Shell) -> None:
    types = offered(shell, "describe", "")
    assert {"gateway", "httproute", "service", "retrypolicy", "timeoutpolicy", "backendtlspolicy"} <= {*types}
    assert "validatingadmissionpolicy" not in types
    assert offered(shell, "get", "gtw") == ["gtw", ":4"]


@pytest.mark.skipif(not shutil.which("bash"), reason="bash is not installed")
def test_a_prompt_completes(shell: Shell) -> None:
    """`kubectl policy describe httproute/m<TAB>`, by kubectl's own script in bash."""
    assert shell("bash", "--norc", "-c", AT_A_PROMPT, "bash", "describe", "httproute/m") == ["httproute/menu"]
    assert shell("bash", "--norc", "-c", AT_A_PROMPT, "bash", "descr") == ["describe"]


def test_nothing_is_done_but_to_read(server: Server, shell: Shell) -> None:
    """And Secrets are not read, since kubectl would read what is in them."""
    with server.audit.recorded("kubectl/") as found:
        for words in (["httproute/"], ["secret/"], ["secrets", ""], [""], ["-n", ""], ["--field", ""]):
            offered(shell, "blast-radius", *words)
    assert {verb for verb, _ in verbs_and_resources(found)} <= {"get", "list"}
    assert "secrets" not in {resource for _, resource in verbs_and_resources(found)}
    assert ("list", "httproutes.gateway.networking.k8s.io") in verbs_and_resources(found)
