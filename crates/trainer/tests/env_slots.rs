//! Slots and sets of them: the end of an episode, bad values, exact save and load, groups.

use arith::random::Stream;
use arith::simd::Isa;
use proptest::prelude::*;
use trainer::env::{
    CartPole, Env, Episode, Error, RepeatPrevious, Rng, Scripted, Slot, Spec, Step, Transition, VecEnv, step_group,
};

const GO: Step = Step { reward: 1.0, terminated: false, truncated: false };
const END: Step = Step { reward: 2.0, terminated: true, truncated: false };
const CUT: Step = Step { reward: 4.0, terminated: false, truncated: true };

fn scripted(script: &[Step]) -> Slot<Scripted> {
    Slot::new(3, Scripted::new(script.to_vec(), 2).unwrap(), Rng::new(Stream::new(0, 0))).unwrap()
}

#[test]
fn case_32_the_next_action_answers_the_reset_observation() {
    let mut slot = scripted(&[GO, END, GO, GO, CUT, CUT]);
    let nothing = [-1.0; 2];
    // Observation that the action answers, final observation if the step ends the episode.
    let right = [
        ([0.0, 0.0], GO, None),
        ([0.0, 1.0], END, Some(([0.0, 2.0], 3.0, 2))),
        ([1.0, 0.0], GO, None),
        ([1.0, 1.0], GO, None),
        ([1.0, 2.0], CUT, Some(([1.0, 3.0], 6.0, 3))),
        ([2.0, 0.0], CUT, Some(([2.0, 1.0], 4.0, 1))),
        ([3.0, 0.0], GO, None),
    ];
    for (i, (observation, step, end)) in right.into_iter().enumerate() {
        let mut last = nothing;
        assert_eq!(slot.observation(), observation);
        assert_eq!(slot.steps(), i as u64);
        let transition = slot.step(1, &mut last).unwrap();
        let finished = end.map(|(_, total, length)| Episode { total, length });
        assert_eq!(transition, Transition { step, finished });
        assert_eq!(last, end.map_or(nothing, |(o, ..)| o), "the final observation is written at an end only");
    }
    assert_eq!(slot.episode(), Episode { total: 1.0, length: 1 });
}

#[test]
fn a_wrong_action_changes_nothing() {
    let mut slot = scripted(&[GO, END]);
    let mut last = [-1.0; 2];
    slot.step(0, &mut last).unwrap();
    for action in [2, 3, u32::MAX] {
        let error = slot.step(action, &mut last).unwrap_err();
        assert_eq!(error, Error::Action { environment: 3, step: 1, action, actions: 2 });
    }
    let error = slot.step(0, &mut [0.0]).unwrap_err();
    assert_eq!(error, Error::Length { operation: "Slot::step", what: "final_observation", got: 1, expected: 2 });
    assert_eq!((slot.steps(), slot.observation()), (1, &[0.0, 1.0][..]));
    assert_eq!(slot.step(0, &mut last).unwrap().step, END);
}

/// Gives `value` in the place and at the step that it is told to.
#[derive(Debug)]
struct Faulty {
    at: u64,
    place: Option<usize>,
    value: f32,
    step: u64,
}

impl Env for Faulty {
    fn spec(&self) -> Spec {
        Spec { name: "faulty".into(), observation: 3, actions: 1, time_limit: None, best_return: None }
    }
    fn reset(&mut self, _: &mut Rng, observation: &mut [f32]) {
        observation.fill(self.step as f32);
        if self.at == 0 {
            observation[2] = self.value;
        }
    }
    fn step(&mut self, _: u32, _: &mut Rng, observation: &mut [f32]) -> Step {
        self.step += 1;
        observation.fill(self.step as f32);
        let mut step = GO;
        if self.step == self.at {
            *self.place.map_or(&mut step.reward, |i| &mut observation[i]) = self.value;
        }
        step
    }
    fn save(&self, words: &mut Vec<u64>) {
        words.push(self.step);
    }
    fn load(&mut self, words: &[u64]) -> Result<(), Error> {
        self.step = words[0];
        Ok(())
    }
}

