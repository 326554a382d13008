"""minGRU scan and highway, given the projections: forward, and forward plus backward.

    z = sigmoid(gate),  g(v) = v + 0.5 if v >= 0 else sigmoid(v)
    h_t = (1 - z_t) * keep_t * h_{t-1} + z_t * g(hidden_t)
    out_t = sigmoid(proj_t) * h_t + (1 - sigmoid(proj_t)) * x_t

Inputs: combined (B, T, 3H) = [hidden | gate | proj], x (B, T, H), keep (B, T) (0 where an episode starts), h0 (B, H).
Outputs: out (B, T, H); backward: the gradients of combined, x and h0 for a given gradient of out. All f32.

Usage: mingru.py torch | torch-compile | jax. Peers:
- `torch-eager`: a Python loop over steps, autograd.
- `torch-compile`: torch.compile (inductor, static shapes) of the same loop, unrolled. Each shape compiles in a child
  process with a limit on its time; long sequences exceed it, and the line then says so.
- `torch-log-scan`: the log-space parallel scan of Feng et al. 2024, "Were RNNs All We Needed?", appendix B: cumulative sum
  of log coefficients and logcumsumexp of log values. It has neither resets nor states <= 0, so it gets no `keep`: that is
  less work than ours.
- `torch-log-scan-compile`: the same through torch.compile.
- `jax-scan`: jitted lax.scan over time, everything of a step inside. `jax-scan-hoisted`: only the recurrence inside, the gates before and
  the highway after it, over the whole sequence. `jax-scan-time-major`: as `jax-scan` with inputs already laid out as
  (T, B, ...), which is kinder to it than what it is asked. `jax-associative`: jitted lax.associative_scan of the affine maps.
"""

import os
import subprocess
import sys
import time

import _common as common

SHAPES = [(64, 128, 256), (256, 64, 128), (8, 1024, 256), (1, 16384, 64)]
# Longer unrolled loops aren't tried: inductor's time grows faster than linearly with the number of steps.
COMPILE_STEPS_LIMIT = int(os.environ.get("PEER_COMPILE_STEPS_LIMIT", "256"))
COMPILE_SECONDS_LIMIT = int(os.environ.get("PEER_COMPILE_SECONDS_LIMIT", "300"))


def name(shape):
    return "x".join(map(str, shape))


def inputs(shape, seed=0):
    """The same data for everyone: normal projections and inputs, a reset about every 50 steps."""
    import numpy as np

    b, t, h = shape
    rng = np.random.default_rng(seed)
    combined = rng.standard_normal((b, t, 3 * h), dtype=np.float32)
    x = rng.standard_normal((b, t, h), dtype=np.float32)
    keep = (rng.random((b, t)) > 0.02).astype(np.float32)
    h0 = np.full((b, h), 0.5, np.float32)
    dout = rng.standard_normal((b, t, h), dtype=np.float32)
    return combined, x, keep, h0, dout


def reference(combined, x, keep, h0):
    """f64 numpy loop, against which every peer is checked before it is timed."""
    import numpy as np

    hidden, gate, proj = np.split(combined.astype(np.float64), 3, axis=2)
    sig = lambda v: 1 / (1 + np.exp(-v))
    z, p = sig(gate), sig(proj)
    g = np.where(hidden >= 0, hidden + 0.5, sig(hidden))
    h = h0.astype(np.float64)
    out = np.empty_like(z)
    for t in range(z.shape[1]):
        h = (1 - z[:, t]) * keep[:, t, None] * h + z[:, t] * g[:, t]
        out[:, t] = p[:, t] * h + (1 - p[:, t]) * x[:, t]
    return out


def check(out, data, keep=None, tolerance=1e-4):
    """The largest difference from the reference. The default tolerance is for f32 rounding of values of order 1."""
    import numpy as np

    combined, x, keep_data, h0, _ = data
    want = reference(combined, x, keep_data if keep is None else keep, h0)
    error = float(np.abs(np.asarray(out, np.float64) - want).max())
    assert error < tolerance, f"differs from the reference by {error}"
    return error


# --- PyTorch -------------------------------------------------------------------------------------------------------------


def torch_setup():
    import torch

    torch.set_num_threads(common.THREADS)
    return torch


