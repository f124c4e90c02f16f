"""Worlds of which objects were recognised in texts, and are read when somebody asks for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml

from kubectl_policy.model import ObjectRef
from kubectl_policy.sources.stored import StoredWorld
from kubectl_policy.text.documents import DocumentReader
from kubectl_policy.text.recognised import ShapedDocument
from tests.text.recognising import recognise_with

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_policy.model import Resource


def text_of(resources: Iterable[Resource]) -> str:
    """Objects in one text, the fields of each in their order."""
    return yaml.safe_dump_all([each.raw for each in resources], sort_keys=False)


def stored(*texts: str, read: Iterable[Resource] = ()) -> StoredWorld:
    """What is recognised in some texts, and what was read elsewhere."""
    objects: dict[ObjectRef, Resource | ShapedDocument] = {}
    with pytest.MonkeyPatch.context() as patched:
        recognise_with(1, patched)
        reader = DocumentReader()
    for place, text in enumerate(texts):
        for found in reader.recognise(text, f"{place}.yaml"):
            if isinstance(found, ShapedDocument):
                objects[ObjectRef(found.shape.group_kind, found.namespace, found.name)] = found
    return StoredWorld({**objects, **{each.ref: each for each in read}}, "default", reader.made)
