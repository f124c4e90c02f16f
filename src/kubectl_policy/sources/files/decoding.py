"""Decode the bytes of a file: UTF-8, UTF-16 with a byte order mark, and gzip."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, Final

from kubectl_policy.text import DocumentError

if TYPE_CHECKING:
    from collections.abc import Iterator

# A file named by mistake (an image, a dump) should not fill the memory, which takes a file twice: as bytes and as text.
MAX_FILE_SIZE: Final = 2**28
# The beginning of the header of a snapshot file, before its version.
SNAPSHOT_FORMAT: Final = "snapshot.policy.kubectl/"
# Size of the pieces in which gzip is unpacked.
PIECE: Final = 2**20
# To zlib: gzip, with the largest window.
GZIP: Final = 31

# `git lfs` leaves this in the place of a file; read as YAML, it would be a document that is no Kubernetes object.
_LFS_POINTER: Final = b"version https://git-lfs.github.com/spec/"
_UTF_16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_PACKED: Final = b"\x1f\x8b"
_CONTROLS: Final = bytes((*range(9), *range(14, 32), 127))


class PackedError(DocumentError):
    """A file compressed by gzip, as snapshots are."""

    def __init__(self, data: bytes) -> None:
        """Keep the data, for the reader of snapshots."""
        message = (
            "a compressed file: unpack it, or leave it out; snapshots are read where they are named, "
            "and so are archives (.tar.gz, .tgz)"
        )
        super().__init__("not-text", 1, message)
        self.data = data

    @property
    def is_snapshot(self) -> bool:
        """Whether the data begin as a snapshot does, of any version."""
        beginning = f'{{"apiVersion":"{SNAPSHOT_FORMAT}'.encode()
        try:
            return next(unpack_gzip(self.data), b"").startswith(beginning)
        except DocumentError:
            return False


def decode_text(data: bytes) -> str:
    """Decode the text of a file, of which at most `MAX_FILE_SIZE` and one bytes were read.

    Raises DocumentError (too-large, not-text, unreadable; a PackedError for gzip).
    """
    if len(data) > MAX_FILE_SIZE:
        raise DocumentError("too-large", 1, f"a file of more than {MAX_FILE_SIZE >> 20} MiB: split it")
    if data.startswith(_LFS_POINTER):
        raise DocumentError("unreadable", 1, "a pointer to a file in Git LFS: `git lfs pull`, and name a folder")
    # Nearly all files are plain ASCII at their beginning, and that is decoded faster without a look for a mark.
    encoding = "utf-8" if data[:1] <= b"\x7f" else "utf-16" if data.startswith(_UTF_16) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        if data.startswith(_PACKED):
            raise PackedError(data) from None
        line = data.count(b"\n", 0, error.start) + 1
        # Text in another encoding has the same letters; an encrypted or packed file has any bytes.
        letters = data.decode("latin-1") if data.translate(None, _CONTROLS) == data else ""
        raise DocumentError("not-text", line, "not UTF-8 text: save it as UTF-8, or leave it out", letters) from None
    if "\0" in text:
        raise DocumentError("not-text", text.count("\n", 0, text.index("\0")) + 1, "a binary file: leave it out")
    return text


def unpack_gzip(data: bytes) -> Iterator[bytes]:
    """Unpack gzip in pieces of `PIECE` bytes, of which the last may be smaller.

    Raises DocumentError where the data are damaged, cut off or followed by more.
    """
    import zlib  # noqa: PLC0415 (few inputs are compressed)

    unpacker = zlib.decompressobj(wbits=GZIP)
    while not unpacker.eof:
        try:
            piece = unpacker.decompress(data, PIECE)
        except zlib.error:
            raise DocumentError("unreadable", 1, "the file is damaged: get it again") from None
        if not (piece or data or unpacker.eof):
            raise DocumentError("unreadable", 1, "the end of the file is missing: copy it again")
        data = unpacker.unconsumed_tail
        yield piece
    if unpacker.unused_data:
        raise DocumentError("unreadable", 1, "something else follows the end of the compressed data in the file")
