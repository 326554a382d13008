"""cpprb: `PrioritizedReplayBuffer`, C++ trees behind Cython. Its draws are stratified."""

import _common as common  # noqa: F401  (threads)

import os
import subprocess
import sys

import cpprb
import numpy as np

from _replay import ALPHA, BATCH, BETA, CAPACITY, PLAIN, transitions

FIELDS = {
    "obs": {"shape": 4, "dtype": np.float32},
    "act": {"dtype": np.int32},
    "rew": {"dtype": np.float32},
    "next_obs": {"shape": 4, "dtype": np.float32},
    "done": {"dtype": bool},
}


def resident():
    """Bytes of this process in memory."""
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Buffer:
    EPS = 1e-4
    SINGLE = True

    def __init__(self, rows, td):
        fields = {name: FIELDS[name] for name in rows}
        self.buffer = cpprb.PrioritizedReplayBuffer(CAPACITY, fields, alpha=ALPHA, eps=self.EPS)
        self.insert(self.batch(rows))
        self.update(self.priorities(np.arange(CAPACITY), td))

    def sample(self):
        return self.buffer.sample(BATCH, beta=BETA)

    def parts(self, rows):
        return rows, rows["indexes"].astype(np.int64), rows["weights"].copy()

    def priorities(self, indices, td):
        return indices.astype(np.uint64), td

    def update(self, batch):
        self.buffer.update_priorities(*batch)

    def batch(self, rows):
        return rows | {"act": rows["act"].astype(np.int32)}

    def insert(self, batch):
        self.buffer.add(**batch)

    def single(self):
        return self

    def one(self, row):
        return row

    def insert_one(self, row):
        self.buffer.add(**row)

    def slots(self, turn):
        return np.arange(turn * BATCH, (turn + 1) * BATCH)

    fresh = slots

    def memory(self):
        """Each kind of buffer in a process of its own, where no freed memory is taken again."""
        grown = {}
        for kind in ("PrioritizedReplayBuffer", "ReplayBuffer"):
            command = [sys.executable, __file__, kind]
            grown[kind] = int(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
        trees = grown["PrioritizedReplayBuffer"] - grown["ReplayBuffer"]
        return trees, grown["PrioritizedReplayBuffer"], "growth of a process: sums and minima, f32; rows"


def growth(kind):
    """Bytes by which this process grows when it fills a buffer."""
    rows = transitions(0, BATCH, PLAIN)
    rows["act"] = rows["act"].astype(np.int32)
    before = resident()
    buffer = getattr(cpprb, kind)(CAPACITY, {name: FIELDS[name] for name in rows})
    for _ in range(CAPACITY // BATCH):
        buffer.add(**rows)
    return resident() - before


NO_TREES = "its trees can't be reached from Python apart from the buffer"
TREES = {}
BUFFERS = {"cpprb": Buffer}

if __name__ == "__main__":
    print(growth(sys.argv[1]))
