"""`lint` on the command line: what is linted, which rules count, how bad what they find is, and how it ends."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.clusters import cluster, color, kubeconfig
from tests.cli.linting.conftest import DROPPED, NOT_LOADED, PARENT, SECTION, WORLDS, Lint
from tests.lint.policy_manifests import policy
from tests.render.schema import VALIDATOR
from tests.sources.cluster import faults

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.cli.conftest import Command
    from tests.sources.cluster.faulty import FaultyServer

WRONG = f"wrong.yaml:19 {SECTION}"
DROPPED_THERE = f"less.yaml:36 {DROPPED}"
INFO = f"info.yaml:2 {NOT_LOADED}"
# What our own annotations begin with.
COMMAND = re.compile(r"::(error|warning|notice) file=hostile\.yaml,line=\d+,title=GWP\d{4} [a-z-]+::|::(end)?group::")
BROKEN = "apiVersion: v1\nkind: Service\n metadata: [x\n"


@pytest.mark.usefixtures("here")
class TestPaths:
    @pytest.mark.parametrize(
        "words", [("wrong.yaml",), ("-f", "wrong.yaml"), ("--offline", "wrong.yaml"), ("--filename=wrong.yaml",)]
    )
    def test_a_file(self, lint: Lint, words: tuple[str, ...]) -> None:
        result = lint(*words)
        assert (result.code, result.findings, result.err) == (1, [WRONG], "")
        assert result.document["headline"] == "1 error in 4 objects of 1 file; 1 check could not be made."
        VALIDATOR.validate(result.document)

    def test_several(self, lint: Lint) -> None:
        assert lint("open.yaml", "-f", "platform.yaml").document["headline"] == "No problems in 4 objects of 2 files."

    def test_a_folder_and_a_pattern(self, lint: Lint, here: Path) -> None:
        names = [each for each in WORLDS if each != "wrong.yaml"]
        left_out = [word for name in names for word in ("--exclude", name)]
        assert lint(".", *left_out).findings == [WRONG]
        assert lint(here, *left_out).findings == [f"{here}/{WRONG}"]
        assert lint("w*.yaml").findings == [WRONG]

    def test_standard_input(self, lint: Lint) -> None:
        result = lint("-", stdin=WORLDS["wrong.yaml"])
        assert (result.code, result.findings) == (1, [f"<stdin>:19 {SECTION}"])

    def test_by_the_environment(self, lint: Lint, monkeypatch: pytest.MonkeyPatch) -> None:
        """As for every command; a path counts instead."""
        monkeypatch.setenv("KUBECTL_POLICY_OFFLINE", "wrong.yaml")
        assert lint().findings == [WRONG]
        assert lint("right.yaml").findings == []

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["nowhere.yaml"], "nowhere.yaml: there is no such file or folder"),
            (["no*.yaml"], "no*.yaml: no file matches this pattern"),
            (["empty"], "empty: it contains no manifests"),
            (["right.yaml", "empty"], "empty: it contains no manifests"),
            (["values.yaml"], "no Kubernetes object in 1 file"),
            (["right.yaml", "-n", "cart"], "there is nothing to lint in namespace cart"),
            ([], "no kubeconfig was found: looked for no-kubeconfig"),
        ],
    )
    def test_nothing_to_lint(
        self, command: Command, here: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], message: str
    ) -> None:
        monkeypatch.setenv("KUBECONFIG", "no-kubeconfig")
        (here / "empty").mkdir()
        (here / "values.yaml").write_text("replicas: 3\n")
        code, out, err = command("lint", *words)
        assert (code, out, err.splitlines()[0]) == (3, "", f"error: {message}")

    def test_one_namespace(self, lint: Lint) -> None:
        """What else was read is not linted, and is there for what is."""
        assert lint("wrong.yaml", "-n", "shop").findings == [WRONG]
        inside = lint("wrong.yaml", "-n", "infra")
        assert (inside.code, inside.findings, inside.document["objects"]) == (0, [], 1)

    def test_our_own_documents_are_no_objects(self, lint: Lint, command: Command, here: Path) -> None:
        (here / "report.json").write_text(command("lint", "wrong.yaml", "-o", "json").out)
        (here / "policies.yaml").write_text(command("get", "policies", "--offline", "less.yaml", "-Ao", "yaml").out)
        assert command("lint", "wrong.yaml", "--write-baseline", "baseline.json").code == 0
        result = lint("wrong.yaml", "report.json", "policies.yaml", "baseline.json")
        assert (result.findings, result.document["files"]) == ([WRONG], 1)


@pytest.mark.usefixtures("here")
class TestTheOpenWorld:
    def test_a_gateway_elsewhere(self, lint: Lint) -> None:
        """It is unknown, and lets nothing fail."""
        result = lint("open.yaml")
        assert (result.code, result.findings) == (0, [f"open.yaml:2 {NOT_LOADED}"])
        assert result.said("unknown") == [f"open.yaml:2 {PARENT}"]
        assert result.document["headline"] == "1 info in 2 objects of 1 file; 1 check could not be made."

    @pytest.mark.parametrize("words", [["--complete"], ["--config", "complete.yaml"]])
    def test_a_closed_world(self, lint: Lint, here: Path, words: list[str]) -> None:
        (here / "complete.yaml").write_text("complete: true\n")
        result = lint("open.yaml", *words)
        assert (result.code, result.findings, result.said("unknown")) == (1, [f"open.yaml:6 {PARENT}"], [])
        assert result.document["findings"][0]["message"] == "Gateway infra/public does not exist"
        assert result.document["complete"] is True

    def test_what_is_taken_to_exist(self, lint: Lint) -> None:
        assert lint("open.yaml", "--complete", "--assume-exists", "Gateway/infra/public").code == 0

    def test_where_to_look(self, command: Command) -> None:
        """People are told how to know more; `--show-all` shows what it is."""
        last = "1 info in 2 objects of 1 file; 1 check could not be made"
        told = f"{last} (--complete if there is nothing else;\n  --show-all shows them).\n"
        assert command("lint", "open.yaml").out.endswith(f"\n\n{told}")
        unknown = "unknown GWP4001 parent-not-found: HTTPRoute shop/cart: Gateway infra/public is not in the input"
        everything = command("lint", "open.yaml", "--show-all").out
        assert everything.endswith(f"\n\nCould not be decided\n  open.yaml:2: {unknown}\n\n{last}.\n")


@pytest.mark.usefixtures("here")
class TestRules:
    @pytest.mark.parametrize(
        ("words", "found"),
        [
            (["--select", "GWP4"], [WRONG]),
            (["--select", "GWP4002"], [WRONG]),
            (["--select", "GWP1,parent-section-not-found"], [WRONG]),
            (["--select", "GWP1", "--select", "GWP4"], [WRONG]),
            (["--select", "GWP1"], []),
            (["--ignore", "GWP1"], [WRONG]),
            (["--ignore", "GWP4"], []),
            (["--ignore", "GWP1,parent-section-not-found"], []),
            (["--select", "GWP4002", "--ignore", "GWP4"], [WRONG]),
            (["--select", "GWP4", "--ignore", "GWP4002"], []),
            (["--severity", "GWP4002=off"], []),
            (["--severity", "GWP4=off", "--severity", "GWP4002=error"], [WRONG]),
        ],
    )
    def test_which_count(self, lint: Lint, words: list[str], found: list[str]) -> None:
        """By id, by name, or by the beginning of ids."""
        result = lint("wrong.yaml", *words)
        assert (result.findings, result.code) == (found, 1 if found else 0)

    @pytest.mark.parametrize(
        ("words", "code", "severity"),
        [
            ([], 1, "error"),
            (["--severity", "GWP4002=warning"], 0, "warning"),
            (["--severity", "parent-section-not-found=info"], 0, "info"),
            (["--severity", "GWP4=info", "--fail-on", "info"], 1, "info"),
            (["--fail-on", "never"], 0, "error"),
            (["--fail-on", "warning"], 1, "error"),
        ],
    )
    def test_how_bad_it_is(self, lint: Lint, words: list[str], code: int, severity: str) -> None:
        result = lint("wrong.yaml", *words)
        assert (result.code, result.findings) == (code, [f"wrong.yaml:19 {severity} GWP4002 HTTPRoute shop/cart"])

    @pytest.mark.parametrize(
        ("words", "code", "found"),
        [
            ([], 0, [INFO, DROPPED_THERE]),
            (["--min-severity", "warning"], 0, [DROPPED_THERE]),
            (["--min-severity", "error"], 0, []),
            (["--fail-on", "warning"], 1, [INFO, DROPPED_THERE]),
            (["--fail-on", "info", "--min-severity", "error"], 0, []),
        ],
    )
    def test_what_is_shown(self, lint: Lint, here: Path, words: list[str], code: int, found: list[str]) -> None:
        """What is not shown lets nothing fail."""
        (here / "info.yaml").write_text(policy("BackendTrafficPolicy", "GRPCRoute/stock", "retry: {numRetries: 3}"))
        result = lint("less.yaml", "info.yaml", *words)
        assert (result.code, result.findings) == (code, found)

    @pytest.mark.parametrize(
        ("words", "message", "hint"),
        [
            (["--select", "GWP9999"], 'there is no rule "GWP9999"', "docs/rules.md lists all rules"),
            (
                ["--ignore", "GWP1,target-not-fund"],
                'there is no rule "target-not-fund"',
                "did you mean target-not-found?",
            ),
            (["--severity", "GWP1"], '"GWP1" gives no rule a severity', "write --severity RULE=LEVEL, with one of"),
            (
                ["--severity", "GWP1=bad"],
                '"GWP1=bad" gives no rule a severity',
                "write --severity RULE=LEVEL, with one of error, warning, info, off",
            ),
            (["--severity", "x=error"], 'there is no rule "x"', "docs/rules.md lists all rules"),
            (
                ["--fail-on", "all"],
                "invalid value for '--fail-on': 'all' is not one of 'error', 'warning', 'info', 'never'",
                "kubectl policy lint --help lists what there is",
            ),
            (
                ["--min-severity", "never"],
                "invalid value for '--min-severity': 'never' is not one of 'error', 'warning', 'info'",
                "kubectl policy lint --help lists what there is",
            ),
            (["--format", "xml"], "invalid value for '--format': 'xml'", "write FORMAT or FORMAT=FILE, of text, yaml"),
            (["--format", "sarif="], "invalid value for '--format': 'sarif='", "write FORMAT or FORMAT=FILE"),
            (["--path-map", "a"], '"a" maps no path', "write --path-map rendered/=charts/shop/"),
            (["--path-map", "=a"], '"=a" maps no path', "write --path-map rendered/=charts/shop/"),
        ],
    )
    def test_wrong_usage(self, command: Command, words: list[str], message: str, hint: str) -> None:
        """It is said before anything is read."""
        code, out, err = command("lint", "nowhere.yaml", *words)
        first, second = err.splitlines()
        assert (code, out, first) == (2, "", f"error: {message}")
        assert second.startswith(f"hint: {hint}")


@pytest.mark.usefixtures("here")
class TestWhatCannotBeRead:
    """Part of it was not linted: that is exit code 4, whatever else is found."""

    @pytest.fixture(autouse=True)
    def broken(self, here: Path) -> None:
        (here / "broken.yaml").write_text(BROKEN)

    @pytest.mark.parametrize(
        "words",
        [
            [],
            ["--select", "GWP1"],
            ["--fail-on", "never"],
            ["--severity", "parse-error=info", "--min-severity", "error"],
            ["--write-baseline", "baseline.json"],
        ],
    )
    def test_a_file_that_is_no_yaml(self, lint: Lint, words: list[str]) -> None:
        result = lint("right.yaml", "broken.yaml", *words)
        severity = "info" if "parse-error=info" in words else "error"
        assert (result.code, result.findings) == (4, [f"broken.yaml:3 {severity} GWP0004"])

    @pytest.mark.parametrize(
        ("words", "code"),
        [
            (["--allow-incomplete"], 1),
            (["--allow-incomplete", "--fail-on", "never"], 0),
            (["--ignore", "GWP0004"], 0),
            (["--select", "GWP4", "--ignore", "GWP0"], 0),
        ],
    )
    def test_somebody_knows(self, lint: Lint, words: list[str], code: int) -> None:
        """Then it is as for everything else."""
        assert lint("right.yaml", "broken.yaml", *words).code == code

    def test_it_counts_more_than_errors(self, lint: Lint) -> None:
        assert lint("wrong.yaml", "broken.yaml").code == 4

    def test_a_chart_that_is_not_rendered(self, lint: Lint, here: Path) -> None:
        (here / "tree").mkdir()
        (here / "tree" / "kustomization.yaml").write_text("resources: [route.yaml, gone.yaml]\nnameSuffix: -x\n")
        (here / "tree" / "route.yaml").write_text(WORLDS["right.yaml"])
        result = lint("tree", "--min-severity", "error")
        assert (result.code, result.findings) == (4, ["tree/kustomization.yaml:1 warning GWP0010"])

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_a_file_that_may_not_be_read(self, lint: Lint, here: Path) -> None:
        (here / "tree").mkdir()
        (here / "tree" / "right.yaml").write_text(WORLDS["right.yaml"])
        (here / "tree" / "closed.yaml").write_text("")
        (here / "tree" / "closed.yaml").chmod(0)
        result = lint("tree")
        assert (result.code, result.findings) == (4, ["tree/closed.yaml error GWP0004"])
        assert "ermission denied" in result.document["findings"][0]["message"]


@pytest.mark.usefixtures("here")
class TestHostileInput:
    NAME = "a\x1b[2J\n::error::x ##[error]y <b> | `z` %0A \u202e"

    @pytest.mark.parametrize("output", ["text", "json", "github", "markdown", "junit", "sarif", "gitlab", "summary"])
    def test_names(self, command: Command, here: Path, output: str) -> None:
        """Control characters are shown as such, and no line is a command to a CI."""
        metadata = json.dumps({"name": self.NAME, "namespace": self.NAME})
        hostile = WORLDS["wrong.yaml"].replace("{name: cart, namespace: shop, labels: {}}", metadata)
        (here / "hostile.yaml").write_text(f"{hostile}---\n{hostile}")
        code, out, err = command("lint", "hostile.yaml", "-o", output)
        assert code == 1
        for text in (out, err):
            assert "\x1b" not in text
            assert "\u202e" not in text
            commands = [line for line in text.splitlines() if line.lstrip().startswith("::")]
            assert all(COMMAND.match(line) for line in commands)
            # A line that is a command of the new form is no command of the old one.
            assert not any("##[error]" in line for line in text.splitlines() if line not in commands)
            assert bool(commands) == (output == "github" and text == out)

    @pytest.mark.parametrize(
        "text",
        [
            "select: [" * 50_000,
            "a: &a [*a]\n",
            "policies: [{name: x, policies: [x], check: '((((('}]\n",
            "per-path: [{path: '[', ignore: [GWP1]}]\n",
            "\x00",
            "severity: {GWP9999: error}\n",
        ],
    )
    def test_config_files(self, command: Command, here: Path, text: str) -> None:
        """They are refused, or found to be wrong."""
        (here / ".kubectl-policy.yaml").write_text(text)
        code, _, err = command("lint", "right.yaml")
        assert code in {0, 1, 2}
        assert "Traceback" not in err
        assert len(err.splitlines()) <= 2

    def test_a_reader_that_goes_away(self, here: Path) -> None:
        read, written = os.pipe()
        os.close(read)
        done = subprocess.run(
            [sys.executable, "-m", "kubectl_policy", "lint", "wrong.yaml", "--format", "json=report.json"],
            stdout=written,
            stderr=subprocess.PIPE,
            check=False,
        )
        os.close(written)
        assert (done.returncode, done.stderr) == (1, b"")
        assert json.loads((here / "report.json").read_text())["errors"] == 1


class TestClusters:
    @pytest.fixture
    def red(self) -> Iterator[FaultyServer]:
        """One in which all is in order."""
        with cluster() as server:
            yield server

    @pytest.fixture
    def flags(self, red: FaultyServer, tmp_path: Path) -> Iterator[tuple[str, ...]]:
        """What reaches it as `red`, and as `blue` one in which a policy has no target."""
        with cluster(color("blue", "lost", route="nowhere")) as blue:
            config = kubeconfig(tmp_path, namespace="app", red=red.url, blue=blue.url)
            yield "--kubeconfig", config, "--cache-dir", str(tmp_path / "cache")

    @pytest.mark.usefixtures("here")
    def test_one(self, lint: Lint, flags: tuple[str, ...]) -> None:
        """It is known what it has, so that what is missing is an error."""
        result = lint(*flags, "--context", "blue")
        assert (result.code, result.findings) == (1, ["blue error GWP1001 ColorPolicy app/lost"])
        assert (result.document["objects"], result.document["files"]) == (11, 0)
        assert lint(*flags).document["headline"] == "No problems in 10 objects."

    def test_it_is_called_live(
        self, lint: Lint, flags: tuple[str, ...], here: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """As in `diff`; a file of that name is a file."""
        monkeypatch.setenv("KUBECTL_POLICY_OFFLINE", str(here))
        headline = "No problems in 10 objects."
        assert lint("live", *flags).document["headline"] == lint("-f", "live", *flags).document["headline"] == headline
        for arguments, message in (
            (("live", "a.yaml"), "live is a cluster, and the other paths are manifests"),
            (("live", "--offline", "a.yaml"), "--offline reads manifests, and live asks a cluster"),
        ):
            refused = lint(*arguments)
            assert (refused.code, refused.err.splitlines()[0]) == (2, f"error: {message}")
        (here / "live").write_text(WORLDS["platform.yaml"], "utf-8")
        assert lint("live").document["files"] == 1

    @pytest.mark.usefixtures("here")
    def test_a_kind_that_may_not_be_read(self, lint: Lint, flags: tuple[str, ...], red: FaultyServer) -> None:
        for path in ("colorpolicies*", "namespaces/app/colorpolicies*"):
            red.fault(f"/apis/example.com/v1/{path}", faults.status(403, "forbidden"))
        result = lint(*flags, "--select", "GWP4")
        assert (result.code, result.findings) == (4, ["red warning GWP0002"])
        assert lint(*flags, "--allow-incomplete").code == 0

    @pytest.mark.usefixtures("here")
    def test_several(self, command: Command, flags: tuple[str, ...]) -> None:
        """Each under its name, with the worst of the exit codes."""
        code, out, err = command("lint", *flags, "--all-contexts")
        assert (code, err) == (1, "")
        lost = "ColorPolicy app/lost, spec.targetRef.name: HTTPRoute app/nowhere does not exist [TargetNotFound]"
        findings = f"blue: error GWP1001 target-not-found: {lost}\n\n1 error in 11 objects.\n"
        assert out == f"Context red\nNo problems in 10 objects.\n\nContext blue\n{findings}"

    @pytest.mark.usefixtures("here")
    def test_formats_of_several(self, lint: Lint, command: Command, flags: tuple[str, ...]) -> None:
        """Documents are one; those of CI systems have no place for a cluster."""
        result = lint(*flags, "--all-contexts")
        VALIDATOR.validate(result.document)
        assert [(each["context"], each["errors"]) for each in result.document["items"]] == [("red", 0), ("blue", 1)]
        refused = command("lint", *flags, "--all-contexts", "-o", "sarif")
        assert (refused.code, refused.out) == (2, "")
        assert refused.err.startswith("error: -o sarif does not say which cluster an object is in\n")

    @pytest.mark.usefixtures("here")
    def test_a_workflow_with_several(
        self, command: Command, flags: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Annotations would not say where an object is, so it is text."""
        monkeypatch.setenv("GITHUB_ACTIONS", "true")
        assert command("lint", *flags, "--all-contexts").out.startswith("Context red\n")

    @pytest.mark.usefixtures("here")
    @pytest.mark.parametrize("words", [["--format", "json"], ["--baseline", "x"], ["--write-baseline", "x"]])
    def test_files_of_several(self, command: Command, flags: tuple[str, ...], words: list[str]) -> None:
        """There is no place for what is said of each of them."""
        code, out, err = command("lint", *flags, "--all-contexts", *words)
        assert (code, out) == (2, "")
        assert err.startswith("error: --format and baselines are for one cluster\n")

    @pytest.mark.usefixtures("here")
    def test_manifests_with_the_cluster_around(
        self, lint: Lint, flags: tuple[str, ...], here: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        target = "{group: gateway.networking.k8s.io, kind: HTTPRoute, name: %s}"
        metadata = "kind: ColorPolicy\nmetadata: {name: %s, namespace: app}"
        red = f"---\napiVersion: example.com/v1\n{metadata}\nspec: {{targetRef: {target}, color: red}}\n"
        (here / "change.yaml").write_text(red % ("there", "r") + red % ("gone", "rr"))
        monkeypatch.setenv("KUBECONFIG", flags[1])
        result = lint("change.yaml", "--context-from", "live", "--select", "GWP1")
        assert result.findings == ["change.yaml:10 error GWP1001 ColorPolicy app/gone"]
        assert result.document["objects"] == 2
