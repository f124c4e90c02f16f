"""The config file of a project: where it is looked for, what it may say, and what it comes to."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from kubectl_policy.cli.linting.project import Project, find_project, read_project
from kubectl_policy.errors import ProfileError, SourceError
from kubectl_policy.lint.finding import Finding
from kubectl_policy.lint.settings import LintSettings
from kubectl_policy.model import Origin
from tests.repository import Repository, alone

if TYPE_CHECKING:
    from pathlib import Path


EVERYTHING = """\
select: [GWP1, target-not-found]
ignore:
  - GWP1013
severity:
  GWP1001: warning
  GWP2: off
fail-on: never
min-severity: warning
exclude: [tests/]
per-path:
  - {path: legacy/**, ignore: [GWP1001]}
baseline: lint/baseline.json
require-reason: true
complete: true
context-from: [around, other:cluster]
path-map: {rendered/: charts/}
grace: 0
owner: example.com/team
widest: 20
policies:
  - {name: ours, policies: [SecurityPolicy], fields: [jwt]}
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, which is in no repository."""
    folder = tmp_path / "here"
    (folder / "around").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    return alone(tmp_path, monkeypatch)


class TestWhatItSays:
    def test_everything(self, here: Path) -> None:
        """Each key has its meaning; paths are relative to the file."""
        (here / ".kubectl-policy.yaml").write_text(EVERYTHING)
        project = find_project()
        assert project.select == ("GWP1", "target-not-found")
        assert project.ignore == ("GWP1013",)
        assert project.severity == {"GWP1001": "warning", "GWP2": "off"}
        assert (project.fail_on, project.min_severity) == ("never", "warning")
        assert project.exclude == ("tests/",)
        assert [(each.path, each.ignore) for each in project.per_path] == [("legacy/**", ("GWP1001",))]
        assert project.baseline == "lint/baseline.json"
        assert (project.require_reason, project.complete) == (True, True)
        assert project.context_from == ("around", "other:cluster")
        assert project.path_map == {"rendered/": "charts/"}
        assert (project.grace, project.owner, project.widest) == (0, "example.com/team", 20)
        assert [each.name for each in project.policies] == ["ours"]
        assert project.file == ".kubectl-policy.yaml"
        assert project.written["GWP1013"] == Origin(".kubectl-policy.yaml", 3)
        assert project.written["GWP2"] == Origin(".kubectl-policy.yaml", 6)
        assert project.written["target-not-found"] == Origin(".kubectl-policy.yaml", 1)

    @pytest.mark.parametrize("text", ["", "# select: [GWP1]\n", "{}\n", "select: []\n"])
    def test_nothing(self, here: Path, text: str) -> None:
        (here / ".kubectl-policy.yaml").write_text(text)
        assert find_project().settings_with() == LintSettings() == Project().settings_with()

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("selects: [GWP1]\n", "1: selects: there is no such field; did you mean select?"),
            ("fail_on: error\n", "1: fail_on: there is no such field; did you mean fail-on?"),
            ("select: GWP1\n", "1: select: must be a list, not 'GWP1'"),
            ("select:\n  - GWP1\n  - ''\n", "3: select[1]: must not be empty"),
            (
                "severity: {GWP1: fatal}\n",
                "1: severity.GWP1: 'fatal' is not allowed; use one of error, warning, info, off",
            ),
            ("severity: {GWP1: true}\n", "1: severity.GWP1: true is not allowed; use one of error, warning, info, off"),
            ("fail-on: always\n", "1: fail-on: 'always' is not allowed; use one of error, warning, info, never"),
            ("grace: -1\n", "1: grace: must be at least 0"),
            ("grace: 5m\n", "1: grace: must be a whole number, not '5m'"),
            ("\nwidest: true\n", "2: widest: must be a whole number, not true"),
            ("widest: 0\n", "1: widest: must be at least 1"),
            ("complete: 1\n", "1: complete: must be true or false, not 1"),
            ("exclude: ['!']\n", '1: exclude[0]: "!" is not a file pattern'),
            ("per-path: [{path: a}]\n", "1: per-path[0]: the field ignore is missing"),
            ("per-path:\n- ignore: [x]\n  path: '!'\n", '3: per-path[0].path: "!" is not a file pattern'),
            ("policies: [{name: a}]\n", "1: policies[0]: the field policies is missing"),
            ("baseline: ''\n", "1: baseline: '' does not fit. A path is expected."),
            ("- select\n", '1: the file: must be a mapping, not ["select"]'),
            ("select: []\nselect: []\n", "2: select is given twice: it is on line 1 as well"),
            ("select: [", "1: not valid YAML"),
        ],
    )
    def test_what_is_malformed(self, here: Path, text: str, message: str) -> None:
        """It is wrong usage, with its line."""
        (here / ".kubectl-policy.yaml").write_text(text)
        with pytest.raises(ProfileError) as refused:
            find_project()
        assert refused.value.message.startswith(f".kubectl-policy.yaml:{message}")
        assert refused.value.hint == "docs/linting.md describes the config file"
        assert refused.value.exit_code == 2


class TestWhereItIs:
    def test_in_the_repository(self, tmp_path: Path, repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
        """The nearest file counts, up to the root."""
        repository.write("apps/shop/x.yaml", "")
        (tmp_path / ".kubectl-policy.yaml").write_text("owner: outside\n")
        monkeypatch.chdir(repository.folder / "apps/shop")
        assert find_project() == Project(root=str(repository.folder))
        repository.write(".kubectl-policy.yaml", "owner: root\nbaseline: b.json\n")
        project = find_project()
        assert (project.owner, project.file) == ("root", "../../.kubectl-policy.yaml")
        assert project.baseline == "../../b.json"
        repository.write("apps/.kubectl-policy.yaml", "owner: apps\n")
        assert (find_project().owner, find_project().root) == ("apps", str(repository.folder))

    def test_in_no_repository(self, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """It is in the current directory, or nowhere."""
        (here / ".kubectl-policy.yaml").write_text("owner: here\n")
        assert (find_project().owner, find_project().root) == ("here", "")
        monkeypatch.chdir(here / "around")
        assert find_project() == Project()

    def test_in_a_folder_that_is_gone(self, here: Path) -> None:
        """Nothing is: paths of what is found would be relative to nothing."""
        (here / "around").rmdir()
        here.rmdir()
        with pytest.raises(SourceError, match="the current directory does not exist any more"):
            find_project()

    def test_it_cannot_be_read(self, here: Path) -> None:
        (here / ".kubectl-policy.yaml").mkdir()
        with pytest.raises(ProfileError, match=r"^\.kubectl-policy\.yaml: cannot be read: Is a directory"):
            find_project()

    def test_it_is_named(self, here: Path) -> None:
        """It is read whatever it is called."""
        (here / "around" / "lint.yaml").write_text("baseline: b.json\ncontext-from: [lint.yaml, '-']\n")
        project = read_project("around/lint.yaml")
        assert (project.baseline, project.context_from) == ("around/b.json", ("around/lint.yaml", "-"))


class TestPaths:
    @pytest.mark.parametrize(
        ("rule", "source", "counts"),
        [
            ("GWP1001", "legacy/a/b.yaml:1", False),
            ("GWP1001", "./legacy/b.yaml:1", False),
            ("GWP1001", "around/../legacy/b.yaml:1", False),
            ("GWP1001", "HEAD:apps/legacy/b.yaml:1", False),
            ("GWP1001", "HEAD:legacy/b.yaml:1", True),
            ("GWP1002", "legacy/b.yaml:1", True),
            ("GWP1001", "legacy/b.yaml:0", True),
            ("GWP1001", "apps/legacy/b.yaml:1", True),
            ("GWP1001", "../legacy/b.yaml:1", True),
            ("GWP4001", "old.yaml:1", False),
            ("GWP4001", "around/old.yaml:1", False),
            ("GWP4001", "<stdin>:1", True),
        ],
    )
    def test_by_patterns(
        self, repository: Repository, monkeypatch: pytest.MonkeyPatch, rule: str, source: str, *, counts: bool
    ) -> None:
        """As in a .gitignore beside the config file, wherever that is in the repository."""
        legacy = "{path: /legacy/**, ignore: [target-not-found]}"
        repository.write("apps/.kubectl-policy.yaml", f"per-path: [{legacy}, {{path: old.yaml, ignore: [GWP4]}}]\n")
        monkeypatch.chdir(repository.folder / "apps")
        file, _, line = source.rpartition(":")
        finding = Finding(subject=None, message="", rule=rule, origin=Origin(file, int(line)))
        assert find_project().is_counted(finding) is counts

    def test_without_any(self) -> None:
        """Everything counts, and so does what is in no file."""
        finding = Finding(subject=None, message="", rule="GWP1001")
        assert Project().is_counted(finding)
        assert Project(per_path=()).is_counted(finding)


class TestSettings:
    FILE = Project(
        select=("GWP4", "GWP1"),
        ignore=("GWP4001",),
        severity={"GWP1001": "off", "GWP4": "info"},
        fail_on="warning",
        min_severity="warning",
        grace=0,
        widest=7,
    )

    def test_the_file_alone(self) -> None:
        """It counts if nothing else is said."""
        settings = self.FILE.settings_with()
        assert (settings.selected, settings.ignored) == (("GWP4", "GWP1"), ("GWP4001",))
        assert settings.severities == {"GWP1001": "off", "GWP4": "info"}
        assert (settings.fail_on, settings.min_severity, settings.grace, settings.widest) == (
            "warning",
            "warning",
            0,
            7,
        )
        assert (settings.require_reason, settings.now) == (False, None)

    def test_what_is_selected(self) -> None:
        """It is checked whatever the file ignores."""
        settings = self.FILE.settings_with(select=["GWP4001,target-not-found", " ", "GWP2"])
        assert (settings.selected, settings.ignored) == (("GWP4001", "target-not-found", "GWP2"), ())
        assert settings.severities == {"GWP4": "info"}

    def test_what_is_ignored(self) -> None:
        """It is ignored as well as what the file ignores."""
        assert self.FILE.settings_with(ignore=["GWP4002"]).ignored == ("GWP4001", "GWP4002")

    def test_severities(self) -> None:
        """Of names as exact, the one on the command line counts."""
        severities = self.FILE.settings_with(severity=["GWP4=error", "GWP1001=info"]).severities
        assert severities == {"GWP4": "error", "GWP1001": "info"}
        by_name = self.FILE.settings_with(severity=["target-not-found=error"]).severities
        assert list(by_name.items())[-1] == ("target-not-found", "error")

    def test_all_others(self) -> None:
        now = datetime(2026, 12, 31, tzinfo=UTC)
        more: dict[str, Any] = {"fail_on": "never", "min_severity": "error", "require_reason": True, "now": now}
        settings = self.FILE.settings_with(**more)
        assert (settings.fail_on, settings.min_severity, settings.require_reason, settings.now) == (
            "never",
            "error",
            True,
            now,
        )
