"""PureJaxRL-style PPO on CartPole-v1: environment, rollout and update in one jitted program.

Recipe: PureJaxRL (Lu et al. 2022, "Discovered Policy Optimisation"), PPO with separate actor and critic of two hidden
layers of 64, tanh, orthogonal initialisation, Adam (eps 1e-5), clipping of the gradient at 0.5, GAE 0.99 / 0.95, clip 0.2,
value clipping, value coefficient 0.5, entropy 0.01, learning rate 2.5e-4; own code. The environment is CartPole from its
published equations (Barto, Sutton and Anderson 1983) with Gymnasium v1's limits, f32, reset in the same step; as in
PureJaxRL an episode cut at 500 steps counts as ended. 64 environments x 128 steps, 4 epochs x 4 minibatches.

Peers: `purejaxrl` (separate nets, published rate), `purejaxrl-shared` (one trunk for actor and critic, which is exactly
Lockstep's architecture), `purejaxrl-tuned` and `purejaxrl-shared-tuned` (a higher, linearly falling rate, and less entropy: it solves
CartPole in fewer steps with batches this large).

Speed: whole updates (rollout and learning) inside one jitted scan of 10, compilation reported apart. Solve: an update at a
time; after each, greedy evaluation over 100 episodes, whose time is counted apart.

Usage: ppo_jax.py speed|solve|both
"""

import statistics
import sys
import time
from functools import partial

import _common as common

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax

ENVS, STEPS, EPOCHS, MINIBATCHES = common.ENVS, common.STEPS, common.EPOCHS, common.MINIBATCHES
BATCH = ENVS * STEPS
GAMMA, LAMBDA, CLIP, VALUE, NORM = 0.99, 0.95, 0.2, 0.5, 0.5

# name: (shared trunk, learning rate, does it fall to zero, over how many updates, entropy coefficient)
VARIANTS = {
    "purejaxrl": (False, 2.5e-4, False, 100, 0.01),
    "purejaxrl-shared": (True, 2.5e-4, False, 100, 0.01),
    "purejaxrl-tuned": (False, 2.5e-3, True, 60, 0.0),
    "purejaxrl-shared-tuned": (True, 2.5e-3, True, 60, 0.0),
}
MAX_UPDATES = 150


# --- CartPole ------------------------------------------------------------------------------------------------------------


def env_reset(key, count):
    return jax.random.uniform(key, (count, 4), minval=-0.05, maxval=0.05), jnp.zeros(count, jnp.int32)


def env_physics(state, action):
    x, x_dot, theta, theta_dot = state[:, 0], state[:, 1], state[:, 2], state[:, 3]
    force = jnp.where(action == 1, common.FORCE, -common.FORCE)
    cos, sin = jnp.cos(theta), jnp.sin(theta)
    total, moment = common.CART + common.POLE, common.POLE * common.HALF_LENGTH
    temp = (force + moment * theta_dot**2 * sin) / total
    theta_acc = (common.GRAVITY * sin - cos * temp) / (common.HALF_LENGTH * (4.0 / 3.0 - common.POLE * cos**2 / total))
    x_acc = temp - moment * theta_acc * cos / total
    rates = jnp.stack([x_dot, x_acc, theta_dot, theta_acc], axis=1)
    state = state + common.TAU * rates
    fallen = (jnp.abs(state[:, 0]) > common.X_LIMIT) | (jnp.abs(state[:, 2]) > common.THETA_LIMIT)
    return state, fallen


def env_step(key, env, action):
    state, age = env
    state, fallen = env_physics(state, action)
    age = age + 1
    done = fallen | (age >= common.STEP_LIMIT)
    fresh, _ = env_reset(key, state.shape[0])
    return (jnp.where(done[:, None], fresh, state), jnp.where(done, 0, age)), jnp.ones(state.shape[0]), done


# --- Network -------------------------------------------------------------------------------------------------------------


def dense_init(key, fan_in, fan_out, scale):
    return jax.nn.initializers.orthogonal(scale)(key, (fan_in, fan_out)), jnp.zeros(fan_out)


def net_init(key, shared):
    keys = jax.random.split(key, 6)
    root = 2.0**0.5
    params = {
        "a1": dense_init(keys[0], 4, 64, root),
        "a2": dense_init(keys[1], 64, 64, root),
        "logits": dense_init(keys[2], 64, 2, 0.01),
        "value": dense_init(keys[5], 64, 1, 1.0),
    }
    if not shared:
        params |= {"c1": dense_init(keys[3], 4, 64, root), "c2": dense_init(keys[4], 64, 64, root)}
    return params


def net_apply(params, obs):
    dense = lambda layer, v: v @ params[layer][0] + params[layer][1]
    actor = jnp.tanh(dense("a2", jnp.tanh(dense("a1", obs))))
    critic = jnp.tanh(dense("c2", jnp.tanh(dense("c1", obs)))) if "c1" in params else actor
    return jax.nn.log_softmax(dense("logits", actor)), dense("value", critic)[:, 0]


# --- PPO -----------------------------------------------------------------------------------------------------------------


def loss_fn(params, batch, entropy_coefficient):
    obs, action, old_log, old_value, advantage, target = batch
    logs, value = net_apply(params, obs)
    log = jnp.take_along_axis(logs, action[:, None], 1)[:, 0]
    clipped = old_value + jnp.clip(value - old_value, -CLIP, CLIP)
    value_loss = 0.5 * jnp.maximum((value - target) ** 2, (clipped - target) ** 2).mean()
    ratio = jnp.exp(log - old_log)
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    actor_loss = -jnp.minimum(ratio * advantage, jnp.clip(ratio, 1 - CLIP, 1 + CLIP) * advantage).mean()
    entropy = -(jnp.exp(logs) * logs).sum(1).mean()
    return actor_loss + VALUE * value_loss - entropy_coefficient * entropy


