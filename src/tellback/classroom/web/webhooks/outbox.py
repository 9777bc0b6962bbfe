"""Delivery of events to webhooks: at least once, in order, and signed."""

from __future__ import annotations

import asyncio
import random
import secrets
import ssl
import time
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache

import httpx

from tellback import __version__
from tellback.classroom.background_thread import BackgroundThread
from tellback.classroom.signing import EVENT, SIGNATURE, signed
from tellback.classroom.store.database import Database, DatabaseFailure
from tellback.classroom.store.leases import take_lease
from tellback.classroom.store.webhooks import (
    Delivery,
    delivery_body,
    mark_attempt,
    next_delivery,
    webhooks_due,
)
from tellback.classroom.web.webhooks.addresses import resolved
from tellback.errors import TellbackError

LEASE = "outbox"
LEASE_SECONDS = 30.0
LOOK_SECONDS = 0.25
TIMEOUT_SECONDS = 5.0
TURN_SECONDS = 30.0
"""How long one webhook may be delivered to, before others have its place."""

PLACES = 16
"""Webhooks that are delivered to at once: a slow one holds up those that wait for its place."""

LONGEST_WAIT = 3600.0
GIVE_UP_AFTER = 24 * 3600.0
APART = random.SystemRandom()
"""Keeps repeated attempts apart. The global generator may be seeded by other code."""


class Outbox:
    """Posts the deliveries that are due, in a thread, while this process holds the lease.

    With ``private``, webhooks may lead to addresses that are not public.
    """

    def __init__(self, database: Database, private: bool) -> None:
        self.holder = secrets.token_hex(8)
        self._database = database
        self._private = private
        self.thread = BackgroundThread("deliveries", self.look, LOOK_SECONDS, (DatabaseFailure,))
        self._places = ThreadPoolExecutor(PLACES, "delivery")
        self._busy: dict[str, Future[int]] = {}  # by the webhook

    def turn(self) -> int:
        """Try all deliveries that are due now; the number of attempts."""
        self.look()
        begun, self._busy = self._busy, {}
        return sum(one.result() for one in begun.values())

    def stop(self) -> None:
        """Stop, after the deliveries that were begun."""
        self.thread.stop()
        self._places.shutdown(cancel_futures=True)

    def look(self) -> None:
        """Begin with the webhooks that have something due, unless they are being delivered to."""
        with self._database.read() as connection:
            due = webhooks_due(connection, time.time())
        failed = [one.exception() for one in self._busy.values() if one.done()]
        self._busy = {webhook: one for webhook, one in self._busy.items() if not one.done()}
        for webhook in due:
            if webhook not in self._busy:
                self._busy[webhook] = self._places.submit(self._send_some, webhook)
        for error in failed:
            if error is not None:
                raise error  # the thread logs it, and looks again

    def _send_some(self, webhook: str) -> int:
        tried = 0
        end = time.monotonic() + TURN_SECONDS
        while time.monotonic() < end and not self.thread.stopping:
            with self._database.read() as connection:
                delivery = next_delivery(connection, webhook, time.time())
            if delivery is None or not self._hold():
                break
            tried += 1
            trouble = self._send(delivery)
            again = None if trouble is None else _again(delivery, time.time())
            with self._database.write() as connection:
                mark_attempt(connection, delivery, trouble, again)
        return tried

    def _hold(self) -> bool:
        with self._database.write() as connection:
            return take_lease(connection, LEASE, self.holder, LEASE_SECONDS)

    def _send(self, delivery: Delivery) -> str | None:
        """Try once; the error, if there is one."""
        body = delivery_body(delivery)
        webhook = delivery.webhook
        try:
            url, host = resolved(webhook.url, self._private)
            headers = {
                "Host": httpx.URL(webhook.url).netloc.decode("ascii"),
                "Content-Type": "application/json",
                "User-Agent": f"tellback/{__version__}",
                EVENT: f"{webhook.lesson}/{delivery.event.seq}",
                SIGNATURE: signed(webhook.secret, body, int(time.time())),
            }
            status = asyncio.run(_posted(url, host, body, headers))
        except TimeoutError:
            return f"It did not answer within {TIMEOUT_SECONDS:g} seconds."
        except (httpx.InvalidURL, TellbackError, UnicodeError) as error:
            return str(error)
        except Exception as error:  # whatever it is: else it would be tried again at once, for ever
            return f"{type(error).__name__}: {error}"
        return None if 200 <= status < 300 else f"It answered {status}."


async def _posted(url: str, host: str, body: bytes, headers: dict[str, str]) -> int:
    """Post a body; the status of the answer, which must arrive in time."""
    client = httpx.AsyncClient(verify=_certificates(), timeout=None, trust_env=False)
    async with (
        asyncio.timeout(TIMEOUT_SECONDS),
        client,
        client.stream(
            "POST",
            url,
            content=body,
            headers=headers,
            extensions={"sni_hostname": host},
            follow_redirects=False,
        ) as answer,
    ):
        return answer.status_code


def _again(delivery: Delivery, now: float) -> float | None:
    """When to try again: exponential backoff with jitter. None to give up."""
    if now - delivery.event.at > GIVE_UP_AFTER:
        return None
    wait = min(2.0 ** min(delivery.tries, 30), LONGEST_WAIT)
    return now + wait * APART.uniform(0.5, 1.0)


@cache
def _certificates() -> ssl.SSLContext:
    return httpx.create_ssl_context(trust_env=False)
