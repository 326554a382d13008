"""What the scripts of prioritized replay share: sizes, data, and what every tree and buffer must answer."""

import numpy as np

CAPACITIES = (1 << 14, 1 << 17, 1 << 20)
CAPACITY = CAPACITIES[-1]
BATCH = 1024
ALPHA, BETA = 0.6, 0.4
PLAIN, FULL = "obs4/act/rew", "obs4/act/rew/next4/done"


def uniform(seed, n):
    """Priorities in (0, 1]."""
    return (1.0 - np.random.default_rng(seed).random(n)).astype(np.float32)


def transitions(first, n, fields=FULL):
    """Rows that differ; `rew` names the row. `next_obs` is the next row's `obs`, as in one long episode."""
    rng = np.random.default_rng(first + 1)
    obs = rng.random((n, 4), dtype=np.float32)
    rows = dict(obs=obs, act=rng.integers(0, 2, n), rew=np.arange(first, first + n, dtype=np.float32))
    if fields == FULL:
        rows |= dict(next_obs=np.roll(obs, -1, axis=0), done=rng.random(n) < 0.01)
    return rows


def check_frequencies(drawn, mass):
    """Pearson's statistic of the drawn bins against their `mass`, at most its mean plus 6 standard deviations.

    Stratified draws have less of it.
    """
    expected = mass / mass.sum() * len(drawn)
    found = np.bincount(drawn, minlength=len(mass))
    freedom = len(mass) - 1
    statistic = ((found - expected) ** 2 / expected).sum()
    assert statistic < freedom + 6 * (2 * freedom) ** 0.5, f"drawn out of proportion: {statistic:.1f} of {freedom}"


def check_tree(tree_class):
    """The leaves after updates, with repeated indices among them, and what is drawn."""
    leaves = uniform(10, 64)
    tree = tree_class(leaves)
    for seed in range(3):
        indices = np.random.default_rng(seed).integers(0, 64, BATCH)
        values = uniform(20 + seed, BATCH)
        tree.update(tree.batch(indices, values))
        for i, value in zip(indices, values):
            leaves[i] = value
    assert np.allclose(tree.leaves(), leaves, rtol=1e-5, atol=1e-6), "leaves differ"
    assert np.isclose(tree.total(), leaves.sum(dtype=np.float64), rtol=1e-4), "the total differs"
    for draw in tree.draws().values():
        drawn = np.concatenate([np.asarray(draw()) for _ in range(200)])
        check_frequencies(drawn, leaves.astype(np.float64))


class Model:
    """What a buffer must hold, in plain arrays."""

    def __init__(self, buffer_class, fields):
        self.rows, self.td = transitions(0, CAPACITY, fields), uniform(2, CAPACITY)
        self.buffer = buffer_class(self.rows, self.td)
        self.rows = {name: rows.copy() for name, rows in self.rows.items()}

    def check(self):
        """Rows, weights and frequencies of 100 samples."""
        buffer, bins = self.buffer, 32
        scaled = (self.td.astype(np.float64) + buffer.EPS) ** ALPHA
        of_bin = np.minimum((self.td * bins).astype(int), bins - 1)
        drawn = []
        for _ in range(100):
            rows, indices, weights = buffer.parts(buffer.sample())
            assert len(indices) == BATCH
            for name, expected in self.rows.items():
                assert (np.asarray(rows[name]).reshape(BATCH, -1) == expected[indices].reshape(BATCH, -1)).all(), name
            expected = scaled[indices] ** -BETA
            assert np.allclose(weights / weights.max(), expected / expected.max(), rtol=2e-3), "weights differ"
            drawn.append(of_bin[indices])
        check_frequencies(np.concatenate(drawn), np.bincount(of_bin, weights=scaled, minlength=bins))

    def check_changes(self):
        """The same after updates of priorities and after inserts."""
        buffer = self.buffer
        for seed in range(3):
            indices, td = buffer.parts(buffer.sample())[1], uniform(30 + seed, BATCH)
            buffer.update(buffer.priorities(indices, td))
            for i, value in zip(indices, td):
                self.td[i] = value
        self.check()
        for turn in range(3):
            new = transitions(CAPACITY + turn * BATCH, BATCH, PLAIN)
            buffer.insert(buffer.batch(new))
            for name, rows in new.items():
                self.rows[name][buffer.slots(turn)] = rows
            self.td[buffer.fresh(turn)] = 1.0
        self.check()
