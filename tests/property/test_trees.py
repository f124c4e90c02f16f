"""The generated repositories are what they claim to be, by the programs that they are written for."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings

from tests.property.examples import examples
from tests.property.renderers import rendered
from tests.property.trees import is_asked_about, reference_to, trees, write

if TYPE_CHECKING:
    from tests.property.trees import Tree


@settings(max_examples=examples(10))
@given(tree=trees())
def test_the_trees_are_what_they_claim_to_be(tree: Tree) -> None:
    """What the real programs make of a tree is the world that was hidden in it, but for Services that others make."""
    kubectl = shutil.which("kubectl") or pytest.skip("kubectl is not installed")
    for cluster, objects in tree.truths.items():
        if any("ENC[" in text for text in tree.files.values()):
            continue
        with tempfile.TemporaryDirectory() as name:
            write(tree, Path(name))
            found = {reference_to(one): one for one in rendered(tree, Path(name), cluster, kubectl)}
        truth = {reference_to(one): one for one in objects}
        assert [str(ref) for ref in truth.keys() - found.keys() if ref.kind != "Service"] == []
        different = [(one, truth.get(ref)) for ref, one in found.items() if is_asked_about(ref)]
        assert [pair for pair in different if pair[0] != pair[1]] == []
