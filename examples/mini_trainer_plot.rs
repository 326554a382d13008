//! The picture of a run.

use std::path::Path;

use anyhow::{Result, anyhow};
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
) -> Result<(), Box<dyn std::error::Error>> {
    // A font of our own, so that the picture does not depend on what the machine has installed.
    plotters::style::register_font("sans-serif", FontStyle::Normal, epaint_default_fonts::UBUNTU_LIGHT)
        .map_err(|_| "the font is not valid")?;
    let points: Vec<(f64, f64)> =
        history.iter().filter(|m| m.mean_return.is_finite()).map(|m| (m.steps as f64, m.mean_return)).collect();
    let evaluated: Vec<(f64, f64)> = evaluations.iter().map(|&(steps, mean)| (steps as f64, mean)).collect();
    let end = history.last().map_or(1.0, |m| m.steps as f64);
    let low = points.iter().map(|p| p.1).fold(0.0, f64::min);
    let high = points.iter().chain(&evaluated).map(|p| p.1).fold(score, f64::max) * 1.05;

    let area = BitMapBackend::new(path, (900, 540)).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(format!("{title}: mean return"), ("sans-serif", 24))
        .margin(16)
        .x_label_area_size(48)
        .y_label_area_size(64)
        .build_cartesian_2d(0.0..end, low..high)?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .bold_line_style(BLACK.mix(0.12))
        .x_desc("environment steps")
        .y_desc("return")
        .x_label_formatter(&|x| format!("{:.0}k", x / 1e3))
        .label_style(("sans-serif", 16))
        .draw()?;
    let goal = RGBColor(200, 80, 60);
    let curve = RGBColor(30, 100, 180);
    chart
        .draw_series(LineSeries::new([(0.0, score), (end, score)], goal.stroke_width(1)))?
        .label(format!("score {score:.2}"))
        .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], goal));
    chart
        .draw_series(LineSeries::new(points, curve.stroke_width(2)))?
        .label("last 100 training episodes")
        .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], curve));
    let play = RGBColor(40, 130, 60);
    chart
        .draw_series(evaluated.iter().map(|&point| Circle::new(point, 5, play.filled())))?
        .label("100 greedy episodes")
        .legend(move |(x, y)| Circle::new((x + 10, y), 5, play.filled()));
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .label_font(("sans-serif", 16))
        .background_style(WHITE)
        .border_style(BLACK)
        .draw()?;
    area.present()?;
    Ok(())
}
