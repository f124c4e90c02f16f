"""Conditions of every test: the same answers on every machine and in every run."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Generator, Iterator
from functools import _lru_cache_wrapper, cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any, Final

import pytest
from hypothesis import settings

import kubectl_policy
from tests.renderers import add_to_path

# Modules of tests look for programs when they are imported.
add_to_path()

# What a test that is not measured were the first to import would count as never run.
for _module in walk_packages(kubectl_policy.__path__, "kubectl_policy."):
    if not _module.name.endswith("__main__"):
        import_module(_module.name)

# What mirrors the core proves which branches of it are tested; what others reach is not measured.
MEASURED: Final = (
    "attachment",
    "lint",
    "model",
    "network",
    "profiles",
    "questions",
    # Answers are documents: what is only there for programs is proved by what these print.
    "render/changes/test_documents.py",
    "render/test_matrix.py",
    "render/explain/test_statements.py",
    "render/graph/test_documents.py",
    "render/lint/test_documents.py",
    "render/test_lists.py",
    "render/output/test_documents.py",
    "render/test_status.py",
    "render/test_why_not.py",
    "resolution",
    "test_analysis.py",
    "test_comparison.py",
    "test_lazy.py",
    "test_problems.py",
    "test_redaction.py",
    "test_states.py",
    "topology",
    "validation",
)

_LIVE: Final = Path(__file__).resolve().parent / "live"

# Choose with HYPOTHESIS_PROFILE. `quick` tries the same examples in every run; `thorough` looks for new ones.
settings.register_profile("quick", deadline=None, derandomize=True, max_examples=4)
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
    return True if collection_path == _LIVE and not _is_asked_for(_LIVE, config) else None


def _is_asked_for(folder: Path, config: pytest.Config) -> bool:
    paths = (config.invocation_params.dir / word.partition("::")[0] for word in config.args)
    return any(path.resolve().is_relative_to(folder) for path in paths)


def pytest_collection_finish() -> None:
    """Nothing that is there by now goes away before the end: no collection of garbage need look at it again.

    What tests leave is looked through less often than Python would, for a tenth of the time of all tests. What was
    remembered while tests were read is found out again where that is measured.
    """
    for found in gc.get_objects():
        if isinstance(found, _lru_cache_wrapper) and found.__module__.startswith("kubectl_policy."):
            found.cache_clear()
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


# What measures the coverage, or nothing if it is not measured.
_tracers: list[Any] = []


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Stop measuring coverage, but for what `pytest_pyfunc_call` measures."""
    tracer = sys.gettrace()
    if type(tracer).__module__.startswith("coverage"):
        _tracers.append(tracer)
        sys.settrace(None)
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Tests that prove something of the core are measured, which takes them thrice the time, and nothing else is.

    Laws, recorded cases, renderers and readers go the same ways thousands of times, and so do tests that are marked as
    `unmeasured`: a branch of the core that only they reach wants a test of its own. The marker `no_cover` does not do
    this in parallel runs: there the plugin has another measurement below its own.
    """
    proves_something = _is_measured(pyfuncitem.path) and not pyfuncitem.get_closest_marker("unmeasured")
    for tracer in _tracers if proves_something else ():
        sys.settrace(tracer)
    try:
        return (yield)
    finally:
        if proves_something and _tracers:
            sys.settrace(None)


@cache
def _is_measured(path: Path) -> bool:
    return any(path.relative_to(Path(__file__).parent).is_relative_to(name) for name in MEASURED)


@pytest.fixture(autouse=True, scope="session")
def neutral_environment(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[None]:
    """A plain terminal, and no cache, no kubeconfig and no config file but those that a test writes."""
    with pytest.MonkeyPatch.context() as environment:
        for name in (*_TERMINAL, "KUBECTL_POLICY_OFFLINE"):
            environment.delenv(name, raising=False)
        environment.setenv("TERM", "dumb")
        # In the cache of the user are the programs of a cluster for tests.
        if not _is_asked_for(_LIVE, pytestconfig):
            environment.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))
        environment.setenv("KUBECONFIG", str(tmp_path_factory.getbasetemp() / "no-kubeconfig"))
        # The authorities that the machine trusts take longer to read than anything that tests ask for.
        environment.setenv("SSL_CERT_FILE", os.devnull)
        environment.setenv("KUBECTL_POLICY_CONFIG", str(tmp_path_factory.getbasetemp() / "no-config"))
        yield
