"""What every peer script shares: threads, timing, JSON lines, and a CartPole to evaluate policies on.

Import this before numpy, torch or jax: it sets the thread counts that those read when they load. `PEER_THREADS` (default
1) is the number of threads. `PEER_QUICK=1` shortens every measurement.
"""

import json
import os
import statistics
import sys
import time

THREADS = int(os.environ.get("PEER_THREADS", "1"))
QUICK = os.environ.get("PEER_QUICK", "0") == "1"

for _name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_name] = str(THREADS)
if THREADS == 1:
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.setdefault("JAX_ENABLE_X64", "0")


def emit(peer, task, shape, *, median_s=None, min_s=None, unit="s", value=None, **extra):
    """Print one result as a JSON line. `value` is the figure to compare, in `unit`; by default the median in seconds."""
    row = {"peer": peer, "task": task, "shape": shape, "threads": THREADS, "median_s": median_s, "min_s": min_s}
    row["unit"] = unit
    row["value"] = median_s if value is None else value
    row.update(extra)
    print(json.dumps(row), flush=True)


def not_run(peer, task, shape, why):
    """Print that a case was left out, and why: a hole in the table must explain itself."""
    emit(peer, task, shape, unit="not run", note=f"not run: {why}")


def measure(fn, *, warmup=2, budget_s=None, min_reps=5, max_reps=400):
    """Seconds of each call of `fn`, after `warmup` calls: as many as fit in `budget_s`, at least `min_reps`.

    `fn` must wait for its own result (`block_until_ready` for JAX).
    """
    if budget_s is None:
        budget_s = 0.7 if QUICK else 1.5
    for _ in range(warmup):
        fn()
    times = []
    deadline = time.perf_counter() + budget_s
    while len(times) < min_reps or (time.perf_counter() < deadline and len(times) < max_reps):
        start = time.perf_counter()
        fn()
        times.append(time.perf_counter() - start)
    return times


def emit_times(peer, task, shape, times, **extra):
    """Print the median and the minimum of `times`."""
    emit(peer, task, shape, median_s=statistics.median(times), min_s=min(times), reps=len(times), **extra)


def say(text):
    """Progress for a person, on standard error."""
    print(text, file=sys.stderr, flush=True)


# CartPole-v1 (Barto, Sutton and Anderson 1983, as in Gymnasium: explicit Euler, tau 0.02 s, limit 500 steps).
GRAVITY, CART, POLE, HALF_LENGTH, FORCE, TAU = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02
X_LIMIT, THETA_LIMIT, STEP_LIMIT = 2.4, 12 * 2 * 3.141592653589793 / 360, 500


def evaluate(act, episodes=100, seed=12345):
    """Mean return of `episodes` CartPole-v1 episodes played side by side, actions from `act(observations (N, 4) f32)`.

    Written over numpy arrays, so that a hundred episodes take milliseconds and no peer pays for a slow evaluation. Each
    episode is played to its own first end; those that ended are carried along without counting.
    """
    import numpy as np

    state = np.random.default_rng(seed).uniform(-0.05, 0.05, (episodes, 4))
    alive = np.ones(episodes, bool)
    returns = np.zeros(episodes)
    for _ in range(STEP_LIMIT):
        action = np.asarray(act(state.astype(np.float32)))
        x, x_dot, theta, theta_dot = state.T
        force = np.where(action == 1, FORCE, -FORCE)
        cos, sin = np.cos(theta), np.sin(theta)
        total = CART + POLE
        temp = (force + POLE * HALF_LENGTH * theta_dot**2 * sin) / total
        theta_acc = (GRAVITY * sin - cos * temp) / (HALF_LENGTH * (4.0 / 3.0 - POLE * cos**2 / total))
        x_acc = temp - POLE * HALF_LENGTH * theta_acc * cos / total
        state = np.stack([x + TAU * x_dot, x_dot + TAU * x_acc, theta + TAU * theta_dot, theta_dot + TAU * theta_acc], 1)
        returns += alive
        alive &= (np.abs(state[:, 0]) <= X_LIMIT) & (np.abs(state[:, 2]) <= THETA_LIMIT)
        state[~alive] = 0.0
        if not alive.any():
            break
    return float(returns.mean())


SOLVED = 475.0
ENVS, STEPS, EPOCHS, MINIBATCHES = 64, 128, 4, 4
PPO_SHAPE = "64x128 e4 m4 h64,64"


def emit_solve(peer, seed_rows, **extra):
    """Print the time to solve of every seed, and their median. A row: seed, solved, wall_s, steps, eval_s, compile_s."""
    for row in seed_rows:
        emit(peer, "ppo_solve_seed", f"seed {row['seed']}", value=row["wall_s"] if row["solved"] else None, **row, **extra)
    solved = [row for row in seed_rows if row["solved"]]
    if len(solved) == len(seed_rows):
        emit(
            peer,
            "ppo_solve",
            PPO_SHAPE,
            median_s=statistics.median(row["wall_s"] for row in solved),
            min_s=min(row["wall_s"] for row in solved),
            steps=statistics.median(row["steps"] for row in solved),
            compile_s=statistics.median(row["compile_s"] for row in solved),
            seeds=len(solved),
            **extra,
        )
    else:
        not_run(peer, "ppo_solve", PPO_SHAPE, f"only {len(solved)} of {len(seed_rows)} seeds solved it")