#[test]
fn values_that_are_not_finite_are_named_with_their_place() {
    for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for place in [None, Some(0), Some(2)] {
            let env = Faulty { at: 4, place, value, step: 0 };
            let mut slot = Slot::new(6, env, Rng::new(Stream::new(0, 0))).unwrap();
            let mut last = [0.0; 3];
            for _ in 0..3 {
                slot.step(0, &mut last).unwrap();
            }
            let got = match (slot.step(0, &mut last).unwrap_err(), place) {
                (Error::Reward { environment: 6, step: 3, value }, None) => value,
                (Error::Observation { environment: 6, step: 3, element, value }, Some(place)) => {
                    assert_eq!(element, place);
                    value
                }
                other => panic!("{other:?}"),
            };
            assert_eq!(got.to_bits(), value.to_bits());
            // Everything can still be looked at: the environment has taken the step, the slot doesn't count it.
            assert_eq!((slot.env().step, slot.steps()), (4, 3));
            assert_eq!(slot.episode(), Episode { total: 3.0, length: 3 });
            assert_eq!(slot.observation()[1], 4.0);
            // A reset makes it usable again.
            slot.reset().unwrap();
            assert_eq!(slot.episode(), Episode::default());
            assert_eq!(slot.observation(), [4.0; 3]);
        }
    }
    let env = Faulty { at: 0, place: None, value: f32::NAN, step: 0 };
    let error = Slot::new(6, env, Rng::new(Stream::new(0, 0))).map(|_| ()).unwrap_err();
    assert!(matches!(error, Error::Observation { environment: 6, step: 0, element: 2, .. }), "{error:?}");
    assert_eq!(error.to_string(), "environment 6, step 0: element 2 of the observation is NaN");
}

#[test]
fn one_faulty_environment_does_not_stop_the_others() {
    let make = |i: usize| Faulty { at: [9, 2, 9, 2][i], place: None, value: f32::NAN, step: 0 };
    let mut envs = VecEnv::new(4, make, |i| Stream::new(0, i as u64)).unwrap();
    let (mut transitions, mut last) = ([Transition::default(); 4], [0.0; 12]);
    envs.step(&[0; 4], &mut transitions, &mut last).unwrap();
    transitions = Default::default();
    let error = envs.step(&[0; 4], &mut transitions, &mut last).unwrap_err();
    assert!(matches!(error, Error::Reward { environment: 1, step: 1, .. }), "{error:?}");
    assert_eq!(envs.slots().iter().map(Slot::steps).collect::<Vec<_>>(), [2, 1, 2, 1]);
    assert_eq!(transitions.map(|t| t.step.reward), [1.0, 0.0, 1.0, 0.0]);
}

#[test]
fn case_33_no_environments_and_no_actions_are_errors() {
    let none = VecEnv::new(0, |_| CartPole::new(), |i| Stream::new(0, i as u64)).unwrap_err();
    assert!(matches!(none, Error::Parameter { parameter: "count", got: 0, .. }), "{none:?}");
    let script = Scripted::new(vec![], 1).unwrap_err();
    assert!(matches!(script, Error::Parameter { got: 0, .. }), "{script:?}");
    let actions = Slot::new(0, Scripted::new(vec![GO], 0).unwrap(), Rng::new(Stream::new(0, 0))).unwrap_err();
    assert!(matches!(actions, Error::Parameter { parameter: "actions", got: 0, .. }), "{actions:?}");
}

/// Says that it is of this size, and is never stepped.
#[derive(Debug)]
struct OfSize(usize);

impl Env for OfSize {
    fn spec(&self) -> Spec {
        Spec { name: "sized".into(), observation: self.0, actions: 1, time_limit: None, best_return: None }
    }
    fn reset(&mut self, _: &mut Rng, observation: &mut [f32]) {
        assert_eq!(observation.len(), self.0);
    }
    fn step(&mut self, _: u32, _: &mut Rng, _: &mut [f32]) -> Step {
        GO
    }
    fn save(&self, _: &mut Vec<u64>) {}
    fn load(&mut self, _: &[u64]) -> Result<(), Error> {
        Ok(())
    }
}

#[test]
fn sizes_of_observations_are_bounded_before_they_are_allocated() {
    for size in [0, (1 << 24) + 1, usize::MAX] {
        let error = Slot::new(0, OfSize(size), Rng::new(Stream::new(0, 0))).unwrap_err();
        assert!(
            matches!(error, Error::Parameter { parameter: "observation", got, .. } if got == size as u64),
            "{error}"
        );
    }
    let slot = Slot::new(0, OfSize(1 << 24), Rng::new(Stream::new(0, 0))).unwrap();
    assert_eq!(slot.observation().len(), 1 << 24);
}

