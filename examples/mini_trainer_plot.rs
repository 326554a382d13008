//! The picture of a run.

use std::path::Path;

use anyhow::{Result, anyhow};
use lockstep_examples::picture;
use plotters::prelude::*;
use trainer::Metrics;

/// Draws the mean return over steps, the evaluations (steps, mean return) and the score to reach, to a PNG.
pub(crate) fn learning_curve(
    path: &Path,
    title: &str,
    score: f64,
    history: &[Metrics],
    evaluations: &[(u64, f64)],
) -> Result<()> {
    draw(path, title, score, history, evaluations).map_err(|error| anyhow!("cannot draw {}: {error}", path.display()))
}

fn draw(
    path: &Path,
    title: &str,
    score: f64,
    history: &[Metrics],
    evaluations: &[(u64, f64)],
) -> Result<(), picture::Error> {
    let points: Vec<(f64, f64)> =
        history.iter().filter(|m| m.mean_return.is_finite()).map(|m| (m.steps as f64, m.mean_return)).collect();
    let evaluated: Vec<(f64, f64)> = evaluations.iter().map(|&(steps, mean)| (steps as f64, mean)).collect();
    let end = history.last().map_or(1.0, |m| m.steps as f64);
    let low = points.iter().map(|p| p.1).fold(0.0, f64::min);
    let high = points.iter().chain(&evaluated).map(|p| p.1).fold(score, f64::max) * 1.05;

    let area = picture::area(path)?;
    let mut chart = picture::chart(&area, &format!("{title}: mean return"), end, low..high, score)?;
    picture::line(&mut chart, "last 100 training episodes", points, RGBColor(30, 100, 180))?;
    let play = RGBColor(40, 130, 60);
    chart
        .draw_series(evaluated.iter().map(|&point| Circle::new(point, 5, play.filled())))?
        .label("100 greedy episodes")
        .legend(move |(x, y)| Circle::new((x + 10, y), 5, play.filled()));
    picture::finish(chart, &area)
}