def torch_loop(combined, x, keep, h0):
    import torch

    hidden, gate, proj = combined.chunk(3, dim=2)
    z = torch.sigmoid(gate)
    p = torch.sigmoid(proj)
    value = z * torch.where(hidden >= 0, hidden + 0.5, torch.sigmoid(hidden))
    coefficient = (1 - z) * keep.unsqueeze(2)
    h = h0
    states = []
    for a, b in zip(coefficient.unbind(1), value.unbind(1)):
        h = a * h + b
        states.append(h)
    return p * torch.stack(states, 1) + (1 - p) * x


def torch_log_scan(combined, x, h0):
    import torch
    import torch.nn.functional as F

    hidden, gate, proj = combined.chunk(3, dim=2)
    p = torch.sigmoid(proj)
    log_coefficient = -F.softplus(gate)  # log(1 - z)
    log_g = torch.where(hidden >= 0, (F.relu(hidden) + 0.5).log(), -F.softplus(-hidden))
    log_value = -F.softplus(-gate) + log_g  # log z + log g
    a_star = F.pad(log_coefficient.cumsum(1), (0, 0, 1, 0))
    values = torch.cat([h0.log().unsqueeze(1), log_value], 1)
    states = (a_star + torch.logcumsumexp(values - a_star, 1)).exp()[:, 1:]
    return p * states + (1 - p) * x


def torch_pair(torch, fn, data, with_keep):
    """(forward, forward and backward) closures over the tensors of `data`."""
    combined, x, keep, h0, dout = (torch.from_numpy(v) for v in data)
    for v in (combined, x, h0):
        v.requires_grad_(True)
    args = (combined, x, keep, h0) if with_keep else (combined, x, h0)

    def forward():
        with torch.no_grad():
            return fn(*args)

    def both():
        for v in (combined, x, h0):
            v.grad = None
        fn(*args).backward(dout)

    return forward, both


def torch_measure(torch, peer, fn, shape, with_keep, **extra):
    import numpy as np

    data = inputs(shape)
    forward, both = torch_pair(torch, fn, data, with_keep)
    start = time.perf_counter()
    out = forward()
    first_forward = time.perf_counter() - start
    if with_keep:
        error = check(out.numpy(), data)
    else:
        # The log-space scan subtracts cumulative sums that reach 10^4 at T = 16,384, where an f32 ulp is 10^-3.
        error = check(out.numpy(), data, np.ones(shape[:2]), tolerance=2e-2)
    start = time.perf_counter()
    both()
    first_both = time.perf_counter() - start
    if extra.pop("compiled", False):
        extra.update(compile_s=round(first_forward + first_both, 2), cached=extra.pop("cached"))
    extra.update(max_error=error)
    reps = dict(min_reps=3 if first_both > 1 else 5)
    common.emit_times(peer, "mingru_forward", name(shape), common.measure(forward, **reps), **extra)
    common.emit_times(peer, "mingru_forward_backward", name(shape), common.measure(both, **reps), **extra)


def torch_main():
    torch = torch_setup()
    for shape in SHAPES:
        common.say(f"mingru torch {name(shape)}")
        if shape[1] > 2000 and common.QUICK:
            common.not_run("torch-eager", "mingru_forward_backward", name(shape), "quick")
        else:
            torch_measure(torch, "torch-eager", torch_loop, shape, True)
        torch_measure(torch, "torch-log-scan", torch_log_scan, shape, False, note="no resets")


def torch_compile_main():
    """Each case in a child process: an endless compilation must not end the others."""
    for peer in ("torch-compile", "torch-log-scan-compile"):
        for shape in SHAPES:
            common.say(f"mingru {peer} {name(shape)}")
            missing = None
            if peer == "torch-compile" and shape[1] > COMPILE_STEPS_LIMIT:
                missing = f"compile > {COMPILE_SECONDS_LIMIT} s ({shape[1]} unrolled steps; not tried above {COMPILE_STEPS_LIMIT})"
            else:
                command = [sys.executable, __file__, "compile-one", peer, name(shape)]
                try:
                    subprocess.run(command, timeout=COMPILE_SECONDS_LIMIT, check=True)
                except subprocess.TimeoutExpired:
                    missing = f"compile > {COMPILE_SECONDS_LIMIT} s"
                except subprocess.CalledProcessError as failure:
                    missing = f"failed with status {failure.returncode}"
            if missing:
                for task in ("mingru_forward", "mingru_forward_backward"):
                    common.not_run(peer, task, name(shape), missing)


