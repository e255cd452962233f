//! Measures: figures of many tries, and two alternating tasks, so that other load affects both
//! alike.

use std::time::{Duration, Instant};

use super::{Error, Result};

/// Figures of the same thing, in order of size.
#[derive(Debug, Clone, PartialEq)]
pub struct Samples {
    sorted: Vec<f64>,
}

impl FromIterator<f64> for Samples {
    fn from_iter<I: IntoIterator<Item = f64>>(figures: I) -> Self {
        let mut sorted: Vec<f64> = figures.into_iter().collect();
        sorted.sort_unstable_by(f64::total_cmp);
        Self { sorted }
    }
}

impl FromIterator<Duration> for Samples {
    fn from_iter<I: IntoIterator<Item = Duration>>(times: I) -> Self {
        times.into_iter().map(|time| time.as_secs_f64()).collect()
    }
}

impl Samples {
    /// The figure in the middle.
    pub fn median(&self) -> f64 {
        self.percentile(50.0)
    }

    /// The figure that this many per cent do not exceed; not a number when there is none.
    pub fn percentile(&self, percent: f64) -> f64 {
        let last = self.sorted.len().saturating_sub(1);
        let at = (percent / 100.0 * last as f64).round() as usize;
        self.sorted.get(at).copied().unwrap_or(f64::NAN)
    }

    /// Every percentile up to the 99th. The maximum is not representative.
    pub fn distribution(&self) -> Vec<(f64, f64)> {
        (0..100).map(f64::from).map(|percent| (percent, self.percentile(percent))).collect()
    }
}

/// The duration of some work, in seconds.
pub fn seconds<T, E: Into<Error>>(work: impl FnOnce() -> std::result::Result<T, E>) -> Result<f64> {
    let start = Instant::now();
    let done = work().map_err(Into::into)?;
    let taken = start.elapsed();
    drop(done);
    Ok(taken.as_secs_f64())
}

/// The figures of two alternating tasks, after one warm-up each.
pub fn in_turn(
    rounds: usize,
    mut one: impl FnMut() -> Result<f64>,
    mut other: impl FnMut() -> Result<f64>,
) -> Result<(Samples, Samples)> {
    let (mut ones, mut others) = (Vec::new(), Vec::new());
    one()?;
    other()?;
    for _ in 0..rounds {
        ones.push(one()?);
        others.push(other()?);
    }
    Ok((ones.into_iter().collect(), others.into_iter().collect()))
}

/// Like `in_turn`, where the first is asynchronous.
pub async fn in_turn_async(
    rounds: usize,
    mut one: impl AsyncFnMut() -> Result<f64>,
    mut other: impl FnMut() -> Result<f64>,
) -> Result<(Samples, Samples)> {
    let (mut ones, mut others) = (Vec::new(), Vec::new());
    one().await?;
    other()?;
    for _ in 0..rounds {
        ones.push(one().await?);
        others.push(other()?);
    }
    Ok((ones.into_iter().collect(), others.into_iter().collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_figures_that_occurred() {
        let samples: Samples = (1..=101).rev().map(f64::from).collect();
        let at = [0.0, 50.0, 99.0, 100.0].map(|percent| samples.percentile(percent));
        assert_eq!(at, [1.0, 51.0, 100.0, 101.0]);
        assert!(Samples { sorted: Vec::new() }.median().is_nan());
    }

    #[test]
    fn the_first_time_does_not_count_and_each_has_its_turn() {
        let turns = std::cell::RefCell::new(Vec::new());
        let turn = |who: f64| {
            turns.borrow_mut().push(who);
            Ok(who)
        };
        let (ones, others) = in_turn(2, || turn(1.0), || turn(2.0)).unwrap();
        assert_eq!((ones.median(), others.median()), (1.0, 2.0));
        assert_eq!(turns.into_inner(), [1.0, 2.0, 1.0, 2.0, 1.0, 2.0]);
    }
}
