//! A run: configuration, environments, learner and plan together.

use std::collections::VecDeque;
use std::path::Path;

use linalg::Par;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::config::Config;
use crate::env::{Env, Episode, Spec, VecEnv};
use crate::error::Error;
use crate::evaluate::{self, Evaluation};
use crate::memory;
use crate::metrics::Metrics;
use crate::params::Layout;
use crate::snapshot;
use crate::streams::{self, Kind};
use crate::update::{Learner, UpdatePlan};

/// Episodes that [`Metrics::mean_return`] looks back on.
pub(crate) const WINDOW: usize = 100;

/// One more than the largest number of threads.
const MOST_THREADS: usize = 4097;

/// A PPO run over environments of type `E`.
///
/// ```
/// use trainer::{Config, Trainer, env::CartPole};
///
/// let config = Config { environments: 8, horizon: 32, total_steps: 512, ..Config::default() };
/// let mut trainer = Trainer::new(config, 1, |_| CartPole::new())?;
/// while !trainer.is_finished() {
///     let metrics = trainer.update()?;
///     assert_eq!(metrics.first_ratio, [1.0, 1.0]);
/// }
/// assert_eq!(trainer.steps(), 512);
/// # Ok::<(), trainer::Error>(())
/// ```
pub struct Trainer<E> {
    pub(crate) config: Config,
    pub(crate) spec: Spec,
    pub(crate) envs: VecEnv<E>,
    pub(crate) learner: Learner,
    pub(crate) plan: UpdatePlan,
    pub(crate) updates: u64,
    pub(crate) recent: VecDeque<Episode>,
    /// An update stopped half-way: environments and learner are not those of any whole number of updates.
    failed: bool,
    pool: Option<ThreadPool>,
}

impl<E: Env> Trainer<E> {
    /// A new run of `config` on `threads` threads; `make` builds environment number i.
    ///
    /// # Errors
    /// [`Error::Config`] where the configuration is wrong, [`Error::Memory`] where it is too large, [`Error::Env`] where
    /// the environments differ from each other, [`Error::Argument`] and [`Error::Threads`] where the threads can't be
    /// had.
    pub fn new(config: Config, threads: usize, make: impl FnMut(usize) -> E) -> Result<Self, Error> {
        config.validate()?;
        // Before the environments are made: what is needed whatever they look like.
        memory::check(&config, 1, 1)?;
        let pool = pool(threads)?;
        let envs = VecEnv::new(config.environments, make, |i| streams::of(config.seed, Kind::Environment, i))?;
        let spec = envs.spec().clone();
        let plan = UpdatePlan::compile(&config, &spec, pool.is_some())?;
        let learner = Learner::new(plan.layout(), &config)?;
        Ok(Self {
            config,
            spec,
            envs,
            learner,
            plan,
            updates: 0,
            recent: VecDeque::with_capacity(WINDOW),
            failed: false,
            pool,
        })
    }

    /// Runs the next update.
    ///
    /// # Errors
    /// [`Error::Config`] where a schedule leaves its range, past the steps that the configuration asks for: nothing was
    /// changed. An environment's or the optimizer's; see [`UpdatePlan::run`]. The update is then half done: parameters,
    /// environments and evaluation can be looked at, but further updates and [`Trainer::save`] are refused with
    /// [`Error::Failed`], because they could not be repeated. The run goes on from its last checkpoint.
    pub fn update(&mut self) -> Result<Metrics, Error> {
        self.check_whole()?;
        let Self { plan, envs, learner, pool, updates, failed, .. } = self;
        plan.check(*updates, envs, learner)?;
        // Also where an environment panics.
        *failed = true;
        let result = in_pool(pool.as_ref(), || plan.run(*updates, envs, learner));
        self.failed = result.is_err();
        let mut metrics = result?;
        self.updates += 1;
        for episode in self.plan.rollout.finished() {
            metrics.episodes += 1;
            if self.recent.len() == WINDOW {
                self.recent.pop_front();
            }
            self.recent.push_back(episode);
        }
        metrics.steps = self.steps();
        let count = self.recent.len() as f64;
        metrics.mean_return = self.recent.iter().map(|e| e.total).sum::<f64>() / count;
        metrics.mean_length = self.recent.iter().map(|e| e.length as f64).sum::<f64>() / count;
        Ok(metrics)
    }

