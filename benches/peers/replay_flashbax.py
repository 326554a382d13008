"""Flashbax: pure functions over JAX arrays, jitted, the state donated wherever it changes.

`flashbax` is the prioritised flat buffer, 1,024 rings of 1,024 (`add_batch_size`), whose samples are pairs of
neighbours: rows with next observations are stored once, and plain rows are the pair's first. `flashbax-item` is the
prioritised item buffer, one ring of rows as they are. Both return probabilities; the weights are computed in the same
jitted call.

Its trees have two ways to set a batch: one leaf after the other in a scan, which its buffers choose on a CPU
(`flashbax`), and all leaves together, which counts repeated indices in an array as long as the tree
(`flashbax-bincount`).
"""

import _common as common  # noqa: F401  (threads, platform)

import flashbax
import jax
import jax.numpy as jnp
import numpy as np
from flashbax.buffers import sum_tree

from _replay import ALPHA, BATCH, BETA, CAPACITY


def nodes(leaves):
    """The nodes of a sum tree, root first."""
    levels = [leaves.astype(np.float64)]
    while len(levels[-1]) > 1:
        levels.append(levels[-1].reshape(-1, 2).sum(1))
    return jnp.asarray(np.concatenate(levels[::-1]), jnp.float32)


class Tree:
    SET = staticmethod(sum_tree.set_batch_scan)

    def __init__(self, leaves):
        self.n = len(leaves)
        self.state = sum_tree.init(self.n).replace(nodes=nodes(leaves))
        self.key = jax.random.key(5)
        self.set = jax.jit(self.SET, donate_argnums=0)

        @jax.jit
        def draw(state, key):
            key, sub = jax.random.split(key)
            thresholds = jax.random.uniform(sub, (BATCH,))
            return jax.vmap(lambda threshold: sum_tree.sample(state, query_value=threshold))(thresholds), key

        @jax.jit
        def draw_stratified(state, key):
            key, sub = jax.random.split(key)
            return sum_tree.stratified_sample(state, BATCH, sub), key

        self.draw, self.draw_stratified = self.drawing(draw), self.drawing(draw_stratified)

    def drawing(self, function):
        def draw():
            indices, self.key = function(self.state, self.key)
            return indices.block_until_ready()

        return draw

    def batch(self, indices, values):
        return jnp.asarray(indices, jnp.int32), jnp.asarray(values)

    def update(self, batch):
        self.state = self.set(self.state, *batch)
        self.state.nodes.block_until_ready()

    def updates(self):
        return {"tree_update": self.update}

    def draws(self):
        return {"tree_sample": self.draw, "tree_sample_stratified": self.draw_stratified}

    def leaves(self):
        return np.asarray(self.state.nodes)[self.n - 1 :]

    def total(self):
        return float(self.state.nodes[0])


class BincountTree(Tree):
    SET = staticmethod(sum_tree.set_batch_bincount)

    def draws(self):
        return {}


class FlatBuffer:
    EPS = 0.0
    SINGLE = True
    RINGS, PAIRS = BATCH, True

    def __init__(self, rows, td):
        self.given = rows, td
        self.paired = "next_obs" in rows and self.PAIRS
        buffer = self.make()
        rows = self.stored(rows)
        state = buffer.init(jax.tree.map(lambda values: values[0], rows))
        # The state that CAPACITY transitions leave, without adding them one by one.
        leaves = (td.astype(np.float64) ** ALPHA).reshape(self.RINGS, -1)
        if self.PAIRS:
            leaves[:, -1] = 0.0  # The newest have no neighbour yet.
        tree = state.sum_tree_state.replace(nodes=nodes(leaves.ravel()))
        self.state = state.replace(
            experience=jax.tree.map(lambda values: values.reshape(self.RINGS, -1, *values.shape[1:]), rows),
            is_full=jnp.array(True),
            running_index=jnp.array(CAPACITY // self.RINGS, jnp.int32),
            sum_tree_state=tree,
        )
        self.key = jax.random.key(5)
        self.add = jax.jit(buffer.add, donate_argnums=0)
        self.set = jax.jit(buffer.set_priorities, donate_argnums=0)

        @jax.jit
        def draw(state, key):
            key, sub = jax.random.split(key)
            sampled = buffer.sample(state, sub)
            weights = (CAPACITY * sampled.probabilities) ** -BETA
            return self.rows(sampled.experience), sampled.indices, weights / weights.max(), key

        self.draw = draw

    def make(self):
        own = {"add_batch_size": self.RINGS, "priority_exponent": ALPHA}
        return flashbax.make_prioritised_flat_buffer(CAPACITY, 1, BATCH, **own)

    def stored(self, rows):
        """As arrays of JAX (integers become i32); the pair's second holds the next observation."""
        return {name: jnp.asarray(values) for name, values in rows.items() if not (self.PAIRS and name == "next_obs")}

    def rows(self, experience):
        if not self.PAIRS:
            return experience
        return experience.first | ({"next_obs": experience.second["obs"]} if self.paired else {})

    def sample(self):
        *sampled, self.key = self.draw(self.state, self.key)
        return jax.block_until_ready(sampled)

    def parts(self, sampled):
        rows, indices, weights = sampled
        return rows, np.asarray(indices), np.asarray(weights)

    def priorities(self, indices, td):
        return jnp.asarray(indices, jnp.int32), jnp.asarray(td)

    def update(self, batch):
        self.state = jax.block_until_ready(self.set(self.state, *batch))

    def batch(self, rows):
        return jax.block_until_ready(self.stored(rows))

    def insert(self, batch):
        self.state = jax.block_until_ready(self.add(self.state, batch))

    def single(self):
        return SingleFlatBuffer(*self.given)

    def one(self, row):
        return self.batch({name: np.asarray(value) for name, value in row.items()})

    insert_one = insert

    def slots(self, turn):
        return np.arange(BATCH) * (CAPACITY // BATCH) + turn

    def fresh(self, turn):
        """A pair is drawn from when its second is there."""
        return self.slots((turn - 1) % (CAPACITY // BATCH))

    def memory(self):
        tree = self.state.sum_tree_state.nodes.nbytes
        rows = sum(array.nbytes for array in jax.tree.leaves(self.state.experience))
        return tree, tree + rows, "sizes of arrays: sums, f32; rows"


class SingleFlatBuffer(FlatBuffer):
    RINGS = 1

    def make(self):
        return flashbax.make_prioritised_flat_buffer(CAPACITY, 1, BATCH, priority_exponent=ALPHA)


class ItemBuffer(FlatBuffer):
    RINGS, PAIRS, ADD_BATCHES = 1, False, True

    def make(self):
        own = {"add_batches": self.ADD_BATCHES, "priority_exponent": ALPHA}
        return flashbax.make_prioritised_item_buffer(CAPACITY, 1, BATCH, **own)

    def single(self):
        return SingleItemBuffer(*self.given)

    def slots(self, turn):
        return np.arange(turn * BATCH, (turn + 1) * BATCH)

    fresh = slots


class SingleItemBuffer(ItemBuffer):
    ADD_BATCHES = False


TREES = {"flashbax": Tree, "flashbax-bincount": BincountTree}
BUFFERS = {"flashbax": FlatBuffer, "flashbax-item": ItemBuffer}
