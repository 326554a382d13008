//! Runs of several seeds, compared.

use std::path::Path;

use anyhow::{Result, anyhow};
use lockstep_examples::picture;
use plotters::prelude::*;

use crate::run::Run;

/// In one line: how many runs reached the score, after how many steps, and what they returned on the way.
pub(crate) fn comparison(runs: &[Run]) -> String {
    // A run that never reached the score took longer than any.
    let mut steps: Vec<f64> = runs.iter().map(|r| r.solved.map_or(f64::INFINITY, |(steps, _)| steps as f64)).collect();
    let solved = steps.iter().filter(|s| s.is_finite()).count();
    let mut means: Vec<f64> = runs
        .iter()
        .map(|r| r.points.iter().map(|p| p.evaluation).sum::<f64>() / r.points.len().max(1) as f64)
        .collect();
    let [low, middle, high] = spread(&mut steps);
    let [mean_low, mean, mean_high] = spread(&mut means);
    format!(
        "{solved} of {} runs reached the score, after {middle:.0} steps (median; range {low:.0} to {high:.0}); \
         return, mean of all evaluations: {mean:.1} (median; range {mean_low:.1} to {mean_high:.1})",
        runs.len()
    )
}

/// Smallest, median (the mean of two middle ones) and largest; `values` is sorted.
fn spread(values: &mut [f64]) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    match n {
        0 => [f64::NAN; 3],
        _ => [values[0], (values[(n - 1) / 2] + values[n / 2]) / 2.0, values[n - 1]],
    }
}

/// Draws the evaluations of both kinds of runs over steps to a PNG: median, and the range of all seeds.
pub(crate) fn curves(path: &Path, prioritized: &[Run], uniform: &[Run]) -> Result<()> {
    draw(path, prioritized, uniform).map_err(|error| anyhow!("cannot draw {}: {error}", path.display()))
}

/// Steps with smallest, median and largest evaluation of all runs.
fn curve(runs: &[Run]) -> Vec<(f64, [f64; 3])> {
    let points = runs.first().map_or(0, |run| run.points.len());
    (0..points)
        .map(|i| {
            let mut values: Vec<f64> = runs.iter().filter_map(|r| r.points.get(i)).map(|p| p.evaluation).collect();
            (runs[0].points[i].steps as f64, spread(&mut values))
        })
        .collect()
}

fn draw(path: &Path, prioritized: &[Run], uniform: &[Run]) -> Result<(), picture::Error> {
    let first = &prioritized.first().ok_or("no runs")?.options;
    let title =
        format!("cartpole, DQN: return of {} greedy episodes, {} seeds", first.evaluation_episodes, prioritized.len());
    let area = picture::area(path)?;
    let mut chart = picture::chart(&area, &title, first.total_steps as f64, 0.0..525.0, first.score)?;
    let kinds = [
        (format!("prioritized (alpha {}): median and range", first.alpha), prioritized, RGBColor(30, 100, 180)),
        ("uniform (alpha 0): median and range".to_owned(), uniform, RGBColor(210, 140, 20)),
    ];
    for (label, runs, color) in kinds {
        let curve = curve(runs);
        let lows = curve.iter().map(|&(x, [low, ..])| (x, low));
        let highs = curve.iter().rev().map(|&(x, [.., high])| (x, high));
        chart.draw_series([Polygon::new(lows.chain(highs).collect::<Vec<_>>(), color.mix(0.15))])?;
        picture::line(&mut chart, &label, curve.iter().map(|&(x, [_, median, _])| (x, median)).collect(), color)?;
    }
    picture::finish(chart, &area)
}
