"""Several `--context`, and `--all-contexts`: each answer says which cluster gave it, and what gives none is said."""

from __future__ import annotations

import json
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Final, cast

import pytest
import yaml

from tests.cli.clusters import cluster, color, kubeconfig
from tests.render.schema import VALIDATOR
from tests.sources.cluster import faults

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.cli.conftest import Command, Result

# Nobody listens there.
NOBODY: Final = "http://127.0.0.1:9"


class Clusters:
    """Three contexts: `red` and `blue`, by what a policy sets there, and `gone`, where nobody answers."""

    def __init__(self, command: Command, folder: Path, red: str, blue: str) -> None:
        self._command, self._folder = command, folder
        self._config = kubeconfig(folder, namespace="app", red=red, blue=blue, gone=NOBODY)

    def __call__(self, *arguments: str) -> Result:
        return self._command(*arguments, "--kubeconfig", self._config, "--cache-dir", str(self._folder / "cache"))

    def both(self, *arguments: str) -> Result:
        return self(*arguments, "--context", "red", "--context", "blue")


@pytest.fixture
def clusters(command: Command, tmp_path: Path) -> Iterator[Clusters]:
    with ExitStack() as stack:
        red = stack.enter_context(cluster())
        blue = stack.enter_context(cluster(color("blue", "only-blue")))
        yield Clusters(command, tmp_path, red.url, blue.url)


def test_one_context_changes_nothing(clusters: Clusters) -> None:
    alone = clusters("get", "policies", "--context", "red")
    assert alone.code == 0
    assert "CONTEXT" not in alone.out
    assert clusters("get", "policies", "--context", "red", "--context", "red") == alone
    assert json.loads(clusters("get", "policies", "-o", "json", "--context", "red").out)["kind"] == "PolicyList"


def test_an_object_is_not_named_without_its_cluster(clusters: Clusters) -> None:
    code, out, err = clusters.both("get", "policies", "-o", "name")
    assert (code, out) == (2, "")
    assert err.startswith("error: -o name does not say which cluster an object is in\nhint: ask one --context")


def test_all_contexts_and_one_are_not_asked_together(clusters: Clusters, manifests: Path) -> None:
    assert "--all-contexts is every --context" in clusters("get", "policies", "--all-contexts", "--context", "red").err
    assert clusters("get", "policies", "--all-contexts", "--offline", str(manifests)).code == 2


def test_a_snapshot_is_of_one_cluster(clusters: Clusters, tmp_path: Path) -> None:
    code, out, err = clusters.both("snapshot", "-o", str(tmp_path / "s.gz"))
    assert (code, out, err) == (2, "", "error: a snapshot is of one cluster\nhint: name one --context\n")


def test_a_table_has_a_column_for_the_cluster(clusters: Clusters) -> None:
    code, out, _ = clusters.both("get", "policies", "-A")
    rows = [line.split()[:3] for line in out.splitlines()]
    assert code == 0
    assert rows == [
        ["CONTEXT", "NAMESPACE", "NAME"],
        ["red", "app", "red"],
        ["blue", "app", "only-blue"],
        ["blue", "app", "red"],
    ]
    csv = clusters.both("get", "policies", "-o", "csv").out
    assert [line.split(",")[0] for line in csv.splitlines()] == ["CONTEXT", "red", "blue", "blue"]


def test_columns_are_those_of_all_clusters(clusters: Clusters) -> None:
    out = clusters.both("get", "effective", "-o", "table", "--no-headers").out
    assert [line.split()[0] for line in out.splitlines()] == ["red", "blue"]


def test_several_types_have_a_table_each(clusters: Clusters) -> None:
    out = clusters.both("get", "gateways,httproutes", "--no-headers").out
    assert [line.split()[:2] for line in out.splitlines() if line] == [
        ["red", "gateway.gateway.networking.k8s.io/g"],
        ["blue", "gateway.gateway.networking.k8s.io/g"],
        ["red", "httproute.gateway.networking.k8s.io/r"],
        ["blue", "httproute.gateway.networking.k8s.io/r"],
    ]


def test_texts_stand_under_their_contexts(clusters: Clusters) -> None:
    code, out, _ = clusters.both("describe", "httproute/r")
    alone = [clusters("describe", "httproute/r", "--context", name).out for name in ("red", "blue")]
    assert code == 0
    assert out == f"Context red\n{alone[0]}\nContext blue\n{alone[1]}"
    coloured = clusters.both("describe", "httproute/r", "--color", "always").out
    assert "\x1b[1mContext red\x1b[0m" in coloured


