#!/usr/bin/env python3
"""Linear regression with a parameter server, in the standard library alone.

The environment is that of MXNet's jobs: DMLC_ROLE, DMLC_PS_ROOT_URI, DMLC_PS_ROOT_PORT, DMLC_NUM_SERVER and
DMLC_NUM_WORKER. The scheduler brings all together; each server keeps a slice of the weights; each worker has its
own part of the rows, sends the gradient of its part and gets the new weights when all workers have sent theirs.
At the end worker 0 compares the weights with the true ones.

    linear.py [--steps N] [--seconds S]     or by TRAIN_STEPS and TRAIN_SECONDS

Exit status: 0 well, 1 the weights are off, 2 bad environment, 137 another replica was lost.
"""
import argparse
import os
import random
import time
from socket import gethostname

import wire
from wire import LOST, STILL, USAGE, WRONG, Lost, connect, gather, listen, ready, say, stop

TRUE = [2.0, -3.4, 0.7, 1.5, -0.9, 4.2]  # the last one is the bias
ROWS = 1000
NOISE = 0.02
RATE = 0.12
OFF = 0.02  # what noise may do to a fitted weight


def rows(rank, workers):
    """A worker's part of the data: all draw the same rows, each keeps every n-th."""
    rng = random.Random(2017)
    part = []
    for i in range(ROWS):
        x = [rng.uniform(-1, 1) for _ in TRUE[1:]] + [1.0]
        y = sum(a * b for a, b in zip(x, TRUE)) + rng.gauss(0, NOISE)
        if i % workers == rank:
            part.append((x, y))
    return part


def gradient(part, weights):
    """Sum of squared errors over a part of the rows, and its gradient."""
    loss, slope = 0.0, [0.0] * len(weights)
    for x, y in part:
        error = sum(a * b for a, b in zip(x, weights)) - y
        loss += error * error
        for i, a in enumerate(x):
            slope[i] += 2 * error * a
    return loss, slope


