#!/usr/bin/env python3
"""A check of TF_CONFIG: every task reaches every other one by its name, and the right one answers.

Each task serves on its own place of the cluster. A worker asks everybody, waits until the master has asked what it
found, and ends when the master says so. A ps does the same but never ends by itself. The master prints who saw whom;
its end is the job's. A task that was killed and started again alone goes on with the others.

    tfconfig.py [--seconds S]     or by TRAIN_SECONDS: so long the master waits before it asks

Exit status: 0 well, 1 somebody else answered, 2 bad environment, 137 another task was lost.
"""
import argparse
import json
import os
import threading
import time

import wire
from wire import LOST, START, USAGE, WRONG, Lost, Peer, connect, listen, say, stop


class Task:
    def __init__(self, kind, index, place):
        self.kind, self.index, self.name = kind, index, f"{kind} {index}"
        self.host, port = place.rsplit(":", 1)
        self.port = int(port)

    def ask(self, question):
        """Its answer; asked again while it is away."""
        end = time.monotonic() + START
        while True:
            try:
                peer = connect(self.host, self.port, self.name)
                try:
                    return peer.ask(question=question)
                finally:
                    peer.close()
            except Lost as lost:
                if time.monotonic() > end:
                    raise
                say(f"{lost}; asking again")
                time.sleep(0.1)


class Service:
    """Answers in the background: who this is, what it saw of the others, and that it may end."""

    def __init__(self, me):
        self.me, self.saw = me, {}
        self.seen, self.told = threading.Event(), threading.Event()
        self.door = listen(me.port)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            peer = Peer(self.door.accept()[0], "somebody")
            threading.Thread(target=self.answer, args=(peer,), daemon=True).start()

    def answer(self, peer):
        try:
            question = peer.ask().get("question")
            if question == "who":
                peer.send(name=self.me.name)
            elif question == "saw":
                self.seen.wait(START)
                peer.send(saw=self.saw)
            elif question == "end":
                peer.send(end=self.me.kind != "ps")
                self.told.set()
        except Lost:
            pass
        peer.close()


def read(text):
    """The tasks of TF_CONFIG, and which of them this is."""
    config = json.loads(text)
    tasks = [Task(kind, i, place) for kind, places in config["cluster"].items() for i, place in enumerate(places)]
    mine = config["task"]
    for task in tasks:
        if (task.kind, task.index) == (mine["type"], int(mine["index"])):
            return tasks, task
    raise ValueError(f"{mine} is not in the cluster")


def report(tables):
    """Prints who saw whom; how often it was somebody else."""
    wrong = 0
    for name, saw in tables.items():
        for other, answer in saw.items():
            wrong += other != answer
            say(f"{name} asked {other}: {answer}" + (" WRONG" if other != answer else ""))
    say(f"{len(tables)} tasks, {wrong} wrong answers")
    return wrong


def lead(others, service, seconds):
    """What the master does, or worker 0 where there is none."""
    time.sleep(seconds)
    tables = {service.me.name: service.saw}
    for task in others:
        tables[task.name] = task.ask("saw")["saw"]
    wrong = report(tables)
    for task in others:
        task.ask("end")
    return WRONG if wrong else 0


def main():
    parser = argparse.ArgumentParser(description="a check of TF_CONFIG")
    parser.add_argument("--seconds", type=float, default=os.environ.get("TRAIN_SECONDS", "2"))
    args = parser.parse_args()
    try:
        tasks, me = read(os.environ["TF_CONFIG"])
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        stop(USAGE, f"this is for TfJob, which sets TF_CONFIG: {error!r}")
    wire.name = me.name
    others = [task for task in tasks if task is not me]
    service = Service(me)
    say(f"serves on port {me.port}")
    try:
        for task in others:
            service.saw[task.name] = task.ask("who").get("name")
        service.seen.set()
        say(f"has seen {len(others)} others")
        master = any(task.kind == "master" for task in tasks)
        if me.kind == "master" or not master and (me.kind, me.index) == ("worker", 0):
            return lead(others, service, args.seconds)
    except Lost as lost:
        stop(LOST, str(lost))
    if me.kind == "ps":
        # Until it is stopped.
        threading.Event().wait()
    if not service.told.wait(START + args.seconds):
        stop(LOST, "nobody has said that this is the end")
    say("ends")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