def torch_compile_one(peer, shape):
    torch = torch_setup()
    with_keep = peer == "torch-compile"
    fn = torch.compile(torch_loop if with_keep else torch_log_scan, dynamic=False, fullgraph=True)
    # Inductor keeps what it compiled; a time of compilation with a warm cache isn't one.
    done = os.path.join(os.environ.get("TORCHINDUCTOR_CACHE_DIR", "/nowhere"), f"{peer}-{name(shape)}.done")
    torch_measure(torch, peer, fn, shape, with_keep, compiled=True, cached=os.path.exists(done))
    if os.path.isdir(os.path.dirname(done)):
        open(done, "w").close()


# --- JAX -----------------------------------------------------------------------------------------------------------------


def jax_main():
    import jax
    import jax.numpy as jnp
    from jax import lax

    def gates(combined):
        hidden, gate, proj = jnp.split(combined, 3, axis=-1)
        z = jax.nn.sigmoid(gate)
        g = jnp.where(hidden >= 0, hidden + 0.5, jax.nn.sigmoid(hidden))
        return z, g, jax.nn.sigmoid(proj)

    def time_major(combined, x, keep, h0):
        def step(h, inputs):
            combined, x, keep = inputs
            z, g, p = gates(combined)
            h = (1 - z) * keep[:, None] * h + z * g
            return h, p * h + (1 - p) * x

        return lax.scan(step, h0, (combined, x, keep))[1]

    def scan(combined, x, keep, h0):
        swap = lambda v: jnp.swapaxes(v, 0, 1)
        return swap(time_major(swap(combined), swap(x), swap(keep), h0))

    def scan_hoisted(combined, x, keep, h0):
        z, g, p = gates(combined)
        a, b = jnp.swapaxes((1 - z) * keep[:, :, None], 0, 1), jnp.swapaxes(z * g, 0, 1)

        def step(h, inputs):
            h = inputs[0] * h + inputs[1]
            return h, h

        return p * jnp.swapaxes(lax.scan(step, h0, (a, b))[1], 0, 1) + (1 - p) * x

    def associative(combined, x, keep, h0):
        z, g, p = gates(combined)
        a = (1 - z) * keep[:, :, None]
        b = (z * g).at[:, 0].add(a[:, 0] * h0)

        def join(first, second):
            return first[0] * second[0], second[0] * first[1] + second[1]

        h = lax.associative_scan(join, (a, b), axis=1)[1]
        return p * h + (1 - p) * x

    peers = {
        "jax-scan": scan,
        "jax-scan-hoisted": scan_hoisted,
        "jax-scan-time-major": time_major,
        "jax-associative": associative,
    }
    for shape in SHAPES:
        data = inputs(shape)
        for peer, fn in peers.items():
            common.say(f"mingru {peer} {name(shape)}")
            combined, x, keep, h0, dout = (jnp.asarray(v) for v in data)
            if fn is time_major:
                combined, x, keep, dout = (jnp.swapaxes(v, 0, 1) for v in (combined, x, keep, dout))

            def both(combined, x, keep, h0, dout, fn=fn):
                out, pull = jax.vjp(lambda c, x, h: fn(c, x, keep, h), combined, x, h0)
                return out, pull(dout)

            start = time.perf_counter()
            forward = jax.jit(fn).lower(combined, x, keep, h0).compile()
            both = jax.jit(both).lower(combined, x, keep, h0, dout).compile()
            compile_s = round(time.perf_counter() - start, 2)
            out = forward(combined, x, keep, h0)
            error = check(jnp.swapaxes(out, 0, 1) if fn is time_major else out, data)
            extra = dict(compile_s=compile_s, max_error=error)
            times = common.measure(lambda: forward(combined, x, keep, h0).block_until_ready())
            common.emit_times(peer, "mingru_forward", name(shape), times, **extra)
            times = common.measure(lambda: jax.block_until_ready(both(combined, x, keep, h0, dout)))
            common.emit_times(peer, "mingru_forward_backward", name(shape), times, **extra)


if __name__ == "__main__":
    what = sys.argv[1] if len(sys.argv) > 1 else "torch"
    if what == "torch":
        torch_main()
    elif what == "torch-compile":
        torch_compile_main()
    elif what == "compile-one":
        torch_compile_one(sys.argv[2], tuple(map(int, sys.argv[3].split("x"))))
    elif what == "jax":
        jax_main()
    else:
        sys.exit(__doc__)
