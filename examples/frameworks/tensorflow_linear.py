#!/usr/bin/env python3
"""Distributed linear regression with TensorFlow: variables on the ps, master and workers train at their own pace.

TF_CONFIG says who this is and where the others are. A ps serves until it is stopped; the master's end is the job's. A
worker that was killed and started again goes on with the others.
Exit status: 0 well, 1 the weights are off.
"""
import json
import os
import time

from common import BATCH, BIAS, NOISE, ROWS, STEPS, TRUE, Progress, known, say, verdict

config = json.loads(os.environ["TF_CONFIG"])
for places in config["cluster"].values():
    for place in places:
        known(place.rsplit(":", 1)[0])
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

v1 = tf.compat.v1


def rows(part, parts):
    """A task's own rows: all draw the same ones, each keeps every n-th."""
    rng = np.random.RandomState(2017)
    x = rng.normal(size=(ROWS, len(TRUE)))
    y = x @ np.array(TRUE)[:, None] + BIAS + NOISE * rng.normal(size=(ROWS, 1))
    return x[part::parts], y[part::parts]


def model():
    x = v1.placeholder(tf.float32, [None, len(TRUE)])
    y = v1.placeholder(tf.float32, [None, 1])
    weights = v1.get_variable("weights", [len(TRUE), 1], initializer=v1.zeros_initializer())
    bias = v1.get_variable("bias", [1], initializer=v1.zeros_initializer())
    loss = tf.reduce_mean(tf.square(tf.matmul(x, weights) + bias - y))
    step = v1.train.get_or_create_global_step()
    train = v1.train.GradientDescentOptimizer(0.03).minimize(loss, global_step=step)
    return x, y, {"train": train, "loss": loss, "step": step, "weights": weights, "bias": bias}


def wait_for_chief(server, session):
    """Until the chief has given the variables their first values: TensorFlow itself would ask every 30 s."""
    missing = v1.report_uninitialized_variables()
    with v1.Session(server.target, config=session) as ask:
        while ask.run(missing).size:
            time.sleep(0.1)


def train(server, session, cluster, tasks, here):
    """What the variables were after the last step."""
    xs, ys = rows(here, len(tasks))
    kind, index = tasks[here]
    with v1.device(v1.train.replica_device_setter(cluster=cluster, worker_device=f"/job:{kind}/task:{index}")):
        x, y, fetch = model()
    if here != 0:
        wait_for_chief(server, session)
    # The steps are counted together.
    progress = Progress(len(xs), pace=len(tasks))
    now, at = None, 0
    with v1.train.MonitoredTrainingSession(master=server.target, is_chief=here == 0, config=session,
                                           hooks=[v1.train.StopAtStepHook(last_step=STEPS)]) as run:
        while not run.should_stop():
            now = run.run(fetch, {x: xs[at:at + BATCH], y: ys[at:at + BATCH]})
            at = (at + BATCH) % (len(xs) - BATCH)
            progress.step(now["step"], lambda: now["loss"])
    return now


def main():
    kind, index = config["task"]["type"], config["task"]["index"]
    cluster = v1.train.ClusterSpec(config["cluster"])
    # Who trains waits for the ps, and not for the others.
    session = v1.ConfigProto(device_filters=["/job:ps", f"/job:{kind}/task:{index}"],
                             intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    server = v1.train.Server(cluster, job_name=kind, task_index=index, config=session if kind != "ps" else None)
    say(f"{kind} {index}, TensorFlow {tf.__version__}")
    if kind == "ps":
        server.join()
    tasks = [(k, i) for k in ("master", "worker") for i in range(len(config["cluster"].get(k, [])))]
    here = tasks.index((kind, index))
    with tf.Graph().as_default():
        now = train(server, session, cluster, tasks, here)
    # Workers end where the steps end; the weights are the chief's to judge. A worker may come too late for any step.
    return verdict([*now["weights"].flatten(), now["bias"][0]]) if here == 0 else 0


if __name__ == "__main__":
    raise SystemExit(main())
