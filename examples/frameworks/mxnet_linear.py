#!/usr/bin/env python3
"""Distributed linear regression with MXNet: a key-value store of type dist_sync, gradients summed by the servers.

All roles run this file. MXNet reads DMLC_… itself; scheduler and servers serve inside of it and end with the workers.
Exit status: 0 well, 1 the weights are off.
"""
import os

from common import BATCH, BIAS, NOISE, ROWS, STEPS, TRUE, Progress, known, say, verdict

known(os.environ["DMLC_PS_ROOT_URI"])
# The kind sets 2: a line for each message.
os.environ["PS_VERBOSE"] = "0"

import mxnet as mx  # noqa: E402


def rows(rank, workers):
    """A worker's own rows: all draw the same ones, each keeps every n-th."""
    mx.random.seed(2017)
    x = mx.nd.random.normal(shape=(ROWS, len(TRUE)))
    y = mx.nd.dot(x, mx.nd.array(TRUE)) + BIAS + NOISE * mx.nd.random.normal(shape=(ROWS,))
    mine = mx.nd.arange(rank, ROWS, workers)
    return x.take(mine), y.take(mine)


def main():
    store = mx.kv.create("dist_sync")
    if os.environ["DMLC_ROLE"] != "worker":
        return 0
    say(f"worker {store.rank} of {store.num_workers}, MXNet {mx.__version__}")
    x, y = rows(store.rank, store.num_workers)
    model = mx.gluon.nn.Dense(1)
    model.initialize(mx.init.Zero())
    # The servers apply the step to the sum over all workers' rows.
    trainer = mx.gluon.Trainer(model.collect_params(), "sgd", {"learning_rate": 0.08}, kvstore=store,
                               update_on_kvstore=True)
    loss_of = mx.gluon.loss.L2Loss()
    progress = Progress(len(x))
    for step in range(1, STEPS + 1):
        at = (step * BATCH) % (len(x) - BATCH)
        with mx.autograd.record():
            loss = loss_of(model(x[at:at + BATCH]), y[at:at + BATCH])
        loss.backward()
        trainer.step(BATCH * store.num_workers)
        progress.step(step, lambda: loss.mean().asscalar())
    return verdict([*model.weight.data()[0].asnumpy(), model.bias.data()[0].asscalar()])


if __name__ == "__main__":
    raise SystemExit(main())
