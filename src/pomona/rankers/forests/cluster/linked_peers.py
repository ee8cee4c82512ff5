"""Peers on other machines, linked by the standard library's connections (`multiprocessing.connection`).

Sums are made as MPI libraries make them: small ones by *recursive doubling* (everybody swaps all with the
peer at distance 1, 2, 4 …), large ones by *halving and doubling* (Rabenseifner 2004: halves are swapped until
everybody has the sum of one piece, then pieces until everybody has all), which sends less than twice the
array, whatever the number of peers. Peers beyond a power of two hand their numbers to another first.

A process that dies closes its links, and whoever loses a link closes its own: all peers learn of it at once.
A machine that falls silent is given up after some 25 seconds. Links are opened with a secret key; what
travels (sums, and once a sample of documents) is not encrypted.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pomona.errors import PomonaError
from pomona.trees.peers import Peers

Address = tuple[str, int]
T = TypeVar("T")

_SMALL = 1 << 12  # numbers that are quicker sent twice than in halves; they fit the buffers of a connection
_AT_ONCE = 1 << 15  # numbers that are swapped before the next: 1 MB at once took 8 times four quarters of it
_LINK_SECONDS = 600.0  # a worker may be busy with something else; the client ends it if one is lost
_SILENCE = {"TCP_KEEPIDLE": 10, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 25_000}


class PeerLostError(PomonaError):
    """A worker of a training is gone."""


class LinkedPeers(Peers):
    """The peers of one training, seen from one of them.

    Made first everywhere, which tells the `address` of each; then `connect` gets the addresses of all.

    Attributes
    ----------
    n_sums, bytes_sent, seconds : what was exchanged so far.
    """

    def __init__(self, rank: int, host: str, key: bytes) -> None:
        self.rank, self.size = rank, 1
        self.n_sums, self.bytes_sent, self.seconds = 0, 0, 0.0
        self._key, self._addresses = key, [("", 0)]
        self._links: dict[int, Connection] = {}
        self._news = threading.Condition()
        self._is_over = False
        self._sender = ThreadPoolExecutor(1, thread_name_prefix="pomona-send")
        self._listener = Listener((host, 0), backlog=128, authkey=key)
        self.address: Address = (host, self._listener.address[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def connect(self, addresses: Sequence[Address]) -> None:
        """Know the addresses of all peers, by rank; links are made when they are needed."""
        self._addresses, self.size = list(addresses), len(addresses)

    def add(self, sums: NDArray[np.int64]) -> None:
        if self.size == 1:
            return
        started = time.perf_counter()
        try:
            self._add(sums.reshape(-1))
        except (OSError, EOFError, AuthenticationError) as error:
            self.close()
            raise PeerLostError(f"a worker was lost ({type(error).__name__}: {error})") from None
        self.n_sums += 1
        self.seconds += time.perf_counter() - started

    def close(self) -> None:
        """Let go of all links, which the others learn of; may be called by any thread, and twice."""
        with self._news:
            self._is_over = True
            links, self._links = list(self._links.values()), {}
            self._news.notify_all()
        with contextlib.suppress(OSError):
            socket.create_connection(self.address, 1).close()  # wakes the thread that accepts
        for link in links:
            # Also wakes a thread that waits for this link, which closing would not.
            with contextlib.suppress(OSError):
                _on_socket(link.fileno(), lambda s: s.shutdown(socket.SHUT_RDWR))
        self._sender.shutdown(wait=False)

    def _accept(self) -> None:
        """In a thread of its own: take in the links of peers with a higher rank."""
        while not self._is_over:
            try:
                link = self._listener.accept()
                self._keep(int(link.recv_bytes(20)), link)
            except (OSError, EOFError, AuthenticationError, ValueError):
                continue  # a stranger, or the end
        self._listener.close()

    def _keep(self, peer: int, link: Connection) -> None:
        _on_socket(link.fileno(), _notice_silence)
        with self._news:
            self._links[peer] = link
            self._news.notify_all()

    def _link(self, peer: int) -> Connection:
        """The link to a peer: the higher rank makes it, the other waits for it."""
        if peer < self.rank and peer not in self._links:
            link = Client(self._addresses[peer], authkey=self._key)
            link.send_bytes(str(self.rank).encode())
            self._keep(peer, link)
        with self._news:
            self._news.wait_for(lambda: self._is_over or peer in self._links, _LINK_SECONDS)
            if self._is_over or peer not in self._links:
                raise OSError(f"no link to worker {peer}")
            return self._links[peer]

    def _send(self, peer: int, values: NDArray[np.int64]) -> None:
        # The number of the sum goes with it: peers that are not at the same sum must not go on.
        message = np.append(values, self.n_sums)
        self.bytes_sent += message.nbytes
        self._link(peer).send_bytes(message.data.cast("B"))

    def _receive(self, peer: int) -> NDArray[np.int64]:
        message = np.frombuffer(self._link(peer).recv_bytes(), np.int64)
        if message[-1] != self.n_sums:
            raise OSError(f"worker {peer} is at sum {message[-1]} instead of {self.n_sums}")
        return message[:-1]

    def _swap(self, peer: int, values: NDArray[np.int64], length: int) -> NDArray[np.int64]:
        """Send numbers to a peer, and receive so many of its own."""
        longer = max(len(values), length)
        if longer <= _SMALL:
            self._send(peer, values)
            return self._receive(peer)
        self._link(peer)  # made once, not by two threads
        received = np.empty(length, np.int64)
        for begin in range(0, longer, _AT_ONCE):
            some = slice(begin, begin + _AT_ONCE)
            # Both send at once: what does not fit the buffers must not keep anybody from receiving.
            sending = self._sender.submit(self._send, peer, values[some])
            try:
                received[some] = self._receive(peer)
            finally:
                sending.result()
        return received

    def _add(self, sums: NDArray[np.int64]) -> None:
        n_whole = 1 << (self.size.bit_length() - 1)  # the largest power of two
        if self.rank >= n_whole:
            self._send(self.rank - n_whole, sums)
            sums[:] = self._receive(self.rank - n_whole)
            return
        extra = self.rank + n_whole
        if extra < self.size:
            sums += self._receive(extra)
        if len(sums) <= _SMALL or n_whole == 2:
            distance = 1
            while distance < n_whole:
                sums += self._swap(self.rank ^ distance, sums, len(sums))
                distance *= 2
        elif n_whole > 1:
            self._halve_and_double(sums, n_whole // 2)
        if extra < self.size:
            self._send(extra, sums)

    def _halve_and_double(self, sums: NDArray[np.int64], distance: int) -> None:
        middle, peer = len(sums) // 2, self.rank ^ distance
        lower, upper = sums[:middle], sums[middle:]
        mine, theirs = (upper, lower) if self.rank & distance else (lower, upper)
        mine += self._swap(peer, theirs, len(mine))
        if distance > 1:
            self._halve_and_double(mine, distance // 2)
        theirs[:] = self._swap(peer, mine, len(theirs))


def _on_socket(descriptor: int, act: Callable[[socket.socket], T]) -> T:
    """Do something with the socket behind a connection, which stays open."""
    with socket.socket(fileno=os.dup(descriptor)) as twin:
        return act(twin)


def _notice_silence(link: socket.socket) -> None:
    """Send without delay, and give a machine up that no longer answers."""
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    link.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _SILENCE.items():
        if hasattr(socket, name):
            link.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
