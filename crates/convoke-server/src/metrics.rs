//! Metrics in Prometheus' text format.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use convoke_engine::Figures;

/// Upper bounds of the histogram buckets, in microseconds, and as labels in seconds.
const BUCKETS: [(u128, &str); 10] = [
    (500, "0.0005"),
    (1_000, "0.001"),
    (2_500, "0.0025"),
    (5_000, "0.005"),
    (10_000, "0.01"),
    (50_000, "0.05"),
    (250_000, "0.25"),
    (1_000_000, "1"),
    (5_000_000, "5"),
    (30_000_000, "30"),
];

/// Requests by route, and the time until their response started.
#[derive(Default)]
pub(crate) struct Metrics {
    /// Bounded: the keys are the routes and statuses of this program, whatever clients ask for.
    routes: Mutex<BTreeMap<String, Route>>,
}

#[derive(Default)]
struct Route {
    statuses: BTreeMap<u16, u64>,
    /// Requests per bucket, not cumulative.
    durations: [u64; BUCKETS.len()],
    count: u64,
    sum: Duration,
}

impl Metrics {
    /// Counts a finished request.
    pub(crate) fn count(&self, route: &str, status: StatusCode, took: Duration) {
        // The counters are plain numbers, so they are consistent after a panic.
        let mut routes = self.routes.lock().unwrap_or_else(PoisonError::into_inner);
        if !routes.contains_key(route) {
            routes.insert(route.to_owned(), Route::default());
        }
        let Some(route) = routes.get_mut(route) else { return };
        *route.statuses.entry(status.as_u16()).or_default() += 1;
        let micros = took.as_micros();
        let bucket = BUCKETS.iter().position(|(bound, _)| micros <= *bound);
        if let Some(place) = bucket.and_then(|index| route.durations.get_mut(index)) {
            *place += 1;
        }
        route.count += 1;
        route.sum += took;
    }

    /// All metrics as text.
    pub(crate) fn text(&self, figures: &Figures) -> String {
        let mut text = String::new();
        for (name, kind, help, value) in gauges(figures) {
            head(&mut text, name, kind, help);
            writeln!(text, "{name} {value}").ok();
        }
        self.requests(&mut text);
        text
    }

    fn requests(&self, text: &mut String) {
        let routes = self.routes.lock().unwrap_or_else(PoisonError::into_inner);
        let name = "convoke_http_requests_total";
        head(text, name, "counter", "Requests by route and status.");
        for (route, counted) in &*routes {
            for (status, count) in &counted.statuses {
                writeln!(text, "{name}{{route=\"{route}\",status=\"{status}\"}} {count}").ok();
            }
        }
        let name = "convoke_http_request_duration_seconds";
        head(text, name, "histogram", "Time until a response began, by route.");
        for (route, counted) in &*routes {
            let mut sum = 0;
            for ((_, bound), count) in BUCKETS.iter().zip(counted.durations) {
                sum += count;
                writeln!(text, "{name}_bucket{{route=\"{route}\",le=\"{bound}\"}} {sum}").ok();
            }
            let (count, seconds) = (counted.count, counted.sum.as_secs_f64());
            writeln!(text, "{name}_bucket{{route=\"{route}\",le=\"+Inf\"}} {count}").ok();
            writeln!(text, "{name}_sum{{route=\"{route}\"}} {seconds}").ok();
            writeln!(text, "{name}_count{{route=\"{route}\"}} {count}").ok();
        }
    }
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    // Writing into a `String` cannot fail.
    writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}").ok();
}

fn gauges(figures: &Figures) -> [(&'static str, &'static str, &'static str, u64); 9] {
    let wide = |count: usize| count as u64;
    [
        ("convoke_sessions_active", "gauge", "Active sessions.", figures.active_sessions),
        ("convoke_processes", "gauge", "Agent processes.", wide(figures.processes)),
        ("convoke_processes_busy", "gauge", "Busy agent processes.", wide(figures.busy)),
        ("convoke_turns_waiting", "gauge", "Turns that wait for a process.", wide(figures.waiting)),
        ("convoke_inbox", "gauge", "Requests that wait for a human.", figures.inbox),
        ("convoke_watchers", "gauge", "Watchers of sessions.", wide(figures.watchers)),
        ("convoke_prompts_total", "counter", "Prompts since the start.", figures.prompts),
        ("convoke_messages_total", "counter", "Messages stored since the start.", figures.messages),
        (
            "convoke_turns_failed_total",
            "counter",
            "Turns that failed since the start.",
            figures.turns_failed,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_route_and_duration() {
        let metrics = Metrics::default();
        let route = "/api/sessions/{id}";
        metrics.count(route, StatusCode::OK, Duration::from_micros(700));
        metrics.count(route, StatusCode::OK, Duration::from_secs(60));
        metrics.count(route, StatusCode::NOT_FOUND, Duration::from_micros(100));
        let text = metrics.text(&Figures { active_sessions: 3, ..Figures::default() });
        let lines = |name: &str| -> Vec<&str> {
            text.lines().filter(|line| line.starts_with(name)).collect()
        };
        assert_eq!(lines("convoke_sessions_active"), ["convoke_sessions_active 3"]);
        insta::assert_snapshot!(lines("convoke_http").join("\n"), @r#"
        convoke_http_requests_total{route="/api/sessions/{id}",status="200"} 2
        convoke_http_requests_total{route="/api/sessions/{id}",status="404"} 1
        convoke_http_request_duration_seconds_bucket{route="/api/sessions/{id}",le="0.0005"} 1
        convoke_http_request_duration_seconds_bucket{route="/api/sessions/{id}",le="0.001"} 2
        convoke_http_request_duration_seconds_bucket{route="/api/sessions/{id}",le="0.0025"} 2
        convoke_http_request_duration_seconds_bucket{route="/api/sessions/{id}",le="0.005"} 2
        convoke_http_request_duration_seconds_bucket{route="/api/sessions/{id}",le="0.01"} 2
        convoke_http_request_duration_seconds_bucket{route="/api/sessions/{id}",le="0.05"} 2
        convoke_http_request_duration_seconds_bucket{route="/api/sessions/{id}",le="0.25"} 2
        convoke_http_request_duration_seconds_bucket{route="/api/sessions/{id}",le="1"} 2
        convoke_http_request_duration_seconds_bucket{route="/api/sessions/{id}",le="5"} 2
        convoke_http_request_duration_seconds_bucket{route="/api/sessions/{id}",le="30"} 2
        convoke_http_request_duration_seconds_bucket{route="/api/sessions/{id}",le="+Inf"} 3
        convoke_http_request_duration_seconds_sum{route="/api/sessions/{id}"} 60.0008
        convoke_http_request_duration_seconds_count{route="/api/sessions/{id}"} 3
        "#);
    }
}
