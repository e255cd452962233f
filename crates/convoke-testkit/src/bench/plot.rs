//! Curves for a chart, which `xtask bench` draws.

use serde::{Deserialize, Serialize};

use super::row::Unit;

/// Curves that share their axes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plot {
    /// The heading of the chart.
    pub name: String,
    /// The x axis.
    pub across: Across,
    /// The unit of the figures.
    pub unit: Unit,
    /// One for the measured figure, others to compare it with.
    pub curves: Vec<Curve>,
}

/// The x axis.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Across {
    /// Its label.
    pub name: String,
    /// The distance between the counts.
    pub scale: Scale,
}

/// How counts are spread over an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Scale {
    /// Equal differences are equally far apart.
    Linear,
    /// Equal ratios are equally far apart.
    Logarithmic,
}

/// Figures of one thing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// Its label.
    pub name: String,
    /// The points: x and the figure, from left to right.
    pub points: Vec<(f64, f64)>,
}

impl Plot {
    /// Axes without curves.
    pub fn new(name: &str, across: &str, scale: Scale, unit: Unit) -> Self {
        let across = Across { name: across.to_owned(), scale };
        Self { name: name.to_owned(), across, unit, curves: Vec::new() }
    }

    /// Adds a curve.
    #[must_use]
    pub fn curve(mut self, name: &str, points: Vec<(f64, f64)>) -> Self {
        self.curves.push(Curve { name: name.to_owned(), points });
        self
    }
}
