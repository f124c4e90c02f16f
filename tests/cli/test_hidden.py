"""Objects that a cluster does not let somebody list: what may be there is unknown, in every command and format."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import pytest

from tests.cli.clusters import cluster, kubeconfig
from tests.sources.cluster.faults import status

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.cli.conftest import Command, Result

FORBIDDEN: Final = status(403, "forbidden")
POLICIES: Final = ("/apis/example.com/v1/colorpolicies", "/apis/example.com/v1/namespaces/app/colorpolicies")
# Lists; single objects may be read.
ROUTES: Final = (
    "/apis/gateway.networking.k8s.io/v1/httproutes",
    "/apis/gateway.networking.k8s.io/v1/namespaces/app/httproutes",
)
NAMESPACES: Final = ("/api/v1/namespaces",)
HIDDEN: Final = "ColorPolicies are hidden from you"


def ask(command: Command, folder: Path, forbidden: Sequence[str], *arguments: str, namespace: str = "app") -> Result:
    """Ask a cluster whose server refuses the requests to some paths."""
    with cluster() as server:
        for path in forbidden:
            server.fault(path, FORBIDDEN)
        config = kubeconfig(folder, namespace=namespace, one=server.url)
        return command(*arguments, "--kubeconfig", config, "--cache-dir", folder / "cache")


def first_line(result: Result) -> str:
    return " ".join((result.out or result.err).split("\n\n", 1)[0].split())


@pytest.mark.parametrize(
    ("arguments", "forbidden", "sentence"),
    [
        ("describe httproute/r", POLICIES, f"Whether a policy affects HTTPRoute app/r is unknown: {HIDDEN}."),
        ("describe service/s", POLICIES, f"Whether a policy affects Service app/s is unknown: {HIDDEN}."),
        ("describe gateway/g", POLICIES, f"Whether a policy affects Gateway app/g is unknown: {HIDDEN}."),
        ("describe namespace/app", POLICIES, f"Whether a policy affects Namespace app is unknown: {HIDDEN}."),
        ("get policies", POLICIES, f"Whether there are any policies in namespace app is unknown: {HIDDEN}."),
        ("get policies -A", POLICIES, f"Whether there are any policies is unknown: {HIDDEN}."),
        ("get routes", ROUTES, "Whether there are any routes in namespace app is unknown: HTTPRoutes are hidden"),
        ("get effective", ROUTES, "Whether there are any rules in namespace app is unknown: HTTPRoutes are hidden"),
        ("status policies", POLICIES, "Nothing to compare: whether there are any policies in namespace app is unk"),
        ("blast-radius service/s", POLICIES + ROUTES, "Whether deleting Service app/s changes anything in what "),
        ("diff --delete service/s", POLICIES + ROUTES, "Whether anything changes in what policies do (1 obj"),
    ],
    ids=str,
)  # fmt: skip
def test_nothing_is_denied(
    command: Command, tmp_path: Path, arguments: str, forbidden: Sequence[str], sentence: str
) -> None:
    """The first sentence, the exit code and documents say that the answer is unknown."""
    result = ask(command, tmp_path, forbidden, *arguments.split())
    assert (result.code, first_line(result)[: len(sentence)]) == (4, sentence)
    whole = ask(command, tmp_path, forbidden, *arguments.split(), "-o", "json")
    document = json.loads(whole.out)
    assert (whole.code, document["unknown"], document["headline"][: len(sentence)]) == (4, True, sentence)
    assert ask(command, tmp_path, forbidden, *arguments.split(), "--allow-incomplete").code == 0


@pytest.mark.parametrize(
    ("forbidden", "phrase"),
    [
        (ROUTES, "no route is known to be attached."),
        ((), "1 route attached."),
        (("/apis/gateway.networking.k8s.io/v1/grpcroutes",), "at least 1 route attached."),
    ],
)
def test_routes_of_a_gateway_that_may_be_hidden(
    command: Command, tmp_path: Path, forbidden: Sequence[str], phrase: str
) -> None:
    grpc = {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "GRPCRoute",
        "metadata": {"name": "other", "namespace": "app"},
        "spec": {"parentRefs": [{"name": "elsewhere"}]},
    }
    with cluster(grpc) as server:
        for path in forbidden:
            server.fault(path, FORBIDDEN)
        config = kubeconfig(tmp_path, namespace="app", one=server.url)
        result = command("describe", "gateway/g", "--kubeconfig", config, "--cache-dir", tmp_path / "cache")
    assert first_line(result).endswith(phrase)


def test_a_picture_of_nothing_says_so(command: Command, tmp_path: Path) -> None:
    result = ask(command, tmp_path, ("/ap*",), "graph", "-o", "tree")
    assert result.code == 3
    lists = [f"{root}/{name}" for root, names in LISTS.items() for name in names]
    result = ask(command, tmp_path, lists, "graph", "-o", "tree")
    assert result.code == 4
    assert result.out.startswith("Whether there is anything to draw is unknown: objects of ")


LISTS: Final = {
    "/apis/gateway.networking.k8s.io/v1": ("httproutes", "gateways", "gatewayclasses", "namespaces/app/*"),
    "/api/v1": ("namespaces", "services", "namespaces/app/services"),
    "/apis/example.com/v1": ("colorpolicies", "namespaces/app/colorpolicies"),
}


@pytest.mark.parametrize(
    ("arguments", "forbidden"),
    [
        ("describe httproute/r", NAMESPACES),
        ("get policies", ("/apis/example.com/v1/colorpolicies",)),
        ("get policies -A", ("/apis/example.com/v1/colorpolicies",)),
        ("get gateways", POLICIES),
        ("why-not colorpolicy/red service/s", NAMESPACES),
    ],
    ids=str,
)
def test_what_was_found_is_an_answer(
    command: Command, tmp_path: Path, arguments: str, forbidden: Sequence[str]
) -> None:
    """Where a list of all namespaces is refused, those of single namespaces are asked for."""
    result = ask(command, tmp_path, forbidden, *arguments.split(), "-o", "json")
    assert (result.code, json.loads(result.out)["unknown"]) == (0, False)


def test_each_namespace_is_asked_for_what_may_not_be_listed_at_once(command: Command, tmp_path: Path) -> None:
    """Also if the kubeconfig names another one."""
    lists = POLICIES[:1]
    result = ask(command, tmp_path, lists, "get", "policies", "-A", "-o", "json", namespace="elsewhere")
    (row,) = json.loads(result.out)["items"]
    assert (row["policy"]["namespace"], row["policy"]["name"]) == ("app", "red")
    hidden = ask(command, tmp_path, (*lists, *NAMESPACES), "get", "policies", "-A", namespace="elsewhere")
    assert hidden.code == 4
    assert hidden.err.splitlines()[1:3] == [
        "hint: needs: list colorpolicies.example.com in all namespaces",
        "hint: if you may list them in one namespace, name it: -n NAMESPACE",
    ]
