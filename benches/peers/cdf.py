"""Cumulative sums of weights and draws from them, in numpy, torch and JAX; f32, as those who sample by priority use them.

`cdf_build`: the cumulative sum of n weights into a given array (numpy `cumsum(out=)`, torch `cumsum(out=)`, a jitted
`jnp.cumsum`). `cdf_search`: 8,192 given thresholds looked up in 1,048,576 sums (`searchsorted`; JAX by each of its
methods that is not quadratic). `cdf_draw`: the same with the random thresholds drawn too.
"""

import time

import _common as common

import jax
import jax.numpy as jnp
import numpy as np
import torch

torch.set_num_threads(common.THREADS)

SIZES = (8_192, 262_144, 1_048_576)
DRAWS = 8_192


def weights(n):
    return np.random.default_rng(1).random(n, dtype=np.float32)


def build(n):
    shape = str(n)
    common.say(f"cdf_build {shape}")
    w = weights(n)
    out = np.empty_like(w)
    times = common.measure(lambda: np.cumsum(w, out=out), max_reps=20000)
    common.emit_times("numpy", "cdf_build", shape, times)

    w_torch, out_torch = torch.from_numpy(w.copy()), torch.empty(n)
    times = common.measure(lambda: torch.cumsum(w_torch, 0, out=out_torch), max_reps=20000)
    common.emit_times("torch", "cdf_build", shape, times)

    w_jax, cumsum = jnp.asarray(w), jax.jit(jnp.cumsum)
    times = common.measure(lambda: jax.block_until_ready(cumsum(w_jax)), max_reps=20000)
    common.emit_times("jax", "cdf_build", shape, times)
    for other in (out_torch.numpy(), np.asarray(cumsum(w_jax))):
        assert np.allclose(other, out, rtol=1e-3)


def search(n):
    shape = f"{DRAWS}of{n}"
    common.say(f"cdf_search {shape}")
    w = weights(n)
    # Summed in f64, so that what is compared is the search and not the sums.
    sums = np.cumsum(w, dtype=np.float64).astype(np.float32)
    rng = np.random.default_rng(2)
    total = sums[-1]
    thresholds = rng.random(DRAWS, dtype=np.float32) * total
    expected = np.searchsorted(sums, thresholds, side="right")

    times = common.measure(lambda: np.searchsorted(sums, thresholds, side="right"), max_reps=20000)
    common.emit_times("numpy", "cdf_search", shape, times)
    draw = lambda: np.searchsorted(sums, rng.random(DRAWS, dtype=np.float32) * total, side="right")
    common.emit_times("numpy", "cdf_draw", shape, common.measure(draw, max_reps=20000))

    sums_torch, thresholds_torch = torch.from_numpy(sums), torch.from_numpy(thresholds)
    lookup = lambda t: torch.searchsorted(sums_torch, t, right=True)
    assert (lookup(thresholds_torch).numpy() == expected).all()
    common.emit_times("torch", "cdf_search", shape, common.measure(lambda: lookup(thresholds_torch), max_reps=20000))
    draw = lambda: lookup(torch.rand(DRAWS) * float(total))
    common.emit_times("torch", "cdf_draw", shape, common.measure(draw, max_reps=20000))

    sums_jax, thresholds_jax = jnp.asarray(sums), jnp.asarray(thresholds)
    for method in ("scan", "scan_unrolled", "sort"):

        @jax.jit
        def lookup_jax(sums, thresholds):
            return jnp.searchsorted(sums, thresholds, side="right", method=method)

        @jax.jit
        def draw_jax(sums, key):
            key, sub = jax.random.split(key)
            thresholds = jax.random.uniform(sub, (DRAWS,)) * sums[-1]
            return jnp.searchsorted(sums, thresholds, side="right", method=method), key

        start = time.perf_counter()
        assert (np.asarray(lookup_jax(sums_jax, thresholds_jax)) == expected).all()
        compile_s = round(time.perf_counter() - start, 2)
        times = common.measure(lambda: jax.block_until_ready(lookup_jax(sums_jax, thresholds_jax)), max_reps=20000)
        common.emit_times(f"jax-{method}", "cdf_search", shape, times, compile_s=compile_s)
        key = jax.random.key(3)

        def draw():
            nonlocal key
            out, key = draw_jax(sums_jax, key)
            jax.block_until_ready(out)

        common.emit_times(f"jax-{method}", "cdf_draw", shape, common.measure(draw, max_reps=20000), compile_s=compile_s)


def main():
    for n in SIZES:
        build(n)
    search(SIZES[-1])


if __name__ == "__main__":
    main()
