#!/usr/bin/env python3
"""Distributed linear regression with PaddlePaddle: every trainer has its part of the rows, gradients are averaged by
gloo.

AITrainingJob's variables say who this is; Paddle wants them under names of its own.
Exit status: 0 well, 1 the weights are off or differ, 137 another trainer was lost.
"""
import os

from common import BATCH, BIAS, LOST, NOISE, ROWS, STEPS, TRUE, Progress, known, say, verdict

places = os.environ["TRAINER_HOSTS"].split(",")
rank = int(os.environ["TRAININGJOB_REPLICA_INDEX"])
os.environ.update({
    "PADDLE_TRAINER_ID": str(rank), "PADDLE_TRAINERS_NUM": str(len(places)),
    "PADDLE_TRAINER_ENDPOINTS": ",".join(places), "PADDLE_CURRENT_ENDPOINT": places[rank],
    "PADDLE_DISTRI_BACKEND": "gloo",
})
for place in places:
    known(place.rsplit(":", 1)[0])

import paddle  # noqa: E402
import paddle.distributed as dist  # noqa: E402


def rows(size):
    """A trainer's own rows: all draw the same ones, each keeps every n-th."""
    paddle.seed(2017)
    x = paddle.randn([ROWS, len(TRUE)])
    y = x @ paddle.to_tensor([[w] for w in TRUE]) + BIAS + NOISE * paddle.randn([ROWS, 1])
    return x[rank::size], y[rank::size]


def train():
    x, y = rows(len(places))
    net = paddle.nn.Linear(len(TRUE), 1)
    # Averages the gradients inside of backward().
    model = paddle.DataParallel(net)
    optimizer = paddle.optimizer.SGD(learning_rate=0.05, parameters=model.parameters())
    progress = Progress(len(x))
    for step in range(1, STEPS + 1):
        at = (step * BATCH) % (len(x) - BATCH)
        loss = paddle.nn.functional.mse_loss(model(x[at:at + BATCH]), y[at:at + BATCH])
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        progress.step(step, lambda: float(loss))
    return paddle.concat([net.weight.flatten(), net.bias])


def main():
    paddle.set_device("cpu")
    try:
        dist.init_parallel_env()
        say(f"trainer {rank} of {len(places)}, Paddle {paddle.__version__}")
        fitted = train()
        everybody = []
        dist.all_gather(everybody, fitted)
        dist.barrier()
    except (RuntimeError, OSError, ValueError) as error:
        # It has no one word for it.
        say(f"lost a trainer: {error}")
        return LOST
    return verdict(fitted.tolist(), max(float((other - fitted).abs().max()) for other in everybody))


if __name__ == "__main__":
    raise SystemExit(main())
