"""What the programs for the frameworks share: the weights to find, the time that it takes, and their words."""
import os
import socket
import sys
import time

TRUE = [2.0, -3.4]
BIAS = 4.2
NOISE = 0.01
ROWS = 2000
BATCH = 50
OFF = 0.05  # what noise may do to a fitted weight

LOST = 137  # the status of one who has lost another one: as if killed with it
START = 60  # seconds for all replicas to come

STEPS = int(os.environ.get("TRAIN_STEPS", "100"))
SECONDS = float(os.environ.get("TRAIN_SECONDS", "4"))


def say(text):
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def known(host):
    """Waits until the name is known: it comes with its replica, and frameworks ask once."""
    end = time.monotonic() + START
    while True:
        try:
            return socket.getaddrinfo(host, None)[0][4][0]
        except OSError as error:
            if time.monotonic() > end:
                say(f"{host} is not known after {START} s: {error}")
                sys.exit(LOST)
            time.sleep(0.1)


class Progress:
    """Says ten times how far it is. So small a model would be done at once: it also takes its time."""

    def __init__(self, rows, pace=1):
        self.rows, self.pace, self.said = rows, pace, None
        self.next = time.monotonic()

    def step(self, step, loss):
        tenth = step * 10 // STEPS
        if tenth != self.said:
            self.said = tenth
            say(f"step {step} of {STEPS}: loss {loss():.4f} on {self.rows} of {ROWS} rows")
        self.next += SECONDS * self.pace / STEPS
        time.sleep(max(0.0, self.next - time.monotonic()))


def verdict(fitted, apart=0.0):
    """The exit status: are the weights the true ones, and those of all replicas the same?"""
    off = max(abs(a - b) for a, b in zip(fitted, TRUE + [BIAS]))
    say("fitted " + " ".join(f"{w:.3f}" for w in fitted) + f", off by at most {off:.4f}, {apart:.4f} apart")
    return 1 if off > OFF or apart > 0 else 0