class Ppo:
    """The jitted programs of one variant."""

    def __init__(self, variant):
        self.shared, rate, falls, horizon, self.entropy = VARIANTS[variant]
        if falls:
            rate = optax.linear_schedule(rate, 0.1 * rate, horizon * EPOCHS * MINIBATCHES)
        self.optimizer = optax.chain(optax.clip_by_global_norm(NORM), optax.adam(rate, eps=1e-5))

    @partial(jax.jit, static_argnums=0)
    def init(self, key):
        key, net_key, env_key = jax.random.split(key, 3)
        params = net_init(net_key, self.shared)
        return params, self.optimizer.init(params), env_reset(env_key, ENVS), key

    def update(self, run, _):
        params, opt_state, env, key = run

        def act(carry, _):
            env, key = carry
            key, action_key, env_key = jax.random.split(key, 3)
            obs = env[0]
            logs, value = net_apply(params, obs)
            action = jax.random.categorical(action_key, logs)
            log = jnp.take_along_axis(logs, action[:, None], 1)[:, 0]
            env, reward, done = env_step(env_key, env, action)
            return (env, key), (obs, action, log, value, reward, done)

        (env, key), (obs, action, log, value, reward, done) = lax.scan(act, (env, key), None, STEPS)
        _, last_value = net_apply(params, env[0])

        def gae(carry, inputs):
            advantage, next_value = carry
            reward, value, done = inputs
            alive = 1.0 - done
            advantage = reward + GAMMA * next_value * alive - value + GAMMA * LAMBDA * alive * advantage
            return (advantage, value), advantage

        start = (jnp.zeros(ENVS), last_value)
        _, advantage = lax.scan(gae, start, (reward, value, done.astype(jnp.float32)), reverse=True)
        batch = (obs, action, log, value, advantage, advantage + value)
        batch = jax.tree.map(lambda v: v.reshape((BATCH,) + v.shape[2:]), batch)

        def minibatch(carry, data):
            params, opt_state = carry
            grads = jax.grad(loss_fn)(params, data, self.entropy)
            updates, opt_state = self.optimizer.update(grads, opt_state, params)
            return (optax.apply_updates(params, updates), opt_state), None

        def epoch(carry, key):
            order = jax.random.permutation(key, BATCH)
            shuffle = lambda v: jnp.take(v, order, axis=0).reshape((MINIBATCHES, BATCH // MINIBATCHES) + v.shape[1:])
            return lax.scan(minibatch, carry, jax.tree.map(shuffle, batch))

        key, epoch_key = jax.random.split(key)
        (params, opt_state), _ = lax.scan(epoch, (params, opt_state), jax.random.split(epoch_key, EPOCHS))
        return (params, opt_state, env, key), None

    @partial(jax.jit, static_argnums=(0, 2))
    def train(self, run, updates):
        return lax.scan(self.update, run, None, updates)[0]


@jax.jit
def greedy(params, obs):
    return net_apply(params, obs)[0].argmax(1)


def speed(variant):
    common.say(f"{variant} speed")
    updates = 5 if common.QUICK else 10
    ppo = Ppo(variant)
    run = jax.block_until_ready(ppo.init(jax.random.key(0)))
    start = time.perf_counter()
    train = ppo.train.lower(ppo, run, updates).compile()
    compile_s = time.perf_counter() - start

    def step():
        nonlocal run
        run = jax.block_until_ready(train(run))

    times = common.measure(step, warmup=1, budget_s=2.0 if common.QUICK else 6.0, min_reps=5)
    median = statistics.median(times) / updates
    common.emit(
        variant,
        "ppo_speed",
        common.PPO_SHAPE,
        median_s=median,
        min_s=min(times) / updates,
        unit="steps/s",
        value=BATCH / median,
        compile_s=round(compile_s, 2),
    )


def solve(variant, seeds=3):
    rows = []
    ppo = Ppo(variant)
    for seed in range(1 if common.QUICK else seeds):
        jax.clear_caches()  # every seed pays for compilation as a person would, and it is reported apart
        start = time.perf_counter()
        run = ppo.init(jax.random.key(seed))
        ppo_train = ppo.train.lower(ppo, run, 1).compile()
        jax.block_until_ready(run)
        compile_s = time.perf_counter() - start
        wall = eval_s = 0.0
        score, updates, solved = 0.0, 0, False
        while updates < MAX_UPDATES and not solved:
            start = time.perf_counter()
            run = jax.block_until_ready(ppo_train(run))
            wall += time.perf_counter() - start
            updates += 1
            start = time.perf_counter()
            score = common.evaluate(lambda obs: greedy(run[0], obs))
            eval_s += time.perf_counter() - start
            solved = score >= common.SOLVED
        row = dict(seed=seed, solved=solved, score=score, wall_s=wall, steps=updates * BATCH, eval_s=eval_s, compile_s=compile_s)
        common.say(f"{variant} {row}")
        rows.append(row)
    common.emit_solve(variant, rows)


if __name__ == "__main__":
    mode = sys.argv[1] if len(sys.argv) > 1 else "both"
    for variant in VARIANTS:
        if mode in ("speed", "both") and not variant.endswith("-tuned"):
            speed(variant)
        if mode in ("solve", "both"):
            solve(variant)
