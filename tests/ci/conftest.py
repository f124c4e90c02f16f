"""The machine that jobs of all systems run on."""

from tests.ci.runner import runner

__all__ = ["runner"]
