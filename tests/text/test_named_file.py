"""Files that somebody names: which are read, how often, and how much of them."""

from __future__ import annotations

import os
import socket
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from kubectl_policy.text import named_file
from kubectl_policy.text.named_file import read_named_file, read_named_text

if TYPE_CHECKING:
    from pathlib import Path


def _reason(path: Path | str) -> str:
    with pytest.raises(OSError, match=r".") as refused:
        read_named_file(str(path), 100)
    return refused.value.strerror or ""


def test_what_is_no_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link counts as what it leads to."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "zero.yaml").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        refused = {path: _reason(path) for path in ("/dev/zero", "zero.yaml", "socket", ".", "nothing")}
    assert refused == {
        "/dev/zero": "it is a device, not a file",
        "zero.yaml": "it is a device, not a file",
        "socket": "it is a socket, not a file",
        ".": "Is a directory",
        "nothing": "No such file or directory",
    }


def test_the_null_device_is_empty() -> None:
    """It stands for a file without content in many commands."""
    assert read_named_file(os.devnull, 100) == b""


@pytest.mark.parametrize("size", [0, 1, 99, 100, 101, 2**17])
def test_no_more_is_read_than_the_limit_and_one_byte(tmp_path: Path, size: int) -> None:
    (tmp_path / "a").write_bytes(b"x" * size)
    assert read_named_file(str(tmp_path / "a"), 100) == b"x" * min(size, 101)
    assert read_named_file(str(tmp_path / "a"), 2**20) == b"x" * size


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="there are no files without a size")  # noqa: PTH110
def test_a_file_without_a_size() -> None:
    """Files of the system itself say that they are empty."""
    assert read_named_file("/proc/self/stat", 2**20).endswith(b"\n")


def test_text(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbf" + "é".encode())
    assert read_named_text(str(tmp_path / "a"), 5) == "é"
    with pytest.raises(OSError, match="larger than 0 MiB: this is another kind of file"):
        read_named_text(str(tmp_path / "a"), 4)


def _written(pipe: Path, content: bytes) -> Thread:
    """Write into a pipe as soon as somebody reads from it."""
    writer = Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    return writer


@pytest.mark.parametrize("size", [0, 1, 2**16 + 1, 2**18])
def test_a_pipe_is_read_to_its_end_and_keeps_its_content(tmp_path: Path, size: int) -> None:
    """Several parts of the program may read one file."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = _written(pipe, b"x" * size)
    assert [read_named_file(str(pipe), 2**20) for _ in range(2)] == [b"x" * size] * 2
    writer.join()


def test_a_pipe_to_which_nobody_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(named_file, "_PATIENCE", 1)
    os.mkfifo(tmp_path / "pipe")
    assert _reason(tmp_path / "pipe") == "no program writes to this pipe"


def test_a_pipe_whose_writer_is_slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is waited for as long as it is there."""
    monkeypatch.setattr(named_file, "_PATIENCE", 1)
    os.mkfifo(tmp_path / "pipe")
    # Opened for reading as well, the end of a writer waits for no reader.
    writer = os.open(tmp_path / "pipe", os.O_RDWR)
    block = os.set_blocking

    def write_at_last(pipe: int, blocking: bool) -> None:  # noqa: FBT001 (as in the standard library)
        block(pipe, blocking)
        os.write(writer, b"x")
        os.close(writer)

    monkeypatch.setattr(os, "set_blocking", write_at_last)
    assert read_named_file(str(tmp_path / "pipe"), 100) == b"x"
