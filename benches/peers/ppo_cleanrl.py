"""CleanRL-style PPO on CartPole-v1: one file of PyTorch over Gymnasium's SyncVectorEnv; own code.

Recipe: CleanRL's ppo.py (Huang et al. 2022, "The 37 Implementation Details of PPO"): separate actor and critic of two hidden
layers of 64, tanh, orthogonal initialisation, Adam eps 1e-5, annealed rate, GAE 0.99 / 0.95, clip 0.2, value clipping,
normalised advantages, value coefficient 0.5, entropy 0.01, gradient clipping 0.5. 64 environments x 128 steps, 4 epochs x 4
minibatches. As there, an episode cut at 500 steps counts as ended.

Speed: environment steps per second of whole iterations, at the published rate. Solve: a rate that suits so large a batch; after
each iteration greedy evaluation over 100 episodes, whose time is counted apart.

Usage: ppo_cleanrl.py speed|solve|both
"""

import statistics
import sys
import time

import _common as common

import gymnasium
import torch
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from torch import nn
from torch.distributions import Categorical

ENVS, STEPS, EPOCHS, MINIBATCHES = common.ENVS, common.STEPS, common.EPOCHS, common.MINIBATCHES
BATCH = ENVS * STEPS
GAMMA, LAMBDA, CLIP, VALUE, ENTROPY, NORM = 0.99, 0.95, 0.2, 0.5, 0.01, 0.5
PEER = "cleanrl"
MAX_UPDATES = 60


def layer(fan_in, fan_out, scale=2.0**0.5):
    linear = nn.Linear(fan_in, fan_out)
    nn.init.orthogonal_(linear.weight, scale)
    nn.init.zeros_(linear.bias)
    return linear


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.critic = nn.Sequential(layer(4, 64), nn.Tanh(), layer(64, 64), nn.Tanh(), layer(64, 1, 1.0))
        self.actor = nn.Sequential(layer(4, 64), nn.Tanh(), layer(64, 64), nn.Tanh(), layer(64, 2, 0.01))

    def forward(self, obs, action=None):
        policy = Categorical(logits=self.actor(obs))
        if action is None:
            action = policy.sample()
        return action, policy.log_prob(action), policy.entropy(), self.critic(obs).squeeze(-1)


class Run:
    """A run that goes on one iteration at a time."""

    def __init__(self, seed, rate, horizon):
        torch.manual_seed(seed)
        self.envs = SyncVectorEnv(
            [lambda: gymnasium.make("CartPole-v1")] * ENVS, autoreset_mode=AutoresetMode.SAME_STEP
        )
        self.agent = Agent()
        self.optimizer = torch.optim.Adam(self.agent.parameters(), lr=rate, eps=1e-5)
        self.rate, self.horizon, self.iteration = rate, horizon, 0
        self.next_obs = torch.tensor(self.envs.reset(seed=seed)[0])
        self.next_done = torch.zeros(ENVS)
        self.obs = torch.zeros(STEPS, ENVS, 4)
        self.actions = torch.zeros(STEPS, ENVS, dtype=torch.long)
        self.logs, self.rewards, self.dones, self.values = (torch.zeros(STEPS, ENVS) for _ in range(4))

    def step(self):
        self.optimizer.param_groups[0]["lr"] = self.rate * max(1 - self.iteration / self.horizon, 0.1)
        self.iteration += 1
        self.rollout()
        self.learn(self.advantages())

    def rollout(self):
        for t in range(STEPS):
            self.obs[t], self.dones[t] = self.next_obs, self.next_done
            with torch.no_grad():
                action, self.logs[t], _, self.values[t] = self.agent(self.next_obs)
            self.actions[t] = action
            obs, reward, terminated, truncated, _ = self.envs.step(action.numpy())
            self.rewards[t] = torch.as_tensor(reward, dtype=torch.float32)
            self.next_obs = torch.tensor(obs)
            self.next_done = torch.as_tensor(terminated | truncated, dtype=torch.float32)

    @torch.no_grad()
    def advantages(self):
        advantages = torch.zeros_like(self.rewards)
        next_value, done, carry = self.agent.critic(self.next_obs).squeeze(-1), self.next_done, 0.0
        for t in reversed(range(STEPS)):
            delta = self.rewards[t] + GAMMA * next_value * (1 - done) - self.values[t]
            advantages[t] = carry = delta + GAMMA * LAMBDA * (1 - done) * carry
            next_value, done = self.values[t], self.dones[t]
        return advantages

    def learn(self, advantages):
        returns = (advantages + self.values).flatten()
        advantages, obs, actions = advantages.flatten(), self.obs.reshape(BATCH, 4), self.actions.flatten()
        logs, values = self.logs.flatten(), self.values.flatten()
        for _ in range(EPOCHS):
            for picked in torch.randperm(BATCH).chunk(MINIBATCHES):
                _, log, entropy, value = self.agent(obs[picked], actions[picked])
                ratio = (log - logs[picked]).exp()
                advantage = advantages[picked]
                advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
                policy_loss = torch.max(-advantage * ratio, -advantage * ratio.clamp(1 - CLIP, 1 + CLIP)).mean()
                clipped = values[picked] + (value - values[picked]).clamp(-CLIP, CLIP)
                target = returns[picked]
                value_loss = 0.5 * torch.max((value - target) ** 2, (clipped - target) ** 2).mean()
                loss = policy_loss + VALUE * value_loss - ENTROPY * entropy.mean()
                self.optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.agent.parameters(), NORM)
                self.optimizer.step()

    @torch.no_grad()
    def greedy(self, obs):
        return self.agent.actor(torch.from_numpy(obs)).argmax(1).numpy()


def speed():
    common.say("cleanrl speed")
    run = Run(0, 2.5e-4, 1000)
    times = common.measure(run.step, warmup=1, budget_s=2.0 if common.QUICK else 6.0, min_reps=3)
    median = statistics.median(times)
    common.emit(
        PEER, "ppo_speed", common.PPO_SHAPE, median_s=median, min_s=min(times), unit="steps/s", value=BATCH / median
    )


def solve(seeds=3):
    rows = []
    for seed in range(1 if common.QUICK else seeds):
        run = Run(seed, 2.5e-3, MAX_UPDATES)
        wall = eval_s = score = 0.0
        while score < common.SOLVED and run.iteration < MAX_UPDATES:
            start = time.perf_counter()
            run.step()
            wall += time.perf_counter() - start
            start = time.perf_counter()
            score = common.evaluate(run.greedy)
            eval_s += time.perf_counter() - start
        row = dict(seed=seed, solved=score >= common.SOLVED, score=score, wall_s=wall, steps=run.iteration * BATCH)
        row.update(eval_s=eval_s, compile_s=0.0)
        common.say(f"cleanrl {row}")
        rows.append(row)
    common.emit_solve(PEER, rows)


if __name__ == "__main__":
    torch.set_num_threads(common.THREADS)
    mode = sys.argv[1] if len(sys.argv) > 1 else "both"
    if mode in ("speed", "both"):
        speed()
    if mode in ("solve", "both"):
        solve()
