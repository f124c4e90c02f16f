"""Write the definitions of Gateway API that the program brings along.

`python -m tests.validation.gateway_api FOLDER` reads the CustomResourceDefinitions in FOLDER: config/crd/experimental
of kubernetes-sigs/gateway-api, whose schemas allow the most. It leaves out descriptions and statuses, and writes each
schema once.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from kubectl_policy.validation.standard import FILE
from tests import fast_yaml


def schemas(folder: Path) -> dict[str, Any]:
    """Return the contents of the file: where the schemas are from, and the schema of each version of each kind."""
    known: list[Any] = []
    versions: dict[str, dict[str, int]] = {}
    bundle = ""
    for path in sorted(folder.glob("*.yaml")):
        for definition in fast_yaml.load_all(path.read_text("utf-8")):
            if not definition or definition["kind"] != "CustomResourceDefinition":
                continue
            bundle = definition["metadata"]["annotations"]["gateway.networking.k8s.io/bundle-version"]
            spec = definition["spec"]
            for version in spec["versions"]:
                schema = _without_descriptions(version["schema"]["openAPIV3Schema"])
                schema["properties"].pop("status", None)
                if schema not in known:
                    known.append(schema)
                of_kind = versions.setdefault(f"{spec['names']['kind']}.{spec['group']}", {})
                of_kind[version["name"]] = known.index(schema)
    return {"bundle": bundle, "versions": versions, "schemas": known}


def _without_descriptions(schema: Any) -> Any:  # noqa: ANN401 (a part of a schema)
    if isinstance(schema, list):
        return [_without_descriptions(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    texts = {key for key, part in schema.items() if key == "description" and isinstance(part, str)}
    return {key: _without_descriptions(part) for key, part in schema.items() if key not in texts}


if __name__ == "__main__":
    FILE.write_text(json.dumps(schemas(Path(sys.argv[1])), separators=(",", ":"), ensure_ascii=False) + "\n", "utf-8")
