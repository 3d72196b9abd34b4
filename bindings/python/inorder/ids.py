"""Ids made in Python, without SQLite: ULIDs, UUIDs of version 7, TypeIDs, TSIDs and tokens.

>>> from inorder import typeid, ulid, uuid7
>>> first, second = ulid(), ulid()
>>> first < second
True
>>> uuid7().version
7
>>> typeid("user").startswith("user_")
True

Ids of one kind are in the order in which they were made, over all threads of the process. A clock that stands still or
is set back does not change the order. The child of a fork makes other ids than its parent.
"""

import binascii
import os
import re
import threading
import time
import uuid
from typing import Optional

__all__ = ["token", "tsid", "tsid_text", "typeid", "ulid", "uuid7"]

# Crockford's base 32: the digits of 10 bits, in upper and in lower case.
_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_UPPER = [first + second for first in _DIGITS for second in _DIGITS]
_LOWER = [pair.lower() for pair in _UPPER]
_PREFIX = re.compile("(?:[a-z](?:[a-z_]{0,61}[a-z])?)?")

# 2020-01-01T00:00:00Z in milliseconds since 1970: millisecond 0 of TSIDs.
_TSID_EPOCH_MS = 1_577_836_800_000
# A clock that lags further behind the last TSID was set back.
_TSID_WAIT_MS_MAX = 100

_lock = threading.Lock()
# Milliseconds since 1970 and 16 bits of a counter, of the last ULID and UUID.
_last = 0
# Milliseconds since 2020 and 12 bits of a counter, of the last TSID.
_last_tsid = 0
_node: Optional[int] = None


def _after_fork() -> None:
    """Frees the lock, which another thread of the parent may hold, and forgets the node."""
    global _lock, _node
    _lock = threading.Lock()
    _node = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _count(random: int) -> int:
    """Returns the next count. In each millisecond the counter starts below 2^12, at random."""
    global _last
    now = time.time_ns() // 1_000_000 << 16
    with _lock:
        _last = now | random & 0xFFF if _last < now else _last + 1
        return _last


def _base32(bits: int, pairs: "list[str]") -> str:
    """Returns 26 characters for 128 bits."""
    return "".join([pairs[bits >> shift & 1023] for shift in range(120, -1, -10)])


def _uuid7() -> int:
    random = int.from_bytes(os.urandom(10), "big")
    count = _count(random >> 64)
    # The counter makes room for the version, 7, and for the variant, the two bits 10.
    ms, rand_a, rand_b = count >> 16, count >> 4 & 0xFFF, count & 15
    return ms << 80 | 7 << 76 | rand_a << 64 | 2 << 62 | rand_b << 58 | random & 0x3FF_FFFF_FFFF_FFFF


def ulid() -> str:
    """Returns a new ULID, 26 characters, greater than all before."""
    random = int.from_bytes(os.urandom(10), "big")
    return _base32(_count(random >> 64) << 64 | random & 0xFFFF_FFFF_FFFF_FFFF, _UPPER)


def uuid7() -> uuid.UUID:
    """Returns a new UUID of version 7 (RFC 9562), greater than all before."""
    return uuid.UUID(int=_uuid7())


def typeid(prefix: str) -> str:
    """Returns a new TypeID: a UUID of version 7 with a prefix, such as `user_01h455vb4pex5vsknk084sn02q`.

    Raises `ValueError` if the prefix is not up to 63 characters a to z and _, neither first nor last.
    """
    if _PREFIX.fullmatch(prefix) is None:
        raise ValueError(f"the prefix of a TypeID has up to 63 characters a to z and _, neither first nor last: {prefix!r}")
    return prefix + "_" * bool(prefix) + _base32(_uuid7(), _LOWER)


def tsid(node: Optional[int] = None) -> int:
    """Returns a new TSID, an integer of 63 bits, greater than all before of this node.

    `node` is the number of this process, 0 to 1023. Without it, the process draws one at random. A millisecond has 2,048
    to 4,096 ids; after them the function waits.

    Raises `ValueError` if the clock is before 2020 at the first TSID, or after September 2089.
    """
    global _last_tsid, _node
    if node is not None and not 0 <= node < 1024:
        raise ValueError(f"the node of a TSID is 0 to 1023, not {node}")
    while True:
        now = time.time_ns() // 1_000_000 - _TSID_EPOCH_MS
        random = int.from_bytes(os.urandom(4), "big")
        with _lock:
            if now < 0 and _last_tsid == 0 or now >= 1 << 41:
                raise ValueError(f"a TSID has a time from 2020 until September 2089, and the clock is at {time.ctime()}")
            if _node is None:
                _node = random >> 22
            count = now << 12 | random & 0x7FF if _last_tsid >> 12 < now else _last_tsid + 1
            ahead = (count >> 12) - now
            if not 0 < ahead <= _TSID_WAIT_MS_MAX:
                _last_tsid = count
                return count >> 12 << 22 | (_node if node is None else node) << 12 | count & 0xFFF
        time.sleep(0.0002)


def tsid_text(tsid: int) -> str:
    """Returns the 13 characters of a TSID.

    Raises `ValueError` for a negative integer or one of more than 63 bits.
    """
    if not 0 <= tsid < 1 << 63:
        raise ValueError(f"a TSID is 0 to 9223372036854775807, not {tsid}")
    return "".join([_DIGITS[tsid >> shift & 31] for shift in range(60, -1, -5)])


def token(size: int = 20) -> str:
    """Returns `size` random bytes as hex digits. `size` is 1 to 1024."""
    if not 1 <= size <= 1024:
        raise ValueError(f"a token has 1 to 1024 bytes, not {size}")
    return binascii.hexlify(os.urandom(size)).decode()
