"""Tianshou: its segment tree, numba over f64, and `PrioritizedReplayBuffer`.

A transition always has `terminated`, `truncated` and `done`, and a sample `obs_next`: where the rows have none
(`ignore_obs_next`) it is the `obs` of the next row. 1,024 transitions are inserted into one ring by `update`, from a
buffer that has them already (`tianshou`), or by `add` into the 1,024 rings of a `PrioritizedVectorReplayBuffer`, one
into each (`tianshou-vector`).
"""

import _common as common  # noqa: F401  (threads)

import numpy as np
from tianshou.data import Batch, PrioritizedReplayBuffer, PrioritizedVectorReplayBuffer, ReplayBuffer, SegmentTree

from _replay import ALPHA, BATCH, BETA, CAPACITY


class Tree:
    def __init__(self, leaves):
        self.tree, self.n = SegmentTree(len(leaves)), len(leaves)
        self.tree[np.arange(self.n)] = leaves

    def batch(self, indices, values):
        return indices, values

    def update(self, batch):
        self.tree[batch[0]] = batch[1]

    def draw(self):
        """As `PrioritizedReplayBuffer.sample_indices` does it."""
        return self.tree.get_prefix_sum_idx(np.random.rand(BATCH) * self.tree.reduce())

    def updates(self):
        return {"tree_update": self.update}

    def draws(self):
        return {"tree_sample": self.draw}

    def leaves(self):
        return self.tree[np.arange(self.n)]

    def total(self):
        return self.tree.reduce()


def transition(rows):
    """Tianshou's names, and the flags that it asks for."""
    never = np.zeros_like(rows["rew"], bool)
    done = rows.get("done", never)
    named = {name: rows[name] for name in ("obs", "act", "rew")}
    named |= {"terminated": done, "truncated": never, "done": done}
    if "next_obs" in rows:
        named["obs_next"] = rows["next_obs"]
    return named


class Buffer:
    EPS = float(np.finfo(np.float32).eps)
    SINGLE = True

    def __init__(self, rows, td):
        self.ignore = {"ignore_obs_next": "next_obs" not in rows}
        self.buffer = self.make()
        self.fill(rows)
        self.update(self.priorities(np.arange(CAPACITY), td))

    def make(self):
        return PrioritizedReplayBuffer(CAPACITY, alpha=ALPHA, beta=BETA, **self.ignore)

    def fill(self, rows):
        self.insert(self.batch(rows))

    def sample(self):
        return self.buffer.sample(BATCH)

    def parts(self, sampled):
        rows, indices = sampled
        names = {"obs": rows.obs, "act": rows.act, "rew": rows.rew, "next_obs": rows.obs_next, "done": rows.terminated}
        return names, indices, rows.weight

    def priorities(self, indices, td):
        return indices, td

    def update(self, batch):
        self.buffer.update_weight(*batch)

    def batch(self, rows):
        """A full buffer with these rows."""
        n = len(rows["rew"])
        source = ReplayBuffer(n, **self.ignore)
        source.set_batch(Batch(**{name: np.array(values) for name, values in transition(rows).items()}))
        source._size = n  # As ReplayBuffer.from_data does it.
        return source

    def insert(self, batch):
        self.buffer.update(batch)

    def single(self):
        return self

    def one(self, row):
        return Batch(**transition(row))

    def insert_one(self, row):
        self.buffer.add(row)

    def slots(self, turn):
        return np.arange(turn * BATCH, (turn + 1) * BATCH)

    fresh = slots

    def memory(self):
        buffer = self.buffer
        tree = buffer.weight._value.nbytes
        arrays = [array for array in buffer._meta.values() if isinstance(array, np.ndarray)]
        rows = sum(array.nbytes for array in [*arrays, buffer._indices])
        return tree, tree + rows, "sizes of arrays: sums, f64; rows with three flags, indices i64"


class VectorBuffer(Buffer):
    SINGLE = False

    def make(self):
        return PrioritizedVectorReplayBuffer(CAPACITY, BATCH, alpha=ALPHA, beta=BETA, **self.ignore)

    def fill(self, rows):
        for turn in range(CAPACITY // BATCH):
            self.insert(self.batch({name: values[self.slots(turn)] for name, values in rows.items()}))

    def batch(self, rows):
        return Batch(**transition(rows))

    def insert(self, batch):
        self.buffer.add(batch)

    def slots(self, turn):
        return np.arange(BATCH) * (CAPACITY // BATCH) + turn

    fresh = slots


TREES = {"tianshou": Tree}
BUFFERS = {"tianshou": Buffer, "tianshou-vector": VectorBuffer}
