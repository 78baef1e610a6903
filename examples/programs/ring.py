#!/usr/bin/env python3
"""Data-parallel training with an all-reduce ring, in the standard library alone.

The environment is that of AITrainingJob: TRAININGJOB_REPLICA_NAME and _INDEX say who this is, <ROLE>_HOSTS where
all replicas of the role are. Each replica has a gradient of its own; around the ring, in 2 (n - 1) small sends to the
next one, all come to the mean of all. The result of each round is compared with the mean computed directly.

    ring.py [--steps N] [--seconds S]     or by TRAIN_STEPS and TRAIN_SECONDS

Exit status: 0 well, 1 the result is wrong, 2 bad environment, 137 another replica was lost.
"""
import argparse
import os
import random
import time

import wire
from wire import LOST, STILL, USAGE, WRONG, Lost, connect, gather, listen, say, stop

SIZE = 12  # numbers in the model
RATE = 0.1
OFF = 1e-9  # what adding in another order may do


def target(rank):
    """Where a replica's own data pulls the model to."""
    rng = random.Random(rank)
    return [rng.uniform(-10, 10) for _ in range(SIZE)]


class Ring:
    """Rank r listens for r - 1 and sends to r + 1."""

    def __init__(self, rank, places):
        self.rank, self.size = rank, len(places)
        self.next = self.previous = None
        if self.size == 1:
            return
        door = listen(places[rank][1])
        self.next = connect(*places[(rank + 1) % self.size], f"rank {(rank + 1) % self.size}")
        self.next.send(rank=rank)
        before = (rank - 1) % self.size

        def fits(peer, hello):
            peer.who = f"rank {before}"
            return hello.get("rank") == before

        self.previous = gather(door, 1, fits, [self.next])[0]

    def step(self, data, out, into, add):
        """Sends one piece of the data on, and takes one in."""
        first, behind = self.cut(out)
        self.next.send(piece=out % self.size, data=data[first:behind])
        message = self.previous.ask()
        first, behind = self.cut(into)
        if message.get("piece") != into % self.size or len(message["data"]) != behind - first:
            stop(WRONG, f"{self.previous.who} sent another piece than {into % self.size}")
        for i, value in enumerate(message["data"]):
            data[first + i] = data[first + i] + value if add else value

    def cut(self, piece):
        piece %= self.size
        return SIZE * piece // self.size, SIZE * (piece + 1) // self.size

    def mean(self, data):
        """The mean of everybody's data, in place."""
        # Each piece goes once around and grows; then rank r has all of piece r + 1, which goes around as it is.
        for i in range(self.size - 1):
            self.step(data, self.rank - i, self.rank - i - 1, True)
        for i in range(self.size - 1):
            self.step(data, self.rank - i + 1, self.rank - i, False)
        for i in range(SIZE):
            data[i] /= self.size


def distance(a, b):
    return max(abs(x - y) for x, y in zip(a, b))


def train(ring, steps, seconds):
    model = [0.0] * SIZE
    mine = target(ring.rank)
    mean = [sum(column) / ring.size for column in zip(*(target(r) for r in range(ring.size)))]
    start = time.monotonic()
    for step in range(1, steps + 1):
        slope = [w - t for w, t in zip(model, mine)]
        ring.mean(slope)
        off = distance(slope, [w - t for w, t in zip(model, mean)])
        if off > OFF:
            stop(WRONG, f"step {step}: the ring's mean is off by {off}")
        model = [w - RATE * s for w, s in zip(model, slope)]
        if step == 1 or step % max(1, steps // 10) == 0:
            say(f"step {step} of {steps}: loss {distance(model, mean):.4f}")
        time.sleep(max(0.0, start + seconds * step / steps - time.monotonic()))
    return distance(model, mean)


def main():
    parser = argparse.ArgumentParser(description="an all-reduce ring")
    parser.add_argument("--steps", type=int, default=os.environ.get("TRAIN_STEPS", "100"))
    parser.add_argument("--seconds", type=float, default=os.environ.get("TRAIN_SECONDS", "2"))
    args = parser.parse_args()
    env = os.environ
    try:
        role, rank = env["TRAININGJOB_REPLICA_NAME"], int(env["TRAININGJOB_REPLICA_INDEX"])
        hosts = env[role.upper().replace("-", "_") + "_HOSTS"].split(",")
        places = [(host, int(port)) for host, port in (place.rsplit(":", 1) for place in hosts)]
        wire.name = f"{role} {rank}"
        if not 0 <= rank < len(places) or args.steps < 1 or args.seconds / args.steps > STILL / 2:
            stop(USAGE, f"no such rank, or steps of more than {STILL / 2:.0f} s: {rank} of {len(places)}, {args}")
    except (KeyError, ValueError) as error:
        stop(USAGE, f"this is for AITrainingJob with one port, which sets TRAININGJOB_…: {error!r}")
    say(f"one of {len(places)}, after {env.get('TRAININGJOB_REPLICA_RESTARTCOUNT', 0)} restart(s)")
    try:
        loss = train(Ring(rank, places), args.steps, args.seconds)
    except Lost as lost:
        stop(LOST, str(lost))
    if loss > 0.01:
        stop(WRONG, f"the model is off by {loss:.4f}")
    say("all ranks agree")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
