"""How the input is to be read: what of it counts, and what fills in what it leaves open."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from kubectl_policy.model.values import field, value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model.snapshot import AssumedObjects

# What is told how many things are rendered or begun, how many there are as far as is known, and the name of the last.
Progress: TypeAlias = Callable[[int, int, str], None]
# Whether something is done: never, always, or where the programs for it are installed.
Render: TypeAlias = bool | Literal["auto"]


@value(kw_only=True)
class InputOptions:
    """What a person says of the input.

    `namespace` is where objects live that have a namespace, if neither they nor the tree around them say which one.
    `complete` says that what is not here does not exist; what is `assumed` does all the same. `exclude` are patterns of
    files and folders to leave out, as in a .gitignore. Of a tree for several clusters, `cluster` is the one that is
    meant. `values` are those of variables (`${NAME}`). If it is to `render`, Kustomize, Flux, Argo CD and Helm are
    applied first, by their own programs; `auto` does so where anything is to be rendered and a program for it is
    installed. To `map_origins` is to say of an object that was rendered before it was read where it is written, as far
    as it tells. In the `path_map` are beginnings of paths, and what they are to be replaced by where it is said where
    something is.
    """

    namespace: str = "default"
    complete: bool = False
    exclude: tuple[str, ...] = ()
    cluster: str = ""
    values: Mapping[str, str] = field(default_factory=dict[str, str])
    render: Render = False
    assumed: tuple[AssumedObjects, ...] = ()
    map_origins: bool = False
    path_map: tuple[tuple[str, str], ...] = ()


AS_IT_IS: Final = InputOptions()
