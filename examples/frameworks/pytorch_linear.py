#!/usr/bin/env python3
"""Distributed linear regression with PyTorch: every trainer has its part of the rows, gradients are averaged by gloo.

AITrainingJob's variables say who this is; the first trainer is where all meet.
Exit status: 0 well, 1 the weights are off or differ, 137 another trainer was lost.
"""
import os
from datetime import timedelta

import torch
import torch.distributed as dist
from common import BATCH, BIAS, LOST, NOISE, ROWS, START, STEPS, TRUE, Progress, known, say, verdict


def rows(rank, size):
    """A trainer's own rows: all draw the same ones, each keeps every n-th."""
    torch.manual_seed(2017)
    x = torch.randn(ROWS, len(TRUE))
    y = x @ torch.tensor(TRUE)[:, None] + BIAS + NOISE * torch.randn(ROWS, 1)
    return x[rank::size], y[rank::size]


def train(rank, size):
    x, y = rows(rank, size)
    net = torch.nn.Linear(len(TRUE), 1)
    # Averages the gradients inside of backward().
    model = torch.nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    progress = Progress(len(x))
    for step in range(1, STEPS + 1):
        at = (step * BATCH) % (len(x) - BATCH)
        loss = torch.nn.functional.mse_loss(model(x[at:at + BATCH]), y[at:at + BATCH])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        progress.step(step, loss.item)
    return torch.cat([net.weight.detach().flatten(), net.bias.detach()])


def fit(rank, size):
    """All of it, once the group is there. The exit status."""
    say(f"trainer {rank} of {size}, PyTorch {torch.__version__}")
    fitted = train(rank, size)
    everybody = [torch.zeros_like(fitted) for _ in range(size)]
    dist.all_gather(everybody, fitted)
    dist.barrier()
    dist.destroy_process_group()
    return verdict(fitted.tolist(), max((other - fitted).abs().max().item() for other in everybody))


def main():
    rank, places = int(os.environ["TRAININGJOB_REPLICA_INDEX"]), os.environ["TRAINER_HOSTS"].split(",")
    torch.set_num_threads(1)
    known(places[0].rsplit(":", 1)[0])
    try:
        dist.init_process_group("gloo", init_method=f"tcp://{places[0]}", rank=rank, world_size=len(places),
                                timeout=timedelta(seconds=START))
        return fit(rank, len(places))
    except RuntimeError as error:
        # The only word that gloo has for it.
        say(f"lost a trainer: {error}")
        return LOST


if __name__ == "__main__":
    raise SystemExit(main())
