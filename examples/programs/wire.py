"""What the example programs share: lines of JSON between replicas, with a limit on every wait.

A replica that loses another one ends with the status of a killed program: the policy that starts a killed
replica again covers this one, too.
"""
import json
import select
import signal
import socket
import sys
import time

WRONG = 1  # the result is not what it must be: another try would not help
USAGE = 2  # the environment or the arguments make no sense
LOST = 137  # as if killed together with the one that was lost

START = 60  # seconds for all replicas to come
STILL = 30  # seconds without a word in the middle of the work
LONGEST = 1 << 20  # bytes in a line

# Where pods may have no namespaces the names never come, and the remedy stood above what four replicas have said since.
NAMELESS = "; its name is not known. If that stays so under dljob: what gives replicas their names is in its first lines"

name = "example"

# The first process of a container is not ended by a signal that it does not ask for.
signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))


class Lost(Exception):
    """Somebody is gone, or silent for too long."""


def say(text):
    # One write: lines of several replicas may share a terminal.
    sys.stdout.write(f"{name}: {text}\n")
    sys.stdout.flush()


def stop(code, text):
    say(text)
    # Whoever died first should be the one that the operator sees first; a kubelet looks once a second.
    if code == LOST:
        time.sleep(2)
    sys.exit(code)


class Peer:
    """A connection to another replica: one JSON document in a line."""

    def __init__(self, sock, who):
        self.sock, self.who, self.rest, self.queue = sock, who, b"", []
        sock.settimeout(STILL)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def fileno(self):
        return self.sock.fileno()

    def address(self):
        """Ours, as the other side can reach it."""
        return self.sock.getsockname()[0]

    def close(self):
        self.sock.close()

    def send(self, **message):
        try:
            self.sock.sendall(json.dumps(message).encode() + b"\n")
        except OSError as error:
            raise Lost(f"lost {self.who}: {error}") from None

    def fill(self):
        """Reads once: the messages that are complete by then go into the queue."""
        try:
            data = self.sock.recv(1 << 16)
        except socket.timeout:
            raise Lost(f"no word from {self.who} for {self.sock.gettimeout():.0f} s") from None
        except OSError as error:
            raise Lost(f"lost {self.who}: {error}") from None
        if not data:
            raise Lost(f"lost {self.who}: connection closed")
        *lines, self.rest = (self.rest + data).split(b"\n")
        if len(self.rest) > LONGEST:
            raise Lost(f"{self.who} sends lines without end")
        try:
            self.queue += [dict(json.loads(line)) for line in lines]
        except (ValueError, TypeError):
            raise Lost(f"{self.who} speaks another language") from None

    def take(self):
        """All messages that are there; after `ready` this does not wait."""
        if not self.queue:
            self.fill()
        messages, self.queue = self.queue, []
        return messages

    def ask(self, **message):
        """Sends, if there is something to send, and waits for the next message."""
        if message:
            self.send(**message)
        while not self.queue:
            self.fill()
        return self.queue.pop(0)


def listen(port):
    """A listening socket on every address of this replica."""
    try:
        return socket.create_server(("", port), backlog=128)
    except OSError as error:
        stop(USAGE, f"cannot listen on port {port}: {error}")


def connect(host, port, who):
    """Tries until the other one is there: replicas start in any order, and names come with them."""
    end, said = time.monotonic() + START, False
    while True:
        try:
            return Peer(socket.create_connection((host, port), timeout=5), who)
        except OSError as error:
            if time.monotonic() > end:
                raise Lost(f"no {who} at {host}:{port} after {START} s: {error}") from None
            if not said:
                say(f"waiting for {who} at {host}:{port}{NAMELESS * isinstance(error, socket.gaierror)}")
            said = True
            time.sleep(0.1)


def ready(peers, seconds=STILL):
    """Those who have sent something; seconds None: wait as long as it takes."""
    found = [peer for peer in peers if peer.queue] or select.select(peers, [], [], seconds)[0]
    if not found:
        raise Lost(f"no word from anybody for {seconds:.0f} s")
    return found


def gather(door, count, fits, others=()):
    """Waits for `count` newcomers and returns them. fits(peer, hello) says whether one is awaited; whoever is not,
    or does not introduce himself, is turned away. The loss of one who is here, or of `others`, ends the wait."""
    here, end = [], time.monotonic() + START
    while len(here) < count:
        found = select.select([door, *here, *others], [], [], max(0, end - time.monotonic()))[0]
        if not found:
            raise Lost(f"{count - len(here)} of {count} did not come within {START} s")
        for peer in found:
            if peer is not door:
                peer.fill()
                continue
            newcomer = Peer(door.accept()[0], "a newcomer")
            newcomer.sock.settimeout(5)
            try:
                if fits(newcomer, newcomer.ask()):
                    newcomer.sock.settimeout(STILL)
                    here.append(newcomer)
                    say(f"{newcomer.who} is here")
                    continue
            except Lost:
                pass
            newcomer.close()
    return here
