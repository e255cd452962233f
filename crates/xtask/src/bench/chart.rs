//! Charts as SVG: curves over one axis, in colours that both light and dark pages bear.

use std::fmt::Write as _;

use convoke_testkit::bench::{Curve, Plot, Scale, Unit};

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 46.0;
/// The measured curve comes first, then those it is compared with.
const COLOURS: [&str; 4] = ["#3b7ddd", "#d9822b", "#2e9e6b", "#9b59b6"];
/// Lines across the chart, at most.
const TICKS_MAX: f64 = 5.0;

const STYLE: &str = "text{font:12px system-ui,sans-serif;fill:#444c56}\
    .grid{stroke:#8b949e;stroke-opacity:.3}\
    polyline{fill:none;stroke-width:2;stroke-linejoin:round}\
    @media(prefers-color-scheme:dark){text{fill:#adbac7}}";

/// Draws the chart.
pub(super) fn draw(plot: &Plot) -> String {
    let across = Axis::across(plot);
    let up = Axis::up(plot);
    let mut body = String::new();
    for tick in up.ticks() {
        let y = up.place(tick, HEIGHT - BOTTOM, TOP);
        body += &format!(
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\n{}",
            WIDTH - RIGHT,
            text(LEFT - 8.0, y + 4.0, "end", &plot.unit.show(tick)),
        );
    }
    for tick in across.ticks() {
        let x = across.place(tick, LEFT, WIDTH - RIGHT);
        body += &text(x, HEIGHT - BOTTOM + 18.0, "middle", &count(tick));
    }
    body += &text((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 8.0, "middle", &plot.across.name);
    let mut x = LEFT;
    for (curve, colour) in plot.curves.iter().zip(COLOURS.iter().cycle()) {
        body += &legend(x, &curve.name, colour);
        x += 34.0 + 7.0 * curve.name.chars().count() as f64;
        body += &line(curve, &across, &up, colour);
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" \
         height=\"{HEIGHT}\" role=\"img\" aria-label=\"{}\">\n<style>{STYLE}</style>\n{body}</svg>\n",
        escape(&plot.name)
    )
}

/// A range of figures, and how it is spread.
struct Axis {
    least: f64,
    most: f64,
    scale: Scale,
}

impl Axis {
    fn across(plot: &Plot) -> Self {
        let all = plot.curves.iter().flat_map(|curve| &curve.points).map(|(x, _)| *x);
        let (least, most) =
            all.fold((f64::MAX, f64::MIN), |(least, most), x| (least.min(x), most.max(x)));
        Self { least, most, scale: plot.across.scale }
    }

    /// Figures begin at nothing: a curve must not look steeper than it is.
    fn up(plot: &Plot) -> Self {
        let all = plot.curves.iter().flat_map(|curve| &curve.points).map(|(_, y)| *y);
        Self { least: 0.0, most: all.fold(0.0, f64::max) * 1.05, scale: Scale::Linear }
    }

    fn place(&self, at: f64, start: f64, end: f64) -> f64 {
        let share = match self.scale {
            Scale::Linear => (at - self.least) / (self.most - self.least),
            Scale::Logarithmic => (at / self.least).ln() / (self.most / self.least).ln(),
        };
        // All points may be at one position, which is then the start.
        start + (end - start) * if share.is_finite() { share } else { 0.0 }
    }

    fn ticks(&self) -> Vec<f64> {
        match self.scale {
            Scale::Linear => {
                let step = round_step((self.most - self.least) / TICKS_MAX);
                let count = ((self.most - self.least) / step).floor();
                if !count.is_finite() {
                    return vec![self.least];
                }
                (0..=count as u32).map(|at| self.least + f64::from(at) * step).collect()
            }
            Scale::Logarithmic => {
                let factor = if self.most / self.least > 100.0 { 10.0 } else { 2.0 };
                let next = |at: &f64| Some(at * factor);
                let all = std::iter::successors(Some(self.least), next);
                all.take_while(|at| *at <= self.most * 1.001).collect()
            }
        }
    }
}

/// The next step that reads well: 1, 2 or 5, and zeros.
fn round_step(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .map(|digit| digit * power)
        .into_iter()
        .find(|it| *it >= step)
        .unwrap_or(step)
}

fn line(curve: &Curve, across: &Axis, up: &Axis, colour: &str) -> String {
    let mut points = String::new();
    for (x, y) in &curve.points {
        let (x, y) = (across.place(*x, LEFT, WIDTH - RIGHT), up.place(*y, HEIGHT - BOTTOM, TOP));
        // Writing into a text cannot fail.
        write!(points, "{x:.1},{y:.1} ").ok();
    }
    format!("<polyline stroke=\"{colour}\" points=\"{}\"/>\n", points.trim_end())
}

fn legend(x: f64, name: &str, colour: &str) -> String {
    let mark = format!(
        "<rect x=\"{x:.0}\" y=\"13\" width=\"14\" height=\"4\" rx=\"2\" fill=\"{colour}\"/>\n"
    );
    mark + &text(x + 20.0, 19.0, "start", name)
}

fn text(x: f64, y: f64, anchor: &str, words: &str) -> String {
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>\n", escape(words))
}

/// A count on the axis.
fn count(number: f64) -> String {
    Unit::PerSecond.show(number).trim_end_matches("/s").to_owned()
}

fn escape(words: &str) -> String {
    words.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(scale: Scale, points: Vec<(f64, f64)>) -> Plot {
        Plot::new("a < b", "writers", scale, Unit::PerSecond).curve("convoke", points)
    }

    #[test]
    fn curves_fill_the_chart_from_nothing_to_their_most() {
        let svg = draw(&plot(Scale::Logarithmic, vec![(1.0, 0.0), (8.0, 50.0), (64.0, 100.0)]));
        assert!(svg.contains("points=\"76.0,254.0 388.0,152.1 700.0,50.2\""), "{svg}");
        assert!(svg.contains("aria-label=\"a &lt; b\""), "{svg}");
    }

    #[test]
    fn ticks_read_well() {
        let ticks = |scale, points| Axis::across(&plot(scale, points)).ticks();
        assert_eq!(ticks(Scale::Logarithmic, vec![(1.0, 0.0), (8.0, 0.0)]), [1.0, 2.0, 4.0, 8.0]);
        assert_eq!(
            ticks(Scale::Logarithmic, vec![(10.0, 0.0), (1e4, 0.0)]),
            [10.0, 100.0, 1e3, 1e4]
        );
        assert_eq!(
            ticks(Scale::Linear, vec![(0.0, 0.0), (99.0, 0.0)]),
            [0.0, 20.0, 40.0, 60.0, 80.0]
        );
    }

    #[test]
    fn a_single_point_is_drawn_and_divides_by_nothing() {
        let svg = draw(&plot(Scale::Linear, vec![(5.0, 0.0)]));
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}
