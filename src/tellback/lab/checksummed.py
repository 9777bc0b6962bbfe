"""Parquet files that tell by themselves whether they are whole, and whose they are.

Parquet readers find the footer from the end of a file, and the data by their distance from its
beginning. Between the two is room for a digest, which they do not see. It is checked before
any of them is given the file: a damaged one can make them fail in ways that end the process.
"""

from __future__ import annotations

import hashlib

DIGEST_BYTES = 32
_TAIL = 8  # the length of the footer, and the letters PAR1


def with_checksum(parquet: bytes, owner: str) -> bytes:
    """The file with a digest of its content and of its owner."""
    split = _footer_start(parquet)
    body, footer = parquet[:split], parquet[split:]
    return body + _digest(body, footer, owner) + footer


def checksum_matches(file: bytes, owner: str) -> bool:
    """Whether the file is unchanged and belongs to this owner."""
    start = _footer_start(file)
    if start < DIGEST_BYTES:
        return False
    body, footer = file[: start - DIGEST_BYTES], file[start:]
    return file[start - DIGEST_BYTES : start] == _digest(body, footer, owner)


def _footer_start(file: bytes) -> int:
    return len(file) - _TAIL - int.from_bytes(file[-_TAIL:-4], "little")


def _digest(body: bytes, footer: bytes, owner: str) -> bytes:
    return hashlib.sha256(owner.encode() + body + footer).digest()
