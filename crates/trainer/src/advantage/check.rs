//! Checks before and after the estimate. The one that looks at every number runs only when a result is not finite.

use super::error::Error;
use super::estimate::{Discount, OffPolicy, Trajectories};

/// Shapes and parameters.
pub(super) fn arguments(
    discount: &Discount,
    off_policy: Option<&OffPolicy<'_>>,
    input: &Trajectories<'_>,
    advantages: &[f32],
    returns: &[f32],
) -> Result<(), Error> {
    let (steps, batch) = (input.steps, input.batch);
    let size = steps.checked_mul(batch).ok_or(Error::TooLarge { steps, batch })?;
    let length = |operand, got, expected| {
        if got == expected { Ok(()) } else { Err(Error::Length { operand, steps, batch, expected, got }) }
    };
    length("rewards", input.rewards.len(), size)?;
    length("values", input.values.len(), size)?;
    length("terminated", input.terminated.len(), size)?;
    length("truncated", input.truncated.len(), size)?;
    length("bootstrap", input.bootstrap.len(), size)?;
    length("last_values", input.last_values.len(), batch)?;
    length("advantages", advantages.len(), size)?;
    length("returns", returns.len(), size)?;

    let within = |name, value: f32| {
        let expected = "in [0, 1]";
        if (0.0..=1.0).contains(&value) { Ok(()) } else { Err(Error::Parameter { name, value, expected }) }
    };
    within("gamma", discount.gamma)?;
    within("lambda", discount.lambda)?;

    if let Some(off_policy) = off_policy {
        length("ratios", off_policy.ratios.len(), size)?;
        let positive = |name, value: f32| {
            let expected = "positive and finite";
            if value > 0.0 && value < f32::INFINITY { Ok(()) } else { Err(Error::Parameter { name, value, expected }) }
        };
        positive("rho_bar", off_policy.rho_bar)?;
        positive("c_bar", off_policy.c_bar)?;
    }
    Ok(())
}

/// The first input (by step, then environment) that is to blame for a result that is not finite.
#[cold]
pub(super) fn culprit(off_policy: Option<&OffPolicy<'_>>, input: &Trajectories<'_>, returns: &[f32]) -> Error {
    let (steps, batch) = (input.steps, input.batch);
    for step in 0..steps {
        for environment in 0..batch {
            let i = step * batch + environment;
            let blame = |operand, value: f32| Error::NotFinite { operand, step, environment, value };
            for (operand, value) in [("reward", input.rewards[i]), ("value", input.values[i])] {
                if !value.is_finite() {
                    return blame(operand, value);
                }
            }
            if input.truncated[i] && !input.terminated[i] && !input.bootstrap[i].is_finite() {
                return blame("bootstrap value", input.bootstrap[i]);
            }
            if let Some(ratio) = off_policy.map(|off_policy| off_policy.ratios[i])
                && (ratio.is_nan() || ratio < 0.0)
            {
                return blame("importance ratio", ratio);
            }
        }
    }
    if let Some(start) = steps.checked_sub(1).map(|last| last * batch) {
        for (environment, &value) in input.last_values.iter().enumerate() {
            let i = start + environment;
            if !value.is_finite() && !input.terminated[i] && !input.truncated[i] {
                return Error::NotFinite { operand: "value", step: steps, environment, value };
            }
        }
    }
    // The sum runs backwards, so the last step is where it began.
    let at = returns.iter().rposition(|r| !r.is_finite()).unwrap_or(0);
    Error::Overflow { step: at / batch.max(1), environment: at % batch.max(1) }
}
