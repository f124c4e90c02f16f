"""Options for reading the input: what of it counts, and what fills in what it leaves open."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model.snapshot import AssumedObjects

# Called with the number of builds that are begun, the number known, and the name of the last one.
Progress: TypeAlias = Callable[[int, int, str], None]
# Never, always, or where the programs for it are installed.
Render: TypeAlias = bool | Literal["auto"]


class InputOptions(Struct, frozen=True, kw_only=True):
    """Options of a call for its input."""

    namespace: str = "default"
    """The namespace of objects whose manifests and tree name none."""
    complete: bool = False
    """Whether an object that is not in the input does not exist."""
    exclude: tuple[str, ...] = ()
    """Patterns of files and folders to leave out, as in a .gitignore."""
    cluster: str = ""
    """The one cluster that is meant, of a tree for several."""
    values: Mapping[str, str] = field(default_factory=dict[str, str])
    """The values of variables (`${NAME}`)."""
    render: Render = False
    """Whether Kustomize, Flux, Argo CD and Helm are applied first, by their own programs.

    `auto` does so where anything is to be rendered and a program for it is installed.
    """
    network: bool = False
    """Whether programs that render may fetch charts and manifests."""
    assumed: tuple[AssumedObjects, ...] = ()
    """Objects that exist although they are not in the input."""
    map_origins: bool = False
    """Whether an object that was rendered before it was read gets the origin that it tells."""
    path_map: tuple[tuple[str, str], ...] = ()
    """Beginnings of paths, and their replacements in origins."""


AS_IT_IS: Final = InputOptions()
