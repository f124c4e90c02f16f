"""What is read beside what is linted, where files really are, and what a project says of both once for all."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.linting.conftest import SECTION, WORLDS, Lint
from tests.lint.policy_manifests import gateway, policy, route, service
from tests.repository import alone

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Command

ROUTE = route(section="htp")
WRONG = f"route.yaml:6 {SECTION}"


@pytest.mark.usefixtures("here")
class TestContext:
    @pytest.fixture(autouse=True)
    def around(self, here: Path, command: Command) -> None:
        """A folder and a snapshot with a Gateway, a Service, and a policy without a target."""
        (here / "route.yaml").write_text(ROUTE)
        (here / "around").mkdir()
        lost = policy("BackendTrafficPolicy", "HTTPRoute/lost", "retry: {numRetries: 3}")
        (here / "around" / "platform.yaml").write_text(gateway() + lost)
        (here / "services.yaml").write_text(service())
        assert command("snapshot", "--offline", "around", "-o", "around.gz").code == 0

    @pytest.mark.parametrize(
        "words",
        [
            ["--context-from", "around", "--context-from", "services.yaml"],
            ["--context-from", "around.gz", "--context-from", "services.yaml"],
            ["--config", "around.yaml"],
        ],
    )
    def test_what_is_around(self, lint: Lint, here: Path, words: list[str]) -> None:
        """Files, folders and snapshots: what is wrong there is none of our business."""
        (here / "around.yaml").write_text("context-from: [around, services.yaml]\n")
        assert {finding.split()[2] for finding in lint("route.yaml").findings} == {"GWP0001"}
        result = lint("route.yaml", *words, "--complete")
        assert (result.code, result.findings) == (1, [WRONG])
        assert (result.document["objects"], result.document["files"]) == (1, 1)

    def test_what_is_linted_takes_its_place(self, lint: Lint, here: Path) -> None:
        (here / "around" / "route.yaml").write_text(route(section="old"))
        assert lint("route.yaml", "--context-from", "around", "--select", "GWP4").findings == [WRONG]
        (here / "route.yaml").write_text(route())
        assert lint("route.yaml", "--context-from", "around", "--select", "GWP4").findings == []

    def test_the_command_line_beats_the_config_file(self, lint: Lint, here: Path) -> None:
        """They are not read together."""
        (here / ".kubectl-policy.yaml").write_text("context-from: [nowhere]\n")
        assert lint("route.yaml", "--context-from", "around", "--select", "GWP4").findings == [WRONG]

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            ("nowhere", "nowhere: there is no such file or folder"),
            ("HEAD:nowhere", 'there is no git repository here to find the revision "HEAD" in'),
            ("live", "no kubeconfig was found: looked for no-kubeconfig"),
        ],
    )
    def test_what_cannot_be_read(
        self, command: Command, monkeypatch: pytest.MonkeyPatch, words: str, message: str
    ) -> None:
        monkeypatch.setenv("KUBECONFIG", "no-kubeconfig")
        code, out, err = command("lint", "route.yaml", "--context-from", words)
        assert (code, out, err.splitlines()[0]) == (3, "", f"error: {message}")


def test_a_revision_around(lint: Lint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the same repository, as another branch of it holds the platform; also beside a base."""
    repository = alone(tmp_path, monkeypatch)
    repository.write("platform/platform.yaml", gateway())
    repository.write("shop/route.yaml", route() + service())
    repository.commit()
    repository.write("shop/route.yaml", ROUTE + service())
    monkeypatch.chdir(repository.folder / "shop")
    for words in (["--context-from", "HEAD:platform"], ["--context-from", "HEAD:../platform", "--diff-base", "HEAD"]):
        findings = lint("route.yaml", *words, "--select", "GWP4").document["findings"]
        assert [(finding["rule"], finding["origin"]["line"]) for finding in findings] == [("GWP4002", 6)]
        assert findings[0]["related"][0]["origin"]["source"] in {
            "HEAD:platform/platform.yaml",
            "../platform/platform.yaml",
        }