def slices(servers):
    """Which weights each server keeps: (first, behind the last)."""
    n = len(TRUE)
    return [(n * i // servers, n * (i + 1) // servers) for i in range(servers)]


# The scheduler


def barrier(everybody, workers):
    """Until all workers have come to the same point, or one has bad news: what it says."""
    waiting = set(workers)
    while waiting:
        for peer in ready(everybody, None):
            for message in peer.take():
                if "wrong" in message:
                    return message["wrong"]
                waiting.discard(peer)
    return None


def scheduler(want, port):
    here = {"server": [], "worker": []}

    def fits(peer, hello):
        role = hello.get("role")
        if role not in want or len(here[role]) == want[role]:
            return False
        peer.host, peer.place = str(hello.get("host")), hello.get("place")
        peer.who = f"{role} on {peer.host}"
        here[role].append(peer)
        return True

    everybody = gather(listen(port), want["server"] + want["worker"], fits)
    say(f"{want['server']} server(s) and {want['worker']} worker(s) are here")
    for role in here:
        # The ranks are those of the replicas, where each has its own host name.
        here[role].sort(key=lambda peer: (len(peer.host), peer.host))
    for role in here:
        for rank, peer in enumerate(here[role]):
            peer.who = f"{role} {rank}"
            peer.send(rank=rank, servers=[server.place for server in here["server"]])
    wrong = None
    for text in ("training begins", "training ends"):
        wrong = wrong or barrier(everybody, here["worker"])
        say(wrong or text)
        for peer in here["worker"]:
            peer.send(go=not wrong)
    # The scheduler's end is the job's: everybody else goes first.
    for peer in everybody:
        try:
            while True:
                peer.take()
        except Lost:
            peer.close()
    return WRONG if wrong else 0


# A server


def server(root, port, want):
    door = listen(0)
    boss = connect(root, port, "the scheduler")
    rank = boss.ask(role="server", host=gethostname(), place=[boss.address(), door.getsockname()[1]])["rank"]
    wire.name = f"server {rank}"
    first, behind = slices(want["server"])[rank]
    weights = [0.0] * (behind - first)

    def fits(peer, hello):
        peer.who = f"worker {hello.get('worker')}"
        return "worker" in hello

    workers = gather(door, want["worker"], fits, [boss])
    say(f"keeps weights {first} to {behind - 1} for {len(workers)} worker(s)")
    steps, code, sent = 0, 0, {}
    while workers:
        for peer in ready([boss, *workers]):
            for message in peer.take():
                if "bye" in message:
                    workers.remove(peer)
                    code = max(code, message["bye"])
                elif "slope" in message:
                    sent[peer] = message
        if workers and len(sent) == want["worker"]:
            count = sum(m["rows"] for m in sent.values())
            for i in range(len(weights)):
                weights[i] -= RATE * sum(m["slope"][i] for m in sent.values()) / count
            for peer in sent:
                peer.send(weights=weights)
            steps, sent = steps + 1, {}
    say(f"{steps} steps done")
    return code


# A worker


def train(part, servers, cuts, steps, seconds):
    weights = [0.0] * len(TRUE)
    start = time.monotonic()
    for step in range(1, steps + 1):
        loss, slope = gradient(part, weights)
        if step == 1 or step % max(1, steps // 10) == 0:
            say(f"step {step} of {steps}: loss {loss / len(part):.4f} on {len(part)} of {ROWS} rows")
        for peer, (first, behind) in zip(servers, cuts):
            peer.send(slope=slope[first:behind], rows=len(part))
        for peer, (first, behind) in zip(servers, cuts):
            weights[first:behind] = peer.ask()["weights"]
        # So small a model would be done at once; this one takes its time.
        time.sleep(max(0.0, start + seconds * step / steps - time.monotonic()))
    return weights


def off_by(weights):
    """Nothing, or what is wrong with them."""
    say("fitted " + " ".join(f"{w:.3f}" for w in weights))
    say("true   " + " ".join(f"{w:.3f}" for w in TRUE))
    off = max(abs(a - b) for a, b in zip(weights, TRUE))
    if off > OFF:
        return f"a weight is off by {off:.4f}, more than {OFF}"
    say(f"no weight is off by more than {OFF}")
    return None


def worker(root, port, want, steps, seconds):
    boss = connect(root, port, "the scheduler")
    order = boss.ask(role="worker", host=gethostname())
    rank = order["rank"]
    wire.name = f"worker {rank}"
    part = rows(rank, want["worker"])
    servers = [connect(host, at, f"server {i}") for i, (host, at) in enumerate(order["servers"])]
    for peer in servers:
        peer.send(worker=rank)
    boss.ask(barrier="begin")
    weights = train(part, servers, slices(want["server"]), steps, seconds)
    wrong = off_by(weights) if rank == 0 else None
    go = boss.ask(wrong=wrong)["go"] if wrong else boss.ask(barrier="end")["go"]
    code = 0 if go else WRONG
    for peer in servers:
        peer.send(bye=code)
    return code


def main():
    parser = argparse.ArgumentParser(description="linear regression with a parameter server")
    parser.add_argument("--steps", type=int, default=os.environ.get("TRAIN_STEPS", "100"))
    parser.add_argument("--seconds", type=float, default=os.environ.get("TRAIN_SECONDS", "2"))
    args = parser.parse_args()
    env = os.environ
    try:
        role, root, port = env["DMLC_ROLE"], env["DMLC_PS_ROOT_URI"], int(env["DMLC_PS_ROOT_PORT"])
        want = {"server": int(env["DMLC_NUM_SERVER"]), "worker": int(env["DMLC_NUM_WORKER"])}
    except (KeyError, ValueError) as error:
        stop(USAGE, f"this is for MXJob, which sets DMLC_…: {error!r}")
    wire.name = role
    if role not in ("scheduler", "server", "worker") or min(want.values()) < 1 or args.steps < 1:
        stop(USAGE, f"needs a role, servers, workers and steps, not {role} {want} {args.steps}")
    if args.seconds / args.steps > STILL / 2:
        stop(USAGE, f"a step may take {STILL / 2:.0f} s")
    try:
        if role == "scheduler":
            return scheduler(want, port)
        if role == "server":
            return server(root, port, want)
        return worker(root, port, want, args.steps, args.seconds)
    except Lost as lost:
        stop(LOST, str(lost))


if __name__ == "__main__":
    raise SystemExit(main())
