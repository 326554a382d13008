"""Stable-Baselines3 PPO on CartPole-v1 (Gymnasium), MlpPolicy: separate actor and critic of two hidden layers of 64, tanh.

64 environments (DummyVecEnv) x 128 steps, 4 epochs x 4 minibatches of 2,048. Hyperparameters: SB3's defaults (clip 0.2,
GAE 0.99 / 0.95, value coefficient 0.5, gradient clipping 0.5, no entropy term, Adam eps 1e-5) with a rate that suits so
large a batch, falling linearly; RL Baselines3 Zoo too anneals rate and clip for CartPole.

Speed: environment steps per second of whole iterations (rollout and learning) of `learn`. Solve: after each iteration greedy
evaluation over 100 episodes, whose time is counted apart.

Usage: ppo_sb3.py speed|solve|both
"""

import statistics
import sys
import time

import _common as common

import gymnasium
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import DummyVecEnv

BATCH = common.ENVS * common.STEPS
PEER = "sb3"
MAX_UPDATES = 60


class Iterations(BaseCallback):
    """Notes when each rollout starts; between two of them lies one whole iteration. `after(model)` may end the run."""

    def __init__(self, after=None):
        super().__init__()
        self.after, self.seconds, self.eval_s, self.stopped, self.mark = after, [], 0.0, False, None

    def _on_rollout_start(self):
        now = time.perf_counter()
        if self.mark is not None:
            self.seconds.append(now - self.mark)
            if self.after:
                self.stopped = self.after(self.model)
                self.eval_s += time.perf_counter() - now
        self.mark = time.perf_counter()

    def _on_step(self):
        return not self.stopped


def model(seed):
    envs = DummyVecEnv([lambda: gymnasium.make("CartPole-v1")] * common.ENVS)
    rate = lambda left: 2.5e-3 * max(left, 0.1)
    return PPO(
        "MlpPolicy",
        envs,
        learning_rate=rate,
        n_steps=common.STEPS,
        batch_size=BATCH // common.MINIBATCHES,
        n_epochs=common.EPOCHS,
        seed=seed,
        device="cpu",
    )


def speed():
    common.say("sb3 speed")
    iterations = 3 if common.QUICK else 5
    callback = Iterations()
    model(0).learn(BATCH * (iterations + 2), callback=callback)
    times = callback.seconds[1:]
    median = statistics.median(times)
    common.emit(
        PEER, "ppo_speed", common.PPO_SHAPE, median_s=median, min_s=min(times), unit="steps/s", value=BATCH / median
    )


def solve(seeds=3):
    rows = []
    for seed in range(1 if common.QUICK else seeds):
        scores = []

        def after(model):
            with torch.no_grad():
                greedy = lambda obs: model.policy._predict(torch.from_numpy(obs), deterministic=True).numpy()
                scores.append(common.evaluate(greedy))
            return scores[-1] >= common.SOLVED

        callback = Iterations(after)
        model(seed).learn(BATCH * (MAX_UPDATES + 1), callback=callback)
        row = dict(seed=seed, solved=callback.stopped, score=scores[-1], wall_s=sum(callback.seconds))
        row.update(steps=len(scores) * BATCH, eval_s=callback.eval_s, compile_s=0.0)
        common.say(f"sb3 {row}")
        rows.append(row)
    common.emit_solve(PEER, rows)


if __name__ == "__main__":
    torch.set_num_threads(common.THREADS)
    mode = sys.argv[1] if len(sys.argv) > 1 else "both"
    if mode in ("speed", "both"):
        speed()
    if mode in ("solve", "both"):
        solve()
