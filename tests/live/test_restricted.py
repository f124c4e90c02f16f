"""Users who may not read everything, and what no command reads or does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from kubectl_policy import cli
from kubectl_policy.cli.syntax import COMMANDS
from kubectl_policy.model.kind_roles import GATEWAY_API
from tests.live.audit import verbs_and_resources
from tests.live.proxy import recording
from tests.live.server import ADMIN, BAKER, PASTRY, Server

STORY: Final = "describe httproute/baker -n baker"
MAY_NOT_GET: Final = "may not be read: forbidden hint: Needs: get"
MAY_NOT: Final = (
    "RetryPolicies in namespaces baker and infra: forbidden. Needs: list retrypolicies.example.io in namespaces baker "
    "and infra"
)


class Person:
    def __init__(self, server: Server, user: str, capsys: pytest.CaptureFixture[str]) -> None:
        self._options, self._capsys = ("--kubeconfig", str(server.kubeconfig(user))), capsys

    def ask(self, question: str) -> tuple[int, str]:
        """The exit code, and all that is said, with one space wherever there is space."""
        self._capsys.readouterr()
        code = cli.run([*question.split(), *self._options])
        return code, " ".join("".join(self._capsys.readouterr()).split())


def test_the_developer_is_told_what_is_hidden(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    """In the first sentence, and once with the permission; nothing else could matter."""
    code, said = Person(server, BAKER, capsys).ask(STORY)
    assert code == 0
    assert said.startswith(
        "HTTPRoute baker/baker is affected by 2 policies, as far as could be read: RetryPolicies are hidden from you."
    )
    assert said.endswith(f"Could not be seen {MAY_NOT}")


def test_the_operator_sees_everything(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = Person(server, ADMIN, capsys).ask(STORY)
    assert (code, "could" in said) == (0, False)
    assert said.startswith("HTTPRoute baker/baker is affected by 4 policies. ")


def test_documents_name_each_permission(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = Person(server, BAKER, capsys).ask(f"{STORY} -o json")
    document = json.loads(said)
    assert (code, document["complete"]) == (0, False)
    (thing,) = document["unseen"]
    assert thing["needs"] == [f"list retrypolicies.example.io in namespace {name}" for name in ("baker", "infra")]


@pytest.mark.parametrize("question", ["get policies", "get routes", "status", "get gateways", "get effective"])
@pytest.mark.parametrize(("user", "namespace"), [(BAKER, "baker"), (PASTRY, "pastry")])
def test_answers_about_ones_namespace_are_given(
    server: Server, user: str, namespace: str, question: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = Person(server, user, capsys).ask(f"{question} -n {namespace}")
    assert code == 0
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("user", "subject", "missing"),
    [
        (BAKER, "gateway/edge -n infra", "list retrypolicies.example.io in"),
        (BAKER, "httproute/baker -n baker", "list retrypolicies.example.io in"),
        (PASTRY, "httproute/cakes -n pastry", "get gateways.gateway.networking.k8s.io in namespace infra"),
    ],
)
def test_what_people_act_on_fails_where_something_is_hidden(
    server: Server, user: str, subject: str, missing: str, capsys: pytest.CaptureFixture[str]
) -> None:
    person = Person(server, user, capsys)
    code, said = person.ask(f"blast-radius {subject}")
    assert (code, missing in said) == (4, True)
    assert person.ask(f"blast-radius {subject} --allow-incomplete")[0] == 0


@pytest.mark.parametrize(
    ("user", "asked", "said"),
    [
        (BAKER, "httproute/foo -n baker", 'httproute "foo" not found in namespace baker hint: there are: baker/'),
        (PASTRY, "httproute/baker -n baker", f"HTTPRoute baker/baker {MAY_NOT_GET} httproutes.{GATEWAY_API} in"),
        (BAKER, "retrypolicy/resilience -n baker", f"RetryPolicy baker/resilience {MAY_NOT_GET} retrypolicies."),
    ],
)
def test_what_is_not_there_and_what_is_hidden_are_told_apart(
    server: Server, user: str, asked: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, error = Person(server, user, capsys).ask(f"describe {asked}")
    assert code == 3
    assert error.startswith(f"error: {said}")


def test_a_type_that_is_not_served_is_a_mistake(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    code, error = Person(server, PASTRY, capsys).ask("describe httprout/baker -n baker")
    assert (code, error.split("hint")[0]) == (2, 'error: there is no resource type "httprout" in the cluster ')
    assert "did you mean httproute" in error


def test_linting_knows_what_it_may_not_list(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    """A route whose Gateway is hidden is no error, and that a kind was not linted is one; unless that is allowed."""
    person = Person(server, PASTRY, capsys)
    code, said = person.ask("lint -n pastry")
    assert code == 4
    assert "GWP0002 forbidden" in said
    assert "GWP4001" not in said
    # What is hidden is a warning, and nothing worse is seen.
    assert person.ask("lint -n pastry --allow-incomplete")[0] == 0


def test_linting_finds_what_is_wrong_in_a_cluster(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    """Who sees everything is told so without doubt: the cluster has all that it has."""
    code, said = Person(server, ADMIN, capsys).ask("lint")
    assert code == 1
    assert "GWP4002 parent-section-not-found: HTTPRoute baker/old" in said
    assert "GWP0002" not in said


def test_each_context_answers_as_it_does_alone(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the order of the kubeconfig, whatever each of them may see."""
    config = str(server.kubeconfig(ADMIN, BAKER, namespace="baker"))

    def answer(*words: str) -> dict[str, object]:
        options = ["-o", "json", "--kubeconfig", config, "--cache-dir", str(tmp_path)]
        assert cli.run(["describe", "httproute/baker", *words, *options]) == 0
        found: dict[str, object] = json.loads(capsys.readouterr().out)
        return found

    together = answer("--all-contexts")
    alone = [{**answer("--context", user), "context": user} for user in (ADMIN, BAKER)]
    assert together["items"] == alone
    assert together["unanswered"] == []
    assert alone[0]["unseen"] != alone[1]["unseen"]