@pytest.mark.usefixtures("here")
class TestConfigFiles:
    def test_it_is_found(self, lint: Lint, here: Path) -> None:
        """Beside where the command is started; another one can be named, and options beat it."""
        (here / ".kubectl-policy.yaml").write_text("ignore: [GWP1]\nseverity: {GWP4002: warning}\n")
        (here / "other.yaml").write_text("select: [GWP1]\n")
        warning = f"wrong.yaml:19 {SECTION.replace('error', 'warning')}"
        result = lint("wrong.yaml")
        assert (result.code, result.findings) == (0, [warning])
        assert lint("wrong.yaml", "--config", "other.yaml").findings == []
        assert lint("wrong.yaml", "--severity", "GWP4002=error").code == 1
        assert lint("wrong.yaml", "--fail-on", "warning").code == 1

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("a: 1\n", "1: a: there is no such field"),
            ("\nselect: 1\n", "2: select: must be a list, not 1"),
            ("select: [\n", ""),
        ],
    )
    def test_it_is_wrong(self, command: Command, here: Path, text: str, message: str) -> None:
        """It is said where, before anything is read."""
        (here / ".kubectl-policy.yaml").write_text(text)
        code, out, err = command("lint", "nowhere.yaml")
        assert (code, out) == (2, "")
        assert err.startswith(f"error: .kubectl-policy.yaml:{message}")
        assert err.splitlines()[1:] == ["hint: docs/linting.md describes the config file"]

    def test_it_is_not_there(self, command: Command) -> None:
        code, _, err = command("lint", "right.yaml", "--config", "nowhere.yaml")
        assert (code, err.splitlines()[0]) == (2, "error: nowhere.yaml: cannot be read: No such file or directory")

    def test_a_rule_that_there_is_not(self, lint: Lint, here: Path) -> None:
        """It is found, as another version of the program may have it; with its line."""
        (here / ".kubectl-policy.yaml").write_text("ignore:\n- GWP1\n- target-not-fund\n")
        result = lint("right.yaml")
        assert (result.code, result.findings) == (0, [".kubectl-policy.yaml:3 warning GWP0008"])
        assert result.document["findings"][0]["fix"]["words"] == "did you mean target-not-found?"

    def test_what_does_not_count_in_some_files(self, lint: Lint, here: Path) -> None:
        (here / ".kubectl-policy.yaml").write_text("per-path: [{path: 'wr*', ignore: [GWP4]}]\n")
        assert lint("wrong.yaml", "--write-baseline", "none.json").findings == []
        assert json.loads((here / "none.json").read_text())["findings"] == []
        (here / "other.yaml").write_text(WORLDS["wrong.yaml"])
        assert lint("other.yaml").code == 1

    def test_what_is_left_out(self, lint: Lint, here: Path) -> None:
        (here / ".kubectl-policy.yaml").write_text("exclude: [open.yaml, less.yaml]\n")
        result = lint(".", "--exclude", "right.yaml", "--exclude", "platform.yaml")
        assert result.findings == [f"wrong.yaml:19 {SECTION}"]

    def test_paths_from_the_root(self, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """CI systems know files from there, also where the config file is named."""
        repository = alone(tmp_path, monkeypatch)
        repository.write("apps/shop/wrong.yaml", WORLDS["wrong.yaml"])
        repository.write("lint.yaml", "owner: team\n")
        monkeypatch.chdir(repository.folder / "apps")
        for words in ([], ["--config", "../lint.yaml"]):
            findings = json.loads(command("lint", "shop", "--select", "GWP4", "-o", "gitlab", *words).out)
            assert [finding["location"]["path"] for finding in findings] == ["apps/shop/wrong.yaml"]

    def test_rules_of_a_team(self, lint: Lint, here: Path) -> None:
        requirement = "{name: token, policies: [SecurityPolicy], fields: [jwt], message: show a token}"
        (here / ".kubectl-policy.yaml").write_text(f"policies: [{requirement}]\n")
        assert lint("less.yaml", "--select", "GWP9").findings == ["less.yaml:15 error GWP9001 HTTPRoute shop/cart"]


@pytest.mark.usefixtures("here")
class TestPathMap:
    @pytest.mark.parametrize("words", [["--path-map", "rendered/=charts/"], ["--config", "map.yaml"]])
    def test_prefixes(self, lint: Lint, here: Path, words: list[str]) -> None:
        """By an option, or the config file."""
        (here / "rendered").mkdir()
        (here / "rendered" / "all.yaml").write_text(WORLDS["wrong.yaml"])
        (here / "map.yaml").write_text("path-map: {rendered/: charts/}\n")
        assert lint("rendered").findings == [f"rendered/all.yaml:19 {SECTION}"]
        assert lint("rendered", *words).findings == [f"charts/all.yaml:1 {SECTION}"]

    def test_what_helm_says(self, lint: Lint) -> None:
        """The template that a manifest comes from; lines of it are not known, so it is the first one."""
        rendered = WORLDS["wrong.yaml"].replace("---\n", "---\n# Source: shop/templates/all.yaml\n")
        assert lint("-", stdin=rendered).findings == [f"shop/templates/all.yaml:1 {SECTION}"]
        mapped = lint("-", "--path-map", "shop/=charts/shop/", stdin=rendered)
        assert mapped.findings == [f"charts/shop/templates/all.yaml:1 {SECTION}"]


def test_there_is_no_current_directory(command: Command, here: Path) -> None:
    folder = here / "gone"
    folder.mkdir()
    with contextlib.chdir(folder):
        folder.rmdir()
        code, out, err = command("lint", here / "wrong.yaml")
    assert (code, out) == (3, "")
    assert err == "error: the current directory does not exist any more\nhint: change to one that exists\n"
