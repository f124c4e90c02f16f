"""The law that what is read of a repository as it is, and said with certainty, is what rendering it would say."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import given, settings

from kubectl_policy import InputOptions, analyze, load_manifests
from tests.certainty import lies
from tests.property.examples import examples
from tests.property.trees import as_applied, trees, write

if TYPE_CHECKING:
    from tests.property.trees import Tree


@settings(max_examples=examples(12))
@given(tree=trees())
def test_what_is_certain_is_true(tree: Tree) -> None:
    """Of every object, of what policies and routes are attached to, and in every answer, on every cluster."""
    with tempfile.TemporaryDirectory() as name:
        write(tree, Path(name))
        for cluster, objects in tree.truths.items():
            raw = analyze(load_manifests([name], options=InputOptions(cluster=cluster)), profiles=tree.profiles)
            truth = analyze(as_applied(objects), profiles=tree.profiles)
            assert lies(raw, truth) == []
