"""Documents as JSON and YAML that can neither control a terminal nor be lost on the way to a file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from kubectl_policy.render.output.escape import commands, uncommanding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_policy.model import Json

# PyYAML folds longer strings, which makes them hard to search for.
_UNFOLDED: Final = 2**30
_TEXT: Final = "tag:yaml.org,2002:str"


def as_json(document: Mapping[str, Json]) -> str:
    """The document as JSON, in ASCII only: what a name holds can then do no harm and is kept by any encoding."""
    return uncommanding(json.dumps(document, indent=2, allow_nan=False), "\\u00")


def as_yaml(document: Json, *, unicode: bool) -> str:
    """The document as YAML; in ASCII only without `unicode`, and where anything in it cannot be printed."""
    return _dumped(document, unicode=unicode, flow=False)


def as_field(key: str, value: Json, *, unicode: bool) -> str:
    """A field and its value in the flow style of YAML, on one line unless the value has several: `name: {a: 1}`."""
    return _dumped({key: value}, unicode=unicode, flow=True)[1:-1]


def as_item(value: Json, *, unicode: bool) -> str:
    """An item of a list, in the flow style of YAML; see `as_field`."""
    return f"- {_dumped([value], unicode=unicode, flow=True)[1:-1]}"


def _dumped(document: Json, *, unicode: bool, flow: bool) -> str:
    import yaml  # noqa: PLC0415 (the other formats do without)

    class _WithoutAliases(yaml.SafeDumper):
        """The safe dumper, writing out what occurs twice: nobody wants to read `*id001`."""

        def ignore_aliases(self, data: object) -> bool:
            """Whether a value is never to be written as an alias: all are."""
            del data
            return True

    def dump(*, unicode: bool) -> str:
        return yaml.dump(
            document,
            Dumper=_WithoutAliases,
            sort_keys=False,
            width=_UNFOLDED,
            allow_unicode=unicode,
            default_flow_style=flow,
        ).rstrip("\n")

    text = dump(unicode=unicode)
    if commands(text):
        # Within quotes an escape means the same and does nothing.
        _WithoutAliases.add_representer(str, lambda dumper, text: dumper.represent_scalar(_TEXT, text, style='"'))
        text = uncommanding(dump(unicode=unicode))
    # PyYAML takes bidirectional controls for printable; written as escapes they mean the same and do nothing.
    return text if all(map(str.isprintable, text.split("\n"))) else uncommanding(dump(unicode=False))
