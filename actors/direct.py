"""Transport `direct`: ZeroMQ sockets between the actors, encrypted and authenticated by CURVE.

Each actor binds one PULL socket and connects one PUSH socket to each peer. Keys are made for one
run and handed out through Ray. A stranger lacks the server's public key to begin a handshake, and
the client key that the allow list asks for. Knows bytes only, neither envelopes nor nodes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import msgspec
import zmq
from zmq.auth.thread import ThreadAuthenticator

BATCHES_PER_TAKE = 256
"""So many at most before the loop looks at what is due."""
_MILLISECOND = 1e-3


class RunKeys(msgspec.Struct, frozen=True):
    """The secrets of one run: who has them is a member, nobody else."""

    server_public: bytes
    server_secret: bytes
    client_public: bytes
    client_secret: bytes


def has_curve() -> bool:
    """Whether this ZeroMQ can encrypt."""
    return bool(zmq.has("curve"))


def make_keys() -> RunKeys:
    return RunKeys(*zmq.curve_keypair(), *zmq.curve_keypair())


class _Members:
    """The allow list that the authenticator asks about each client's public key."""

    def __init__(self, keys: RunKeys) -> None:
        self._key = keys.client_public

    def callback(self, domain: str, key: bytes) -> bool:
        return key == self._key


class DirectCarrier:
    """One actor's sockets."""

    def __init__(self, address: str, keys: RunKeys) -> None:
        self._keys = keys
        self._ipv6 = ":" in address
        self._context = zmq.Context()
        self._context.set(zmq.MAX_SOCKETS, 16_384)
        self._authenticator = ThreadAuthenticator(self._context)
        self._authenticator.start()
        self._authenticator.configure_curve_callback(credentials_provider=_Members(keys))
        self._inlet = self._socket(zmq.PULL)
        self._inlet.curve_server = True
        self._inlet.curve_secretkey = keys.server_secret
        self._inlet.curve_publickey = keys.server_public
        self._inlet.bind(f"tcp://{_bracketed(address)}:*")
        self.endpoint = bytes(self._inlet.getsockopt(zmq.LAST_ENDPOINT)).rstrip(b"\0").decode()
        self._poller = zmq.Poller()
        self._poller.register(self._inlet, zmq.POLLIN)
        self._outlets: dict[int, zmq.Socket[bytes]] = {}

    def connect(self, endpoints: dict[int, str]) -> None:
        """One socket to each peer, by actor."""
        for actor, endpoint in endpoints.items():
            outlet = self._socket(zmq.PUSH)
            outlet.curve_serverkey = self._keys.server_public
            outlet.curve_publickey = self._keys.client_public
            outlet.curve_secretkey = self._keys.client_secret
            outlet.connect(endpoint)
            self._outlets[actor] = outlet

    def send(self, actor: int, envelopes: list[bytes]) -> None:
        self._outlets[actor].send(b"".join(envelopes), zmq.NOBLOCK)

    def take(self) -> Iterator[bytes]:
        receive = self._inlet.recv
        try:
            for _ in range(BATCHES_PER_TAKE):
                yield receive(zmq.NOBLOCK)
        except zmq.Again:
            return

    def wait(self, seconds: float) -> None:
        if seconds < _MILLISECOND:  # ZeroMQ waits in whole milliseconds
            time.sleep(max(seconds, 0.0))
        else:
            self._poller.poll(int(seconds * 1000))

    def close(self) -> None:
        for outlet in self._outlets.values():
            outlet.close()
        self._inlet.close()
        self._authenticator.stop()
        self._context.term()

    def _socket(self, kind: int) -> zmq.Socket[bytes]:
        socket = self._context.socket(kind)
        socket.linger = 0
        socket.set_hwm(0)  # open loop: a slow peer must not stop its senders' clocks
        socket.ipv6 = self._ipv6
        return socket


def _bracketed(address: str) -> str:
    return f"[{address}]" if ":" in address else address
