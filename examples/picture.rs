//! What the examples' pictures have in common: returns over environment steps, and a score to reach.

use std::ops::Range;
use std::path::Path;

use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

/// Where a picture is drawn.
pub type Area<'a> = DrawingArea<BitMapBackend<'a>, Shift>;
/// Returns over environment steps.
pub type Chart<'a, 'b> = ChartContext<'a, BitMapBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;
/// Why a picture can't be drawn.
pub type Error = Box<dyn std::error::Error>;

/// An empty picture of 900 x 540 pixels for the PNG `path`.
///
/// # Errors
/// Where the area can't be filled, or the font isn't one.
pub fn area(path: &Path) -> Result<Area<'_>, Error> {
    // A font of our own, so that the picture does not depend on what the machine has installed.
    plotters::style::register_font("sans-serif", FontStyle::Normal, epaint_default_fonts::UBUNTU_LIGHT)
        .map_err(|_| "the font is not valid")?;
    let area = BitMapBackend::new(path, (900, 540)).into_drawing_area();
    area.fill(&WHITE)?;
    Ok(area)
}

/// Axes up to `end` steps and over `returns`, with a line at `score`.
///
/// # Errors
/// Where something can't be drawn.
pub fn chart<'a, 'b>(
    area: &'a Area<'b>,
    title: &str,
    end: f64,
    returns: Range<f64>,
    score: f64,
) -> Result<Chart<'a, 'b>, Error> {
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 24))
        .margin(16)
        .x_label_area_size(48)
        .y_label_area_size(64)
        .build_cartesian_2d(0.0..end, returns)?;
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
    chart
        .draw_series(LineSeries::new([(0.0, score), (end, score)], goal.stroke_width(1)))?
        .label(format!("score {score:.2}"))
        .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], goal));
    Ok(chart)
}

/// Adds a line with an entry in the legend.
///
/// # Errors
/// Where it can't be drawn.
pub fn line(chart: &mut Chart<'_, '_>, label: &str, points: Vec<(f64, f64)>, color: RGBColor) -> Result<(), Error> {
    chart
        .draw_series(LineSeries::new(points, color.stroke_width(2)))?
        .label(label)
        .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], color.stroke_width(2)));
    Ok(())
}

/// Adds the legend and writes the file.
///
/// # Errors
/// Where it can't be drawn or written.
pub fn finish<'a, 'b: 'a>(mut chart: Chart<'a, 'b>, area: &Area<'b>) -> Result<(), Error> {
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
