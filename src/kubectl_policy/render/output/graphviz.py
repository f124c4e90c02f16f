"""Pictures of DOT, by the programs of Graphviz."""

from __future__ import annotations

from typing import Final

from kubectl_policy.errors import PolicyError

_INSTALL: Final = "apt install graphviz, dnf install graphviz, brew install graphviz or winget install graphviz"


def drawn(dot: str, form: str) -> str | bytes:
    """The picture of a graph in one of Graphviz's formats; SVG as text. Raises `PolicyError` where there is no `dot`.

    It is what the program makes, and so differs between its versions.
    """
    import graphviz  # type: ignore[import-untyped]  # noqa: PLC0415 (takes long to import)

    try:
        made: bytes = graphviz.Source(dot).pipe(format=form, quiet=True)
    except graphviz.ExecutableNotFound as error:
        hint = f"{_INSTALL}; without it there are -o html, mermaid, dot, tree and json"
        raise PolicyError(f"-o {form} needs the program dot of Graphviz, which is not installed", hint) from error
    except graphviz.CalledProcessError as error:
        said = (error.stderr or b"").decode("utf-8", "replace").strip() or f"it ended with {error.returncode}"
        raise PolicyError(f"Graphviz could not draw this: {said}", "-o html draws without it") from error
    return made.decode("utf-8") if form == "svg" else made
