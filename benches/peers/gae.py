"""Generalized advantage estimation (Schulman et al. 2016) over (T, B) arrays, f32.

    delta_t = r_t + gamma * (1 - done_t) * V_{t+1} - V_t
    A_t = delta_t + gamma * lambda * (1 - done_t) * A_{t+1},   returns = A + V

Inputs: rewards, values, dones (T, B) and the last values (B). Outputs: advantages and returns (T, B).
Peers: `jax-scan`, a jitted reverse lax.scan; `numba`, two nested loops with time outside, compiled by
numba without fastmath into given arrays; `numpy`, a Python loop over time, as CleanRL and SB3 have it.
"""

import time

import _common as common

import jax
import jax.numpy as jnp
import numba
import numpy as np
from jax import lax

GAMMA, LAMBDA = np.float32(0.99), np.float32(0.95)


@jax.jit
def gae_jax(rewards, values, dones, last):
    # Of the forms tried (one scan over everything as in PureJaxRL or only the carry inside; unroll 1, 2, 4, 8, 16) the fastest
    # here: unrolling makes it slower on a CPU, by 10 times at PureJaxRL's 16.
    alive = 1.0 - dones
    delta = rewards + GAMMA * alive * jnp.concatenate([values[1:], last[None]]) - values

    def step(advantage, inputs):
        delta, coefficient = inputs
        advantage = delta + coefficient * advantage
        return advantage, advantage

    _, advantages = lax.scan(step, jnp.zeros_like(last), (delta, GAMMA * LAMBDA * alive), reverse=True)
    return advantages, advantages + values


@numba.njit(cache=False)
def gae_numba(rewards, values, dones, last, advantages, returns):
    steps, envs = rewards.shape
    one = np.float32(1.0)
    for t in range(steps - 1, -1, -1):
        for b in range(envs):
            alive = one - dones[t, b]
            next_value = last[b] if t + 1 == steps else values[t + 1, b]
            carry = np.float32(0.0) if t + 1 == steps else advantages[t + 1, b]
            delta = rewards[t, b] + GAMMA * alive * next_value - values[t, b]
            advantages[t, b] = delta + GAMMA * LAMBDA * alive * carry
            returns[t, b] = advantages[t, b] + values[t, b]


def gae_numpy(rewards, values, dones, last, advantages, returns):
    carry = np.zeros_like(last)
    next_value = last
    for t in range(len(rewards) - 1, -1, -1):
        alive = 1.0 - dones[t]
        delta = rewards[t] + GAMMA * alive * next_value - values[t]
        carry = delta + GAMMA * LAMBDA * alive * carry
        advantages[t] = carry
        next_value = values[t]
    np.add(advantages, values, out=returns)


def main():
    for steps, envs in ((128, 1024), (2048, 64)):
        shape = f"{steps}x{envs}"
        common.say(f"gae {shape}")
        rng = np.random.default_rng(0)
        rewards, values = (rng.standard_normal((steps, envs), dtype=np.float32) for _ in range(2))
        dones = (rng.random((steps, envs)) < 0.02).astype(np.float32)
        last = rng.standard_normal(envs, dtype=np.float32)
        out = {peer: (np.empty_like(rewards), np.empty_like(rewards)) for peer in ("numba", "numpy")}
        on_device = [jnp.asarray(v) for v in (rewards, values, dones, last)]

        start = time.perf_counter()
        jax_out = jax.block_until_ready(gae_jax(*on_device))
        jax_compile = round(time.perf_counter() - start, 2)
        start = time.perf_counter()
        gae_numba(rewards, values, dones, last, *out["numba"])
        numba_compile = round(time.perf_counter() - start, 2)
        gae_numpy(rewards, values, dones, last, *out["numpy"])
        for other in (jax_out[0], out["numba"][0]):
            assert np.allclose(other, out["numpy"][0], atol=1e-4)

        times = common.measure(lambda: jax.block_until_ready(gae_jax(*on_device)), max_reps=3000)
        common.emit_times("jax-scan", "gae", shape, times, compile_s=jax_compile)
        times = common.measure(lambda: gae_numba(rewards, values, dones, last, *out["numba"]), max_reps=3000)
        common.emit_times("numba", "gae", shape, times, compile_s=numba_compile)
        times = common.measure(lambda: gae_numpy(rewards, values, dones, last, *out["numpy"]), max_reps=3000)
        common.emit_times("numpy", "gae", shape, times)


if __name__ == "__main__":
    main()
