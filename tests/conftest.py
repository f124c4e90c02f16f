"""What every test relies on: the same answers on every machine and in every run."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import settings

import kubectl_policy

if TYPE_CHECKING:
    from collections.abc import Iterator

# What a test that is not measured (see `unmeasured`) were the first to import would count as never run.
for _module in walk_packages(kubectl_policy.__path__, "kubectl_policy."):
    if not _module.name.endswith("__main__"):
        import_module(_module.name)

# What mirrors the core proves which branches of it are tested; what others reach is not measured.
_MEASURED: Final = (
    "attachment",
    "cli/linting",
    "cli/test_changes.py",
    "cli/test_describe.py",
    "cli/test_diff.py",
    "cli/test_get.py",
    "cli/test_lines.py",
    "cli/test_snapshot.py",
    "cli/test_status.py",
    "lint",
    "model",
    "profiles",
    "questions",
    "resolution",
    "test_analysis.py",
    "test_comparison.py",
    "test_problems.py",
    "test_redaction.py",
    "test_surroundings.py",
    "topology",
    "validation",
    "worlds",
)

_LIVE: Final = Path(__file__).resolve().parent / "live"

# Choose with HYPOTHESIS_PROFILE. `quick` tries the same examples in every run; `thorough` looks for new ones.
settings.register_profile("quick", deadline=None, derandomize=True, max_examples=6)
settings.register_profile("thorough", deadline=None, max_examples=2_000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

# Whatever the terminal or the CI system says about colour and width would show up in what the commands print.
_TERMINAL: Final = (
    "CI",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLUMNS",
    "FORCE_COLOR",
    "GITHUB_ACTIONS",
    "GITHUB_STEP_SUMMARY",
    "LINES",
    "NO_COLOR",
    "PY_COLORS",
)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Tests on a real API server run where they are asked for by their folder alone: `make test-live`."""
    asked = (config.invocation_params.dir / word.partition("::")[0] for word in config.args)
    if collection_path != _LIVE or any(path.resolve().is_relative_to(_LIVE) for path in asked):
        return None
    return True


@pytest.fixture(autouse=True)
def neutral_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A plain terminal, and no kubeconfig and no config file but those that a test writes."""
    for name in _TERMINAL:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("KUBECONFIG", str(tmp_path_factory.getbasetemp() / "no-kubeconfig"))
    monkeypatch.delenv("KUBECTL_POLICY_OFFLINE", raising=False)
    monkeypatch.setenv("KUBECTL_POLICY_CONFIG", str(tmp_path_factory.getbasetemp() / "no-config"))


@pytest.fixture
def unmeasured() -> Iterator[None]:
    """Nothing is written down for the coverage, which takes thrice the time; other tests reach what this one reaches.

    The marker `no_cover` does not do it in parallel runs: there the plugin has another measurement below its own.
    """
    tracer = sys.gettrace()
    if type(tracer).__module__.startswith("coverage"):
        sys.settrace(None)
        yield
        sys.settrace(tracer)
    else:
        yield


@pytest.fixture(autouse=True)
def measured_where_it_proves_something(request: pytest.FixtureRequest) -> None:
    """Laws, recorded cases, renderers and readers go the same ways thousands of times.

    A branch of the core that only they reach wants a test of its own.
    """
    where = request.path.relative_to(Path(__file__).parent)
    if not any(where.is_relative_to(name) for name in _MEASURED):
        request.getfixturevalue("unmeasured")
