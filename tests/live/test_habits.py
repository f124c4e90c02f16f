"""What people are used to from kubectl, asked of both about one server."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kubectl_policy import cli
from tests.live.server import ADMIN, Server


class Asker:
    def __init__(self, server: Server, capsys: pytest.CaptureFixture[str]) -> None:
        self._options, self._capsys = ("--kubeconfig", str(server.kubeconfig(ADMIN))), capsys

    def ask(self, *arguments: str) -> tuple[int, str, str]:
        self._capsys.readouterr()
        code = cli.run([*arguments, *self._options])
        out, err = self._capsys.readouterr()
        return code, out, err


@pytest.fixture
def asker(server: Server, capsys: pytest.CaptureFixture[str]) -> Asker:
    return Asker(server, capsys)


@pytest.mark.parametrize(
    ("types", "selector"),
    [
        ("services", "metadata.name=till"),
        ("services", "spec.type=ClusterIP,metadata.namespace!=baker"),
        ("services", "spec.clusterIP!=None,metadata.name!=kubernetes"),
        ("namespaces", "status.phase=Active"),
        ("namespaces", "status.phase!=Active"),
        ("httproutes", "metadata.namespace==baker,metadata.name!=menu,"),
        ("gatewayclasses", "metadata.name=public"),
        ("retrypolicies", "metadata.name=none"),
    ],
)
def test_fields_select_what_kubectl_selects(server: Server, asker: Asker, types: str, selector: str) -> None:
    arguments = ("get", types, "-A", "--field-selector", selector)
    names = "{range .items[*]}{.metadata.name}{'\\n'}{end}"
    expected = server.kubectl(*arguments, "-o", f"jsonpath={names}").split()
    code, out, _ = asker.ask(*arguments, "-o", "jsonpath={range .items[*]}{.object.name}{.policy.name}{'\\n'}{end}")
    assert (code, sorted(out.split())) == (0, sorted(expected))


@pytest.mark.parametrize(
    ("types", "selector"),
    [("httproutes", "spec.hostnames=a"), ("namespaces", "metadata.namespace=a"), ("services", "spec.selector=a")],
)
def test_fields_of_which_the_server_knows_nothing(server: Server, asker: Asker, types: str, selector: str) -> None:
    arguments = ("get", types, "-A", "--field-selector", selector)
    problem = f"field label not supported: {selector.partition('=')[0]}"
    assert problem in server.kubectl(*arguments, fails=True)
    code, out, err = asker.ask(*arguments)
    assert (code, out, err.splitlines()[0]) == (2, "", f"error: {problem}")


def test_ages_and_labels_are_those_of_kubectl(server: Server, asker: Asker) -> None:
    """Within a minute, as some time passes between the two."""
    arguments = ("get", "namespaces", "--show-labels", "-L", "kubernetes.io/metadata.name")
    theirs = [line.split() for line in server.kubectl(*arguments).splitlines()]
    ours = [line.split() for line in asker.ask(*arguments)[1].splitlines()]
    assert [row[-2:] for row in ours] == [row[-2:] for row in theirs]
    ages = [[re.sub(r"\d+", "0", row[rows[0].index("AGE")]) for row in rows[1:]] for rows in (ours, theirs)]
    assert len(ages[0]) == len(ages[1]) > 3


def test_templates_are_filled_in_alike(server: Server, asker: Asker) -> None:
    """Of a member that both documents have."""
    for template in (
        "go-template={{len .items}}{{range .items}};{{.kind}}{{end}}",
        "jsonpath-as-json={.items[*].nope}",
    ):
        ours = asker.ask("get", "gateways", "-n", "infra", "-o", template)
        theirs = server.kubectl("get", "gateways", "-n", "infra", "-o", template)
        assert (ours[0], re.sub(r"<no value>", "Gateway", ours[1])) == (0, theirs)


def test_manifests_name_the_objects(server: Server, asker: Asker, tmp_path: Path) -> None:
    """With what the server says of them, as for kubectl."""
    file = tmp_path / "route.yaml"
    route = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: baker, namespace: baker}\n"
    file.write_text(route, "utf-8")
    assert asker.ask("describe", "-f", str(file)) == asker.ask("describe", "httproute/baker", "-n", "baker")
    file.write_text(route.replace("name: baker,", "name: none,"), "utf-8")
    assert "NotFound" in server.kubectl("describe", "-f", str(file), fails=True)
    assert asker.ask("describe", "-f", str(file))[0] == 3


def test_nothing_has_been_reported_where_there_is_no_controller(server: Server, asker: Asker) -> None:
    """The server filled in the conditions of Gateways itself, as many as other tests left there."""
    gateways = server.kubectl("get", "gateways", "-A", "-o", "name").splitlines()
    code, out, _ = asker.ask("status", "gateways", "-A", "--exit-code")
    assert len(gateways) >= 2
    sentence = f"Nothing to compare: no controller has reported on any of {len(gateways)} Gateways in the cluster."
    assert (code, " ".join(out.split())) == (0, sentence)


def test_a_file_is_no_state_of_a_cluster(asker: Asker, tmp_path: Path) -> None:
    """The story has seven routes that requests reach, and other tests left some there."""
    file = tmp_path / "service.yaml"
    file.write_text("apiVersion: v1\nkind: Service\nmetadata: {name: oven, namespace: baker}\n", "utf-8")
    code, out, err = asker.ask("diff", "live", str(file), "-o", "summary", "--allow-incomplete")
    assert code == 1
    sentence = r"The later state lacks nearly all objects of the earlier one; traffic ends for (\d+) routes"
    ended = re.match(sentence, out)
    assert ended
    assert int(ended[1]) >= 7
    assert err.splitlines()[-1].endswith(f"is applied to the cluster, write kubectl policy diff -f {file}")


def test_live_is_linted(asker: Asker) -> None:
    assert asker.ask("lint", "live", "-o", "summary") == asker.ask("lint", "-o", "summary")
