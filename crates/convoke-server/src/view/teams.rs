//! Converts teams, pairs and answers into the types of the API.

use std::time::Duration;

use convoke_api::bodies;
use convoke_core::team::AnswerStatus;
use convoke_engine::{
    Activity, Analytics, Live, PairActivity, PairStats, PairUsage, Permissions, QuestionStatus,
    Stopped, StoredPair, Team, TeamAnswer, TeamReport, TeamStatus,
};

/// A team with the activity of its pairs.
pub(crate) fn team(status: &TeamStatus) -> bodies::Team {
    let TeamStatus { team, pairs, node } = status;
    let Team { name, path, agent, description, permissions, init_timeout, color } = team;
    let count = |fits: &dyn Fn(&StoredPair, &Live) -> bool| {
        pairs.iter().filter(|(pair, live)| fits(pair, live)).count() as u64
    };
    bodies::Team {
        name: name.clone(),
        path: path.display().to_string(),
        agent: agent.clone(),
        description: description.clone(),
        color: color.clone(),
        skip_permissions: *permissions == Permissions::Skip,
        session_init_timeout: init_timeout.map(millis),
        sessions: pairs.len() as u64,
        processes: count(&|pair, _| pair.status == convoke_core::team::PairStatus::Active),
        busy: count(&|_, live| live.activity != Activity::Idle),
        queued: pairs.iter().map(|(_, live)| live.queue.len() as u64).sum(),
        node: *node,
    }
}

/// The status of a team.
pub(crate) fn status(status: TeamStatus) -> bodies::TeamStatus {
    let team = team(&status);
    let now = |(pair, live): (StoredPair, Live)| bodies::TeamSessionNow {
        session: session(pair),
        activity: match live.activity {
            Activity::Idle => bodies::Activity::Idle,
            Activity::Running => bodies::Activity::Running,
            Activity::Waiting => bodies::Activity::Waiting,
        },
        queued: live.queue.len() as u64,
    };
    bodies::TeamStatus { team, sessions: status.pairs.into_iter().map(now).collect() }
}

/// A pair.
pub(crate) fn session(stored: StoredPair) -> bodies::TeamSession {
    bodies::TeamSession {
        id: stored.id.get(),
        from_team: stored.pair.from,
        to_team: stored.pair.to,
        thread: stored.pair.thread,
        session_id: stored.session_id,
        agent_session_id: stored.agent_session_id,
        created_at: stored.created_at,
        last_used_at: stored.last_used_at,
        message_count: stored.message_count,
        status: stored.status,
        error: stored.error,
        node: stored.node,
    }
}

/// The answer to a question, or its status.
pub(crate) fn answer(answer: TeamAnswer) -> bodies::TeamAnswer {
    let is_over = match answer.status {
        AnswerStatus::Answered | AnswerStatus::Failed => true,
        AnswerStatus::Queued | AnswerStatus::TimedOut => false,
    };
    bodies::TeamAnswer {
        team: answer.pair.to,
        from_team: answer.pair.from,
        thread: answer.pair.thread,
        session_id: answer.session_id,
        agent_session_id: answer.agent_session_id,
        status: answer.status,
        response: answer.response,
        error: answer.error,
        duration_ms: millis(answer.duration),
        timestamp: answer.at,
        message_id: answer.message_id.filter(|_| !is_over),
        seq: answer.seq.filter(|_| !is_over),
        queued: (!is_over && answer.message_id.is_some()).then_some(answer.queued as u64),
    }
}

/// The current state of a question.
pub(crate) fn report(report: TeamReport) -> bodies::TeamReport {
    let TeamReport { pair, question } = report;
    let (status, queued) = match question.as_ref().map(|question| question.status) {
        None => (bodies::ReportStatus::Unasked, None),
        Some(QuestionStatus::Answered) => (bodies::ReportStatus::Answered, None),
        Some(QuestionStatus::Failed) => (bodies::ReportStatus::Failed, None),
        Some(QuestionStatus::Working) => (bodies::ReportStatus::Working, None),
        Some(QuestionStatus::Queued { place }) => {
            (bodies::ReportStatus::Queued, Some(place as u64))
        }
    };
    bodies::TeamReport {
        team: pair.pair.to,
        from_team: pair.pair.from,
        thread: pair.pair.thread,
        session_id: question.as_ref().map_or(pair.session_id, |question| question.session_id),
        agent_session_id: pair.agent_session_id,
        message_id: question.as_ref().map(|question| question.message_id),
        seq: question.as_ref().and_then(|question| question.seq),
        question: question.as_ref().map(|question| question.text.clone()),
        status,
        response: question.as_ref().map(|question| question.response.clone()).unwrap_or_default(),
        error: question.and_then(|question| question.error),
        queued,
    }
}

/// What was stopped.
pub(crate) fn stopped(stopped: Stopped) -> bodies::StoppedAgents {
    let Stopped { sessions, processes } = stopped;
    bodies::StoppedAgents { sessions: sessions as u64, processes: processes as u64 }
}

/// Totals over all pairs.
pub(crate) fn stats(stats: PairStats) -> bodies::TeamStats {
    let PairStats { total, active, compact_pending, archived, total_messages } = stats;
    bodies::TeamStats { total, active, compact_pending, archived, total_messages }
}

/// Statistics of teams.
pub(crate) fn analytics(analytics: Analytics) -> bodies::TeamAnalytics {
    let Analytics { since, stats: counted, pairs, activity, usage } = analytics;
    bodies::TeamAnalytics {
        since,
        stats: stats(counted),
        sessions: pairs.into_iter().map(session).collect(),
        activity: activity.into_iter().map(stretch).collect(),
        usage: usage.into_iter().map(cost).collect(),
    }
}

fn stretch(activity: PairActivity) -> bodies::TeamActivity {
    bodies::TeamActivity {
        from_team: activity.pair.from,
        to_team: activity.pair.to,
        thread: activity.pair.thread,
        start: activity.from,
        prompts: activity.prompts,
        failures: activity.failures,
        compactions: activity.compactions,
    }
}

fn cost(usage: PairUsage) -> bodies::TeamUsage {
    let cost = |(currency, amount)| bodies::TeamCost { amount, currency };
    bodies::TeamUsage {
        id: usage.id.get(),
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        cost: usage.cost.into_iter().map(cost).collect(),
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