    /// Plays `episodes` whole episodes with the present parameters, greedily, in environments that `make` builds.
    /// Nothing of the run changes. (An environment whose episodes never end is played for ever.)
    ///
    /// # Errors
    /// An environment's, [`Error::PolicyOutput`], or [`Error::Argument`] where observation or actions have another size
    /// than the run's.
    pub fn evaluate(&self, episodes: usize, make: impl FnMut(usize) -> E) -> Result<Evaluation, Error> {
        let mut envs = VecEnv::new(episodes, make, |i| streams::of(self.config.seed, Kind::Evaluate, i))?;
        let fits = |what, expected: usize, got: usize| {
            if got == expected { Ok(()) } else { Err(Error::argument("Trainer::evaluate", what, expected, got)) }
        };
        fits("the observation's size", self.spec.observation, envs.spec().observation)?;
        fits("the number of actions", self.spec.actions as usize, envs.spec().actions as usize)?;
        let par = if self.pool.is_some() { Par::Rayon } else { Par::Serial };
        let (layout, parameters) = (self.plan.layout(), self.parameters());
        in_pool(self.pool.as_ref(), || evaluate::run(layout, parameters, &mut envs, par))
    }

    /// Writes everything that the run depends on: parameters, optimizer, environments, states, counters.
    ///
    /// The file is replaced as a whole or not at all.
    ///
    /// # Errors
    /// [`Error::Checkpoint`]; [`Error::Failed`] after an update that failed.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        self.check_whole()?;
        snapshot::save(self, path)
    }

    /// Goes on with the run in `path`; from there on it is the same, bit for bit, as one that never stopped.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] where the file is damaged or foreign, [`Error::Mismatch`] where it is of another
    /// environment.
    pub fn resume(path: &Path, threads: usize, make: impl FnMut(usize) -> E) -> Result<Self, Error> {
        snapshot::resume(path, threads, make)
    }

    /// Sets the number of environment steps after which the run is finished, e.g. to train on after a resume.
    /// Schedules go by the number of the update and are not changed by it.
    ///
    /// # Errors
    /// [`Error::Config`] where it is 0, or where a schedule leaves its range by then; nothing is changed.
    pub fn set_total_steps(&mut self, total_steps: u64) -> Result<(), Error> {
        let config = Config { total_steps, ..self.config.clone() };
        config.validate()?;
        self.config = config;
        Ok(())
    }

    fn check_whole(&self) -> Result<(), Error> {
        if self.failed { Err(Error::Failed { update: self.updates }) } else { Ok(()) }
    }

    /// Whether all steps of the configuration have been taken.
    pub fn is_finished(&self) -> bool {
        self.updates >= self.config.updates()
    }

    /// Environment steps so far.
    pub fn steps(&self) -> u64 {
        self.updates.saturating_mul(self.config.steps_per_update())
    }

    /// Updates so far.
    pub fn updates(&self) -> u64 {
        self.updates
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// What the environments look like.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// All parameters; [`Trainer::layout`] says what lies where.
    pub fn parameters(&self) -> &[f32] {
        &self.learner.parameters
    }

    /// Where each parameter lies.
    pub fn layout(&self) -> &Layout {
        self.plan.layout()
    }

    /// The compiled update.
    pub fn plan(&self) -> &UpdatePlan {
        &self.plan
    }
}

fn pool(threads: usize) -> Result<Option<ThreadPool>, Error> {
    match threads {
        1 => Ok(None),
        0 | MOST_THREADS.. => {
            Err(Error::argument("Trainer::new", "threads", format!("from 1 to {}", MOST_THREADS - 1), threads))
        }
        _ => ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .map(Some)
            .map_err(|reason| Error::Threads { threads, reason: reason.to_string() }),
    }
}

fn in_pool<R: Send>(pool: Option<&ThreadPool>, work: impl FnOnce() -> R + Send) -> R {
    match pool {
        Some(pool) => pool.install(work),
        None => work(),
    }
}
