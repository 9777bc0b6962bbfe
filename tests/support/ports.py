"""A port for a service that tests start in another process."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def held_port() -> Iterator[int]:
    """A port of this machine that nobody else is given meanwhile.

    It is bound here and never listened on. With SO_REUSEADDR, which servers set, a server can
    still listen on it, as often as it is started; but the system gives it to no one who asks for
    any free port, and to no connection.
    """
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        port: int = held.getsockname()[1]
        yield port
