"""TorchRL: its C++ segment trees (Fp32), and prioritized buffers over a LazyTensorStorage.

`torchrl` is `TensorDictPrioritizedReplayBuffer`; `torchrl-plain` is `ReplayBuffer` with a `PrioritizedSampler`: the
same storage and the same trees with less around them. The sampler draws its thresholds with numpy in f64 unless the
buffer has a generator of its own, then with torch in f32, which needs no conversion: the buffers here have one,
`torchrl` draws so from the tree, and `torchrl-numpy` draws in the other way.
"""

import _common as common

import numpy as np
import torch
from tensordict import TensorDict
from torchrl._torchrl import MinSegmentTreeFp32, SumSegmentTreeFp32
from torchrl.data import LazyTensorStorage, PrioritizedSampler, ReplayBuffer, TensorDictPrioritizedReplayBuffer

from _replay import ALPHA, BATCH, BETA, CAPACITY

torch.set_num_threads(common.THREADS)


class Tree:
    def __init__(self, leaves):
        self.n, self.sums = len(leaves), SumSegmentTreeFp32(len(leaves))
        self.smallest = MinSegmentTreeFp32(len(leaves))
        self.sums[torch.arange(self.n)] = torch.from_numpy(leaves.copy())
        self.smallest[torch.arange(self.n)] = torch.from_numpy(leaves.copy())
        self.generator = torch.Generator().manual_seed(5)

    def batch(self, indices, values):
        return torch.from_numpy(indices), torch.from_numpy(values.copy())

    def update(self, batch):
        self.sums[batch[0]] = batch[1]

    def update_smallest(self, batch):
        self.smallest[batch[0]] = batch[1]

    def draw(self):
        """As `PrioritizedSampler.sample` does it with a generator."""
        mass = torch.rand(BATCH, generator=self.generator) * self.sums.query(0, self.n)
        return self.sums.scan_lower_bound(mass)

    def updates(self):
        return {"tree_update": self.update, "min_tree_update": self.update_smallest}

    def draws(self):
        return {"tree_sample": self.draw}

    def leaves(self):
        return self.sums[torch.arange(self.n)].numpy()

    def total(self):
        return self.sums.query(0, self.n)


class NumpyTree(Tree):
    """The thresholds as it draws them without a generator."""

    def draw(self):
        return self.sums.scan_lower_bound(np.random.uniform(0.0, self.sums.query(0, self.n), size=BATCH))

    def updates(self):
        return {}


class TensorDictBuffer:
    EPS = 1e-8
    SINGLE = True

    def __init__(self, rows, td):
        self.buffer = self.make(LazyTensorStorage(CAPACITY))
        self.buffer.extend(self.batch(rows))
        self.update(self.priorities(np.arange(CAPACITY), td))

    def make(self, storage):
        own = {"batch_size": BATCH, "generator": torch.Generator().manual_seed(5)}
        return TensorDictPrioritizedReplayBuffer(alpha=ALPHA, beta=BETA, storage=storage, **own)

    def sample(self):
        return self.buffer.sample()

    def parts(self, rows):
        return rows, rows["index"].numpy(), rows["priority_weight"].numpy()

    def priorities(self, indices, td):
        return torch.from_numpy(indices), torch.from_numpy(td.copy())

    def update(self, batch):
        self.buffer.update_priority(*batch)

    def batch(self, rows):
        n = len(rows["rew"])
        return TensorDict({name: torch.from_numpy(values.copy()) for name, values in rows.items()}, [n])

    def insert(self, batch):
        self.buffer.extend(batch)

    def single(self):
        return self

    def one(self, row):
        return TensorDict({name: torch.as_tensor(value) for name, value in row.items()}, [])

    def insert_one(self, row):
        self.buffer.add(row)

    def slots(self, turn):
        return np.arange(turn * BATCH, (turn + 1) * BATCH)

    fresh = slots

    def memory(self):
        sampler = self.buffer.sampler
        trees = 2 * 4 * (sampler._sum_tree.capacity + sampler._min_tree.capacity)
        rows = self.buffer[:].bytes()
        return trees, trees + rows, "sizes of arrays: sums and minima, f32, 2^22 nodes each; rows as stored"


class PlainBuffer(TensorDictBuffer):
    def make(self, storage):
        sampler = PrioritizedSampler(CAPACITY, alpha=ALPHA, beta=BETA)
        generator = torch.Generator().manual_seed(5)
        return ReplayBuffer(storage=storage, sampler=sampler, batch_size=BATCH, generator=generator)

    def sample(self):
        return self.buffer.sample(return_info=True)

    def parts(self, sampled):
        rows, info = sampled
        return rows, np.asarray(info["index"]), np.asarray(info["priority_weight"])


TREES = {"torchrl": Tree, "torchrl-numpy": NumpyTree}
BUFFERS = {"torchrl": TensorDictBuffer, "torchrl-plain": PlainBuffer}
