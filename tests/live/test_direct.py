"""Direct connections carry bytes between members of a run, and nobody else's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import zmq
from zmq.utils.monitor import recv_monitor_message

from actors.direct import DirectCarrier, RunKeys, make_keys

PATIENCE_SECONDS = 30.0
LOOPBACK = "127.0.0.1"


@pytest.fixture
def keys() -> RunKeys:
    return make_keys()


@pytest.fixture
def listener(keys: RunKeys) -> Iterator[DirectCarrier]:
    carrier = DirectCarrier(LOOPBACK, keys)
    yield carrier
    carrier.close()


def received(carrier: DirectCarrier) -> list[bytes]:
    carrier.wait(PATIENCE_SECONDS)
    return list(carrier.take())


def test_envelopes_to_one_actor_arrive_as_one_batch(listener, keys):
    friend = DirectCarrier(LOOPBACK, keys)
    friend.connect({0: listener.endpoint})

    friend.send(0, [b"one", b"two"])

    assert received(listener) == [b"onetwo"]
    friend.close()


def test_a_member_listens_on_the_address_it_is_given_and_no_other(listener):
    assert listener.endpoint.startswith("tcp://127.0.0.1:")


@pytest.mark.parametrize(
    "stranger", ["nothing", "own keys", "server key only", "stolen public key"]
)
def test_a_stranger_without_the_runs_keys_cannot_inject(listener, keys, stranger):
    """The handshake must fail, and what a member sends afterwards is all that arrives."""
    own_public, own_secret = zmq.curve_keypair()
    with zmq.Context() as context, context.socket(zmq.PUSH) as socket:
        socket.linger = 0
        if stranger == "own keys":
            server, _ = zmq.curve_keypair()
            set_curve(socket, server, own_public, own_secret)
        elif stranger == "server's key":
            set_curve(socket, keys.server_public, own_public, own_secret)
        elif stranger == "public keys":
            set_curve(socket, keys.server_public, keys.client_public, own_secret)
        events = zmq.EVENT_HANDSHAKE_FAILED_AUTH | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL
        events |= zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL | zmq.EVENT_DISCONNECTED
        monitor = socket.get_monitor_socket(events | zmq.EVENT_HANDSHAKE_SUCCEEDED)
        socket.connect(listener.endpoint)
        socket.send(b"forged", zmq.NOBLOCK)
        assert monitor.poll(PATIENCE_SECONDS * 1000)
        assert recv_monitor_message(monitor)["event"] != zmq.EVENT_HANDSHAKE_SUCCEEDED
        socket.disable_monitor()
        monitor.close()

    friend = DirectCarrier(LOOPBACK, keys)
    friend.connect({0: listener.endpoint})
    friend.send(0, [b"true"])
    assert received(listener) == [b"true"]
    friend.close()


def set_curve(socket: zmq.Socket[bytes], server: bytes, public: bytes, secret: bytes) -> None:
    socket.curve_serverkey = server
    socket.curve_publickey = public
    socket.curve_secretkey = secret
