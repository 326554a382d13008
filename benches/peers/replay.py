"""Prioritized replay (Schaul et al. 2015) in the libraries that people use: its trees alone, and the whole buffer.

    replay.py torchrl | tianshou | cpprb | flashbax

`tree_update` sets 1,024 random leaves of a full sum tree (`min_tree_update`: of a tree of minima), `tree_sample` draws
1,024 leaves in proportion to their values, random thresholds included. `replay_sample` is the library's own call that
returns rows, indices and importance weights (alpha 0.6, beta 0.4) from a full buffer of 2^20 items, `replay_update`
sets the priorities of a batch that was sampled, `replay_insert` writes 1,024 transitions, or one, over the oldest, at
the default priority. `replay_memory` is what the priorities take for each item, `replay_memory_all` everything for
obs4/act/rew.

How each library is called is in replay_NAME.py: `BUFFERS` and `TREES` by the name of the peer, `NO_TREES` the reason if
there are none. Draws, weights and rows are compared with what they must be, before anything is timed. Indices,
priorities and transitions are prepared before, 256 batches of them in turn, so that caches don't answer for memory.
"""

import importlib
import itertools
import sys

import _common as common

import numpy as np
from _replay import BATCH, CAPACITIES, CAPACITY, FULL, PLAIN, Model, check_tree, transitions, uniform

BATCHES = 256
SHAPE = f"{BATCH}of{CAPACITY}"


def turns(batches, use):
    """A function that uses the next batch at each call."""
    batches = itertools.cycle(batches)
    return lambda: use(next(batches))


def updates(batches, update):
    """The same, but indices meet other values each time: some libraries stop early where nothing changes."""
    indices, values = zip(*batches)
    pairs = zip(itertools.cycle(indices), itertools.cycle(values[1:]))
    return lambda: update(next(pairs))


def measure_tree(peer, tree_class, capacity):
    shape = f"{BATCH}of{capacity}"
    common.say(f"{peer} tree {shape}")
    tree = tree_class(uniform(1, capacity))
    rng = np.random.default_rng(3)
    batches = [tree.batch(rng.integers(0, capacity, BATCH), uniform(100 + i, BATCH)) for i in range(BATCHES)]
    for task, update in tree.updates().items():
        common.emit_times(peer, task, shape, common.measure(updates(batches, update), max_reps=20000))
    for task, draw in tree.draws().items():
        common.emit_times(peer, task, shape, common.measure(draw, max_reps=20000))


def measure_buffer(peer, buffer_class):
    """One full buffer with plain rows for everything, and one with next observations for sampling alone."""
    common.say(f"{peer} buffer {PLAIN}")
    model = Model(buffer_class, PLAIN)
    buffer = model.buffer
    trees, everything, how = buffer.memory()
    for task, size in (("replay_memory", trees), ("replay_memory_all", everything)):
        common.emit(peer, task, str(CAPACITY), unit="B/item", value=round(size / CAPACITY, 2), note=how)
    model.check()
    model.check_changes()
    common.emit_times(peer, "replay_sample", f"{SHAPE} {PLAIN}", common.measure(buffer.sample, max_reps=20000))
    sampled = [buffer.parts(buffer.sample())[1] for _ in range(BATCHES)]
    batches = [buffer.priorities(indices, uniform(100 + i, BATCH)) for i, indices in enumerate(sampled)]
    times = common.measure(updates(batches, buffer.update), max_reps=20000)
    common.emit_times(peer, "replay_update", SHAPE, times)
    # Inserts, single ones first, stay within one turn of the ring: each writes over a priority that it changes.
    if buffer.SINGLE:
        rows = transitions(0, BATCHES, PLAIN)
        single = buffer.single()
        batches = [single.one({name: values[i] for name, values in rows.items()}) for i in range(BATCHES)]
        times = common.measure(turns(batches, single.insert_one), max_reps=20000)
        common.emit_times(peer, "replay_insert", f"1of{CAPACITY}", times)
        del single
    batches = [buffer.batch(transitions(i * BATCH, BATCH, PLAIN)) for i in range(BATCHES)]
    times = common.measure(turns(batches, buffer.insert), max_reps=900)
    common.emit_times(peer, "replay_insert", SHAPE, times)
    del model, buffer, batches
    common.say(f"{peer} buffer {FULL}")
    model = Model(buffer_class, FULL)
    model.check()
    times = common.measure(model.buffer.sample, max_reps=20000)
    common.emit_times(peer, "replay_sample", f"{SHAPE} {FULL}", times)


def main():
    peer = sys.argv[1]
    try:
        library = importlib.import_module(f"replay_{peer}")
    except Exception as error:  # A library that can't be loaded here: its lines say why.
        for task in ("tree_update", "tree_sample", "replay_sample", "replay_update", "replay_insert", "replay_memory"):
            common.not_run(peer, task, "", f"{type(error).__name__}: {error}")
        return
    for name, buffer_class in library.BUFFERS.items():
        measure_buffer(name, buffer_class)
    for name, tree_class in library.TREES.items():
        check_tree(tree_class)
        for capacity in CAPACITIES:
            measure_tree(name, tree_class, capacity)
    if not library.TREES:
        for task, capacity in itertools.product(("tree_update", "tree_sample"), CAPACITIES):
            common.not_run(peer, task, f"{BATCH}of{capacity}", library.NO_TREES)


if __name__ == "__main__":
    main()
