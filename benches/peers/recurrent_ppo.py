"""Recurrent PPO on CartPole-v1: speed of the whole loop.

`sb3`: SB3-contrib's RecurrentPPO, MlpLstmPolicy, LSTM hidden size 64, 64 environments (DummyVecEnv) x 128 steps, 4 epochs x 4
minibatches; separate LSTMs for actor and critic and heads of two layers of 64, its defaults (`sb3-contrib`), and one LSTM
shared by both with a single linear head, its fastest setting and the nearest to one minGRU layer (`sb3-contrib-shared`).

`puffer`: PufferLib 3.0's LSTM PPO (its `PuffeRL` trainer, `Default` policy under `LSTMWrapper`, both of hidden size 128, Muon
optimizer, V-trace GAE, prioritized segments, one epoch), on its own C CartPole. Settings are its config/default.ini and
config/ocean/cartpole.ini. `pufferlib`: 64 environments x horizon 128, minibatches of 2,048. `pufferlib-published`: 4,096
environments x horizon 64, minibatches of 32,768, as published. It needs `setup_pufferlib.py` to have built it, and is not
run otherwise.

Usage: recurrent_ppo.py sb3|puffer
"""

import contextlib
import os
import statistics
import sys
import tempfile
import warnings

import _common as common

import torch

ENVS, STEPS = common.ENVS, common.STEPS


def emit(peer, batch, times, shape, **extra):
    median = statistics.median(times)
    common.emit(
        peer,
        "recurrent_ppo_speed",
        shape,
        median_s=median,
        min_s=min(times),
        unit="steps/s",
        value=batch / median,
        **extra,
    )


def sb3():
    import gymnasium
    from sb3_contrib import RecurrentPPO
    from stable_baselines3.common.vec_env import DummyVecEnv

    from ppo_sb3 import Iterations

    batch = ENVS * STEPS
    shared = dict(lstm_hidden_size=64, shared_lstm=True, enable_critic_lstm=False, net_arch=[])
    for peer, policy in (("sb3-contrib", dict(lstm_hidden_size=64)), ("sb3-contrib-shared", shared)):
        common.say(f"recurrent_ppo {peer}")
        iterations = 1 if common.QUICK else 3
        callback = Iterations()
        model = RecurrentPPO(
            "MlpLstmPolicy",
            DummyVecEnv([lambda: gymnasium.make("CartPole-v1")] * ENVS),
            n_steps=STEPS,
            batch_size=batch // common.MINIBATCHES,
            n_epochs=common.EPOCHS,
            policy_kwargs=policy,
            seed=0,
            device="cpu",
        )
        # A callback sees an iteration end when the next rollout starts, so one more rollout begins than is timed.
        callback.stop_after = iterations + 1
        callback.after = lambda _, callback=callback: len(callback.seconds) >= callback.stop_after
        model.learn(batch * (iterations + 4), callback=callback)
        emit(peer, batch, callback.seconds[1:], "64x128 e4 m4 hidden 64")


def puffer():
    site = os.path.join(os.path.dirname(os.path.abspath(__file__)), ".venv", "pufferlib")
    sys.path[:0] = [os.environ.get("PEER_PUFFERLIB", os.path.join(site, "source")), os.path.join(site, "deps")]
    shapes = {
        "pufferlib": (64, 128, 2048, "64x128 e1 m4 hidden 128"),
        "pufferlib-published": (4096, 64, 32768, "4096x64 e1 m8 hidden 128"),
    }
    folder = tempfile.mkdtemp()
    os.chdir(folder)  # importing it leaves a link to its resources in the working folder
    try:
        import pufferlib.models
        import pufferlib.vector
        from pufferlib.ocean.cartpole.cartpole import Cartpole

        with warnings.catch_warnings():
            from pufferlib import pufferl
        warnings.resetwarnings()
        warnings.simplefilter("ignore")
    except Exception as error:  # whatever its import meets here, the reason belongs in the table
        for peer, (_, _, _, shape) in shapes.items():
            common.not_run(peer, "recurrent_ppo_speed", shape, f"{type(error).__name__}: {error}")
        return

    class Silent(pufferl.PuffeRL):
        """Its dashboard would draw over the terminal; a user's terminal pays for it, we don't count it."""

        def print_dashboard(self, *args, **kwargs):
            pass

    for peer, (envs, horizon, minibatch, shape) in shapes.items():
        if common.QUICK and peer == "pufferlib-published":
            common.not_run(peer, "recurrent_ppo_speed", shape, "quick")
            continue
        common.say(f"recurrent_ppo {peer}")
        with contextlib.redirect_stdout(sys.stderr):
            vecenv = pufferlib.vector.make(Cartpole, env_kwargs=dict(num_envs=envs), backend=pufferlib.vector.Serial, num_envs=1)
            policy = pufferlib.models.Default(vecenv.driver_env, hidden_size=128)
            policy = pufferlib.models.LSTMWrapper(vecenv.driver_env, policy, input_size=128, hidden_size=128)
            batch = envs * horizon
            config = dict(
                env="puffer_cartpole",
                seed=42,
                torch_deterministic=True,
                cpu_offload=False,
                device="cpu",
                optimizer="muon",
                anneal_lr=True,
                precision="float32",
                total_timesteps=batch * 1000,
                learning_rate=0.05,
                gamma=0.95,
                gae_lambda=0.90,
                update_epochs=1,
                clip_coef=0.2,
                vf_coef=2.0,
                vf_clip_coef=0.2,
                max_grad_norm=1.5,
                ent_coef=0.001,
                adam_beta1=0.95,
                adam_beta2=0.999,
                adam_eps=1e-12,
                data_dir=folder,
                checkpoint_interval=100_000,
                batch_size="auto",
                minibatch_size=minibatch,
                max_minibatch_size=32768,
                bptt_horizon=horizon,
                compile=False,
                compile_mode="default",
                compile_fullgraph=True,
                vtrace_rho_clip=1.0,
                vtrace_c_clip=1.0,
                prio_alpha=0.8,
                prio_beta0=0.2,
                use_rnn=True,
            )
            trainer = Silent(config, vecenv, policy)

            def step():
                trainer.evaluate()
                trainer.train()

            times = common.measure(step, warmup=1, budget_s=3.0 if common.QUICK else 8.0, min_reps=2)
            trainer.close()
        emit(peer, batch, times, shape)


if __name__ == "__main__":
    torch.set_num_threads(common.THREADS)
    what = sys.argv[1] if len(sys.argv) > 1 else "sb3"
    {"sb3": sb3, "puffer": puffer}[what]()
