"""The number of examples with which a law is tried."""

from hypothesis import settings

_USUAL = settings.get_profile("quick").max_examples


def examples(number: int) -> int:
    """So many in every run, and in a thorough one as many times more as it has more examples of everything else."""
    return number * settings().max_examples // _USUAL