#[test]
fn counters_at_their_end_do_not_panic() {
    let mut slot = scripted(&[GO]);
    let mut words = Vec::new();
    slot.save(&mut words);
    words[..3].fill(u64::MAX);
    slot.load(&words).unwrap();
    assert_eq!(slot.step(0, &mut [0.0; 2]).unwrap().step, GO);
    assert_eq!(slot.episode().length, u64::MAX);
}

#[test]
fn environments_of_different_tasks_are_refused() {
    let mixed = |make: fn(usize) -> RepeatPrevious| match VecEnv::new(3, make, |i| Stream::new(0, i as u64)) {
        Err(Error::Differs { environment, field, got, expected }) => (environment, field, got, expected),
        other => panic!("{other:?}"),
    };
    let (environment, field, got, expected) = mixed(|i| RepeatPrevious::new(if i == 2 { 3 } else { 4 }, 2, 8).unwrap());
    assert_eq!((environment, field), (2, "name"));
    assert_eq!((got.as_str(), expected.as_str()), ("repeat-previous-k3-s2-l8", "repeat-previous-k4-s2-l8"));
}

#[test]
fn a_group_checks_everything_before_it_steps() {
    let mut envs = VecEnv::new(3, |_| CartPole::new(), |i| Stream::new(0, i as u64)).unwrap();
    let before = envs.save();
    let (mut t, mut last) = ([Transition::default(); 4], [0.0; 16]);
    let error = envs.step(&[0, 1, 2], &mut t[..3], &mut last[..12]).unwrap_err();
    assert_eq!(error, Error::Action { environment: 2, step: 0, action: 2, actions: 2 });
    let mut what = |actions: usize, transitions: usize, floats: usize| match envs.step(
        &[0; 4][..actions],
        &mut t[..transitions],
        &mut last[..floats],
    ) {
        Err(Error::Length { what, got, expected, .. }) => (what, got, expected),
        other => panic!("{other:?}"),
    };
    assert_eq!(what(2, 3, 12), ("actions", 2, 3));
    assert_eq!(what(3, 4, 12), ("transitions", 4, 3));
    assert_eq!(what(3, 3, 13), ("final_observations", 13, 12));
    assert_eq!(envs.save(), before);
    assert!(envs.observations(&mut [0.0; 11]).is_err());
    assert!(step_group::<CartPole>(Isa::detect(), &mut [], &[], &mut [], &mut []).is_ok());
    assert!(step_group::<CartPole>(Isa::detect(), &mut [], &[0], &mut [], &mut []).is_err());
}

#[test]
fn groups_of_any_size_on_any_thread_give_the_same_bits() {
    let run = |group: usize| {
        let mut envs = VecEnv::new(13, |_| CartPole::new(), |i| Stream::new(2, i as u64)).unwrap();
        let (mut transitions, mut last) = (vec![Transition::default(); 13], vec![0.0; 52]);
        let mut log = Vec::new();
        for step in 0..100_u32 {
            let actions: Vec<u32> = (0..13).map(|i| (step + i) / 2 % 2).collect();
            std::thread::scope(|scope| {
                let slots = envs.slots_mut().chunks_mut(group).zip(actions.chunks(group));
                for ((s, a), (t, o)) in slots.zip(transitions.chunks_mut(group).zip(last.chunks_mut(4 * group))) {
                    scope.spawn(move || step_group(Isa::detect(), s, a, t, o).unwrap());
                }
            });
            log.push((transitions.clone(), last.clone()));
        }
        (envs.save(), log)
    };
    let right = run(13);
    assert!(right.1.iter().flat_map(|(t, _)| t).filter(|t| t.finished.is_some()).count() > 10);
    for group in [1, 4, 7] {
        assert_eq!(run(group), right);
    }
}

