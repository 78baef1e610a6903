#!/usr/bin/env python3
"""The same regression as pytorch_linear.py, as a script for torchrun: PyTorch finds its peers by RANK, WORLD_SIZE,
MASTER_ADDR and MASTER_PORT. So it needs no manifest: dljob run -n 3 -- python3 examples/frameworks/pytorch_ddp.py
Exit status: 0 well, 1 the weights are off or differ.
"""
import torch
import torch.distributed as dist
from pytorch_linear import fit

torch.set_num_threads(1)
# Before PyTorch 2 the backend has to be named.
dist.init_process_group("gloo")
raise SystemExit(fit(dist.get_rank(), dist.get_world_size()))
