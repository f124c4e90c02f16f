"""`--blame`: who wrote each setting, by `managedFields` where an object has them, else by git."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Origin
    from kubectl_policy.model.authorship import Authorship
    from kubectl_policy.questions.shared.places import Placed


class Authors:
    """Who wrote the settings of one state."""

    def __init__(self, analysis: "Analysis") -> None:
        """Of this state; nobody is asked yet."""
        from kubectl_policy.sources.places.authors import Authors as OfLines

        self._index, self._of_lines = analysis.index, OfLines()

    def __call__(self, placed: "Placed", origin: "Origin | None") -> "Authorship | None":
        """Who wrote a setting, given where it is written, if that could be told."""
        from kubectl_policy.model.authorship import managed_by

        owner = managed_by(self._index.raw(placed.source.object), placed.declared_in.steps)
        return owner or (self._of_lines.of(origin) if origin else None)

    def complain(self) -> None:
        """Say on standard error what kept lines from being known."""
        from kubectl_policy.cli.terminal import complain

        complain(*self._of_lines.complaints)
