//! One row of the table: a figure, its reference, and its goal.

use serde::{Deserialize, Serialize};

/// A figure with all that is needed to judge it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The name of the figure.
    pub name: String,
    /// The unit of the figure and of the reference.
    pub unit: Unit,
    /// The measured figure.
    pub figure: f64,
    /// The reference.
    pub reference: Option<Reference>,
    /// The goal.
    pub goal: Option<Goal>,
}

/// A reference, measured in the same run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// Its name.
    pub name: String,
    /// Its measured figure.
    pub figure: f64,
}

/// The unit of figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    /// How often in a second.
    #[serde(rename = "1/s")]
    PerSecond,
    /// Seconds.
    #[serde(rename = "s")]
    Seconds,
    /// Bytes.
    #[serde(rename = "bytes")]
    Bytes,
    /// Instructions of a processor.
    #[serde(rename = "instructions")]
    Instructions,
}

/// The goal of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Goal {
    /// The figure is no larger than this.
    AtMost(f64),
    /// The figure is at least this many times its reference.
    RatioAtLeast(f64),
    /// The figure is at most this many times its reference.
    RatioAtMost(f64),
    /// The figure exceeds its reference by no more than this.
    ExcessAtMost(f64),
}

impl Row {
    /// A figure without reference and goal.
    pub fn new(name: &str, unit: Unit, figure: f64) -> Self {
        Self { name: name.to_owned(), unit, figure, reference: None, goal: None }
    }

    /// Sets the reference.
    #[must_use]
    pub fn against(self, name: &str, figure: f64) -> Self {
        Self { reference: Some(Reference { name: name.to_owned(), figure }), ..self }
    }

    /// Sets the goal.
    #[must_use]
    pub fn goal(self, goal: Goal) -> Self {
        Self { goal: Some(goal), ..self }
    }

    /// The ratio of the figure to its reference.
    pub fn ratio(&self) -> Option<f64> {
        let reference = self.reference.as_ref()?;
        (reference.figure > 0.0).then(|| self.figure / reference.figure)
    }

    /// Whether the goal is met; `None` without a goal, or without the reference that it needs.
    pub fn is_met(&self) -> Option<bool> {
        match self.goal? {
            Goal::AtMost(limit) => Some(self.figure <= limit),
            Goal::RatioAtLeast(limit) => self.ratio().map(|ratio| ratio >= limit),
            Goal::RatioAtMost(limit) => self.ratio().map(|ratio| ratio <= limit),
            Goal::ExcessAtMost(limit) => {
                self.reference.as_ref().map(|reference| self.figure - reference.figure <= limit)
            }
        }
    }

    /// The row as one line of JSON, with the derived values.
    pub fn to_json(&self) -> serde_json::Result<String> {
        #[derive(Serialize)]
        struct Judged<'a> {
            #[serde(flatten)]
            row: &'a Row,
            ratio: Option<f64>,
            met: Option<bool>,
        }
        serde_json::to_string(&Judged { row: self, ratio: self.ratio(), met: self.is_met() })
    }
}

impl Unit {
    /// A figure for people: three digits and the prefix that fits.
    pub fn show(self, figure: f64) -> String {
        match self {
            Self::PerSecond => format!("{}/s", grouped(figure)),
            Self::Instructions => grouped(figure),
            Self::Seconds => {
                scaled(figure, &[(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")])
            }
            Self::Bytes => scaled(figure, &[(1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")]),
        }
    }
}

impl Goal {
    /// The goal for people.
    pub fn show(self, unit: Unit) -> String {
        match self {
            Self::AtMost(limit) => format!("≤ {}", unit.show(limit)),
            Self::RatioAtLeast(limit) => format!("≥ {limit} ×"),
            Self::RatioAtMost(limit) => format!("≤ {limit} ×"),
            Self::ExcessAtMost(limit) => format!("≤ + {}", unit.show(limit)),
        }
    }
}

/// The figure in the largest unit of which there is at least one; the smallest is last.
fn scaled(figure: f64, units: &[(f64, &str)]) -> String {
    if figure == 0.0 {
        return "0".to_owned();
    }
    let fitting = units.iter().find(|(size, _)| figure.abs() >= *size).or(units.last());
    fitting.map_or_else(String::new, |(size, name)| format!("{} {name}", digits(figure / size)))
}

/// Three digits, without zeros behind the point.
fn digits(number: f64) -> String {
    let decimals = match number.abs() {
        large if large >= 100.0 => 0,
        middle if middle >= 10.0 => 1,
        _ => 2,
    };
    let text = format!("{number:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// A whole number in groups of three.
fn grouped(number: f64) -> String {
    let whole = format!("{number:.0}");
    let mut text = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(figure: f64, reference: f64, goal: Goal) -> Row {
        Row::new("x", Unit::Seconds, figure).against("y", reference).goal(goal)
    }

    #[test]
    fn goals_speak_of_the_figure_its_ratio_or_its_excess() {
        let met = |goal| seconds(0.003, 0.002, goal).is_met();
        assert_eq!(met(Goal::AtMost(0.002)), Some(false));
        assert_eq!(met(Goal::RatioAtLeast(1.4)), Some(true));
        assert_eq!(met(Goal::RatioAtMost(1.4)), Some(false));
        assert_eq!(met(Goal::ExcessAtMost(0.0015)), Some(true));
        assert_eq!(Row::new("x", Unit::Bytes, 1.0).is_met(), None);
        assert_eq!(Row::new("x", Unit::Bytes, 1.0).goal(Goal::RatioAtMost(1.0)).is_met(), None);
    }

    #[test]
    fn figures_are_shown_with_three_digits_and_a_fitting_prefix() {
        let seconds =
            [0.0, 4e-9, 0.000_012_3, 0.002, 0.199_9, 61.0].map(|it| Unit::Seconds.show(it));
        assert_eq!(seconds, ["0", "4 ns", "12.3 µs", "2 ms", "200 ms", "61 s"]);
        let rates = [3.2, 999.6, 1234.0, 1_234_567.0].map(|it| Unit::PerSecond.show(it));
        assert_eq!(rates, ["3/s", "1,000/s", "1,234/s", "1,234,567/s"]);
        let bytes = [-2e6, 0.5, 1.0, 1_500.0, 10e6].map(|it| Unit::Bytes.show(it));
        assert_eq!(bytes, ["-2 MB", "0.5 B", "1 B", "1.5 kB", "10 MB"]);
    }

    #[test]
    fn a_row_survives_the_way_from_one_program_to_the_other() {
        let row = seconds(0.003, 0.002, Goal::RatioAtMost(2.0));
        let line = row.to_json().unwrap();
        insta::assert_snapshot!(line, @r#"{"name":"x","unit":"s","figure":0.003,"reference":{"name":"y","figure":0.002},"goal":{"ratioAtMost":2.0},"ratio":1.5,"met":true}"#);
        assert_eq!(serde_json::from_str::<Row>(&line).unwrap(), row);
    }
}