def test_markdown_and_summaries(clusters: Clusters) -> None:
    change = ("diff", "--delete", "colorpolicy/red")
    code, out, _ = clusters.both(*change, "-o", "summary")
    assert code == 1
    assert [line.split(":")[0] for line in out.splitlines()] == ["red", "blue"]
    out = clusters.both(*change, "-o", "markdown").out
    assert [line for line in out.splitlines() if line.startswith("## ")] == ["## Context `red`", "## Context `blue`"]


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_a_document_has_the_answers_of_all(clusters: Clusters, form: str) -> None:
    code, out, _ = clusters("get", "policies", "--all-contexts", "-o", form)
    document = cast("dict[str, Any]", json.loads(out) if form == "json" else yaml.safe_load(out))
    VALIDATOR.validate(document)
    assert code == 3
    assert document["kind"] == "Answers"
    assert [each["context"] for each in document["items"]] == ["red", "blue"]
    assert list(document["items"][0])[:4] == ["apiVersion", "kind", "context", "headline"]
    [unanswered] = document["unanswered"]
    assert unanswered["context"] == "gone"
    assert unanswered["message"].startswith("http://")
    for item in document["items"]:
        del item["context"]
        VALIDATOR.validate(item)


def test_templates_are_for_each_answer(clusters: Clusters) -> None:
    """A path can say the context; columns have one more."""
    out = clusters.both("get", "policies", "-o", "jsonpath={.context}: {.items[*].policy.name}").out
    assert out.splitlines() == ["red: red", "blue: only-blue red"]
    assert clusters.both("get", "policies", "-o", "go-template={{.context}}").out == "red\nblue"
    out = clusters.both("get", "policies", "-o", "custom-columns=NAME:.policy.name").out
    assert [line.split() for line in out.splitlines()] == [
        ["CONTEXT", "NAME"],
        ["red", "red"],
        ["blue", "only-blue"],
        ["blue", "red"],
    ]


def test_a_cluster_that_gives_no_answer_does_not_keep_the_others(clusters: Clusters) -> None:
    """It is an error for that one; the code is the worst."""
    code, out, err = clusters("get", "policies", "--all-contexts")
    assert code == 3
    assert [line.split()[0] for line in out.splitlines()] == ["CONTEXT", "red", "blue", "blue"]
    assert "error: gone: http://" in err
    code, out, err = clusters.both("describe", "colorpolicy/only-blue")
    assert code == 3
    assert out.startswith("Context blue\n")
    assert 'error: red: colorpolicy "only-blue" not found in namespace app' in err


def test_a_context_that_is_not_there(clusters: Clusters) -> None:
    code, out, err = clusters("get", "policies", "--context", "red", "--context", "nowhere")
    assert (code, len(out.splitlines())) == (3, 2)
    assert "error: nowhere: there is no context nowhere in " in err


def test_what_is_said_beside_an_answer_says_of_which(command: Command, tmp_path: Path) -> None:
    with cluster() as one, cluster() as other:
        other.fault("/apis/example.com/v1/*", faults.status(403, "no"))
        config = kubeconfig(tmp_path, namespace="app", one=one.url, other=other.url)
        code, out, err = command(
            "get", "policies", "--all-contexts", "--kubeconfig", config, "--cache-dir", tmp_path / "cache"
        )
    # In one of them nobody knows whether there is a policy.
    assert code == 4
    assert [line.split()[:2] for line in out.splitlines()] == [["CONTEXT", "NAME"], ["one", "red"]]
    assert err
    assert all(line.startswith("other: ") for line in err.splitlines())


def test_clusters_are_asked_at_the_same_time(command: Command, tmp_path: Path) -> None:
    """One that is silent is waited for once, whatever else is silent."""
    with ExitStack() as stack:
        silent = [stack.enter_context(cluster()) for _ in range(3)]
        for item in silent:
            item.fault("/api*", faults.silence)
        urls = {f"c{number}": item.url for number, item in enumerate(silent)}
        config = kubeconfig(tmp_path, **urls)
        begun = time.monotonic()
        code, _, err = command(
            "get",
            "policies",
            "--all-contexts",
            "--kubeconfig",
            config,
            "--request-timeout",
            "1s",
            "--cache-dir",
            tmp_path / "cache",
        )
        assert code == 3
        assert time.monotonic() - begun < 2.5
    assert [line.split(": ")[1] for line in err.splitlines() if line.startswith("error")] == ["c0", "c1", "c2"]


def test_a_context_may_be_called_anything(command: Command, tmp_path: Path) -> None:
    name = "\x1b[31m`<b>`"
    with cluster() as one, cluster() as other:
        config = kubeconfig(tmp_path, namespace="app", **{name: one.url, "other": other.url})
        for arguments in (
            ("get", "policies"),
            ("describe", "httproute/r"),
            ("diff", "--delete", "colorpolicy/red", "-o", "markdown"),
            ("get", "policies", "-o", "custom-columns=NAME:.policy.name"),
        ):
            code, out, err = command(*arguments, "--all-contexts", "--kubeconfig", config, "--cache-dir", tmp_path)
            assert code in {0, 1}, err
            assert "\x1b" not in out + err
            assert "markdown" not in arguments or "<b>" not in out