#[test]
fn an_environment_does_not_depend_on_how_many_there_are() {
    let run = |count: usize| {
        let mut envs = VecEnv::new(count, |_| CartPole::new(), |i| Stream::new(2, i as u64)).unwrap();
        let (mut t, mut last) = (vec![Transition::default(); count], vec![0.0; 4 * count]);
        for step in 0..60 {
            envs.step(&vec![step / 3 % 2; count], &mut t, &mut last).unwrap();
        }
        let mut words = Vec::new();
        envs.slots()[1].save(&mut words);
        words
    };
    assert_eq!(run(2), run(9));
}

#[test]
fn case_35_a_loaded_set_goes_on_bit_for_bit() {
    let make = || VecEnv::new(6, |_| CartPole::new(), |i| Stream::new(4, i as u64)).unwrap();
    let run = |envs: &mut VecEnv<CartPole>, steps: std::ops::Range<u32>| {
        let (mut t, mut last) = ([Transition::default(); 6], [0.0; 24]);
        let mut log = Vec::new();
        for step in steps {
            let actions: [u32; 6] = std::array::from_fn(|i| (step + i as u32) / 3 % 2);
            envs.step(&actions, &mut t, &mut last).unwrap();
            let mut observations = [0.0; 24];
            envs.observations(&mut observations).unwrap();
            log.push((t, last, observations));
        }
        log
    };
    for stop in [0, 1, 37, 200] {
        let mut whole = make();
        run(&mut whole, 0..stop);
        let words = whole.save();
        let mut resumed = make();
        resumed.load(&words).unwrap();
        assert_eq!(resumed.save(), words);
        // Rows of episodes that haven't ended stay as they were: both start at zero here.
        assert_eq!(run(&mut resumed, stop..stop + 150), run(&mut whole, stop..stop + 150));
        assert_eq!(resumed.save(), whole.save());
    }
}

#[test]
fn a_state_that_does_not_fit_changes_nothing() {
    let mut envs = VecEnv::new(3, |_| CartPole::new(), |i| Stream::new(4, i as u64)).unwrap();
    let (mut t, mut last) = ([Transition::default(); 3], [0.0; 12]);
    let start = envs.save();
    envs.step(&[1, 0, 1], &mut t, &mut last).unwrap();
    let before = envs.save();
    let mut refuse = |words: &[u64]| {
        assert!(matches!(envs.load(words), Err(Error::State { .. })));
        assert_eq!(envs.save(), before);
    };
    for length in 0..start.len() {
        refuse(&start[..length]);
    }
    for at in 0..start.len() {
        let mut words = start.clone();
        words[at] = u64::MAX;
        // Counters may have any value; the others may not.
        let slot = (start.len() - 1) / 3;
        if at == 0 || ![1, 2, 3].contains(&((at - 1) % slot)) {
            refuse(&words);
        }
    }
    let other = VecEnv::new(4, |_| CartPole::new(), |i| Stream::new(4, i as u64)).unwrap();
    refuse(&other.save());
    let mut longer = start.clone();
    longer.push(0);
    refuse(&longer);
    envs.load(&start).unwrap();
    assert_eq!(envs.save(), start);
}

proptest! {
    /// The flags and sums of a slot are those of the script, cut where it says so.
    #[test]
    fn a_slot_plays_its_script(
        script in prop::collection::vec((-8_i8..8, any::<bool>(), any::<bool>()), 1..12),
        steps in 1_usize..60,
    ) {
        let script: Vec<Step> = script
            .into_iter()
            .map(|(r, terminated, truncated)| Step { reward: f32::from(r), terminated, truncated })
            .collect();
        let mut slot = scripted(&script);
        let (mut total, mut length, mut episode) = (0.0, 0_u64, 0.0);
        for i in 0..steps {
            prop_assert_eq!(slot.observation(), &[episode, length as f32]);
            let mut last = [-1.0; 2];
            let transition = slot.step(0, &mut last).unwrap();
            let step = script[i % script.len()];
            prop_assert_eq!(transition.step, step);
            total += f64::from(step.reward);
            length += 1;
            if step.terminated || step.truncated {
                prop_assert_eq!(transition.finished, Some(Episode { total, length }));
                prop_assert_eq!(last, [episode, length as f32]);
                (total, length, episode) = (0.0, 0, episode + 1.0);
            } else {
                prop_assert_eq!(transition.finished, None);
                prop_assert_eq!(last, [-1.0; 2]);
            }
        }
    }
}