# What each command is called with: everything that makes it ask for more or for less.
CALLS: Final = {
    "blast-radius": ("gateway/guarded -n guarded", "retrypolicy/resilience -n baker", "namespace/baker"),
    "completion": ("bash",),
    "describe": (
        "httproute/baker -n baker",
        "gateway/guarded -n guarded",
        "retrypolicy/resilience -n baker --blame",
        "httproute/menu -n baker -o json",
    ),
    "diff": ("--delete retrypolicy/resilience -n baker", "--delete gateway/guarded -n guarded"),
    "explain": ("retrypolicy", "backendtlspolicy"),
    "get": ("policies -A", "policykinds", "gateways -A", "routes -n pastry", "services -A", "effective -A"),
    "graph": ("", "httproute/baker -n baker", "gateway/guarded -n guarded -o json", "-n baker -o html"),
    "history": ("httproute/baker -n baker --offline fixtures/bakery",),
    "lint": ("", "--show-all -o json", "-n guarded", "fixtures/lint --context-from live"),
    "snapshot": ("-o FILE",),
    "status": ("-A", "-n guarded"),
    "version": ("",),
    "why-not": ("retrypolicy/resilience httproute/events -n baker",),
}
HIDDEN: Final = "nobody-may-see-this"


@pytest.fixture(scope="module")
def guarded(server: Server) -> Server:
    """A Gateway with a certificate in a Secret, and a RetryPolicy on it, in a namespace of their own."""
    metadata = {"name": "guarded", "namespace": "guarded"}
    listener = {"name": "https", "port": 443, "protocol": "HTTPS", "tls": {"certificateRefs": [{"name": "guarded"}]}}
    gateway = {"gatewayClassName": "public", "listeners": [listener]}
    refs = [{"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "guarded"}]
    example = "example.io/v1alpha1"
    items = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "guarded"}},
        {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {"tls.key": HIDDEN}},
        {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway", "metadata": metadata, "spec": gateway},
        {"apiVersion": example, "kind": "RetryPolicy", "metadata": metadata, "spec": {"targetRefs": refs}},
    ]
    listed = {"apiVersion": "v1", "kind": "List", "items": items}
    server.kubectl("apply", "--server-side", "-f", "-", data=listed)
    return server


def test_every_command_is_called() -> None:
    assert {*CALLS} == {*COMMANDS}


@pytest.mark.parametrize("user", [ADMIN, BAKER, PASTRY])
def test_commands_only_read(guarded: Server, user: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with recording(guarded) as proxy, guarded.audit.recorded("kubectl-policy/") as requests:
        monkeypatch.setenv("KUBECONFIG", str(guarded.kubeconfig(user, url=proxy.url)))
        monkeypatch.setenv("KUBECACHEDIR", str(tmp_path / "cache"))
        for command, calls in CALLS.items():
            # Who may see less is asked less of; what is not there, or refused, every command asks for alike.
            for words in calls if user == ADMIN else calls[:1]:
                arguments = [str(tmp_path / "world.gz") if word == "FILE" else word for word in words.split()]
                assert cli.run([command, *arguments]) in {0, 1, 3, 4}, f"{command} {words}"
    done = verbs_and_resources(requests)
    assert len(done) > 10
    assert {verb for verb, _ in done} <= {"get", "list", "watch"}
    assert len(proxy.exchanges) >= len(requests)
    secrets = [exchange for exchange in proxy.exchanges if "secrets" in exchange.path.split("/")]
    answered = [secret for secret in secrets if secret.status == 200]
    assert {secret.method for secret in secrets} <= {"GET"}
    assert bool(answered) == (user == ADMIN)
    assert {found.kind for found in answered} <= {"PartialObjectMetadata", "PartialObjectMetadataList"}
    assert not any(HIDDEN.encode() in exchange.plain for exchange in proxy.exchanges)
