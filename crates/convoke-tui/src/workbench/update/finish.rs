//! Finishing a work tree: chosen, confirmed, executed by the daemon, and undone.

use convoke_api::bodies::{
    FinishOutcome, FinishWay, FinishedWorktree, KeptEntry, Session, WorktreeState,
};
use convoke_core::files::Removal;
use convoke_core::id::SessionId;
use crossterm::event::{KeyCode, KeyEvent};

use super::{changes, comparisons, session};
use crate::list_keys::moved_or_numbered;
use crate::sheet::keys::is_plain;
use crate::sheet::keys::writing::{Meaning, write};
use crate::workbench::finish::{Finish, Finishing, Gone, OnObstacle, Step};
use crate::workbench::message::Effect;
use crate::workbench::model::{Link, Model, Overlay, Sent};
use crate::workbench::refusal::{CallRefusal, RefusalReason};
use crate::workbench::worktrees::{WorktreeCall, WorktreeReturned};

/// Shows the dialog for a session's work tree.
pub(super) fn begin(model: &mut Model, id: SessionId) {
    let session = model.list.session(id);
    let own = session.and_then(|session| Some((session.worktree.clone()?, session.title.clone())));
    let Some((own, title)) = own else {
        changes::show_again(model);
        model.refuse("This session has no work tree; alt-w chooses one for a new session.");
        return;
    };
    let is_there = own.removed.is_none();
    show(model, Finish::new(Finishing::Session(id), own, &title));
    if is_there {
        // Its folder may have been deleted by hand.
        call(model, WorktreeCall::Look { id });
    }
}

/// Shows the dialog for a work tree.
pub(super) fn show(model: &mut Model, finish: Finish) {
    model.overlay = Some(Overlay::Finish(Box::new(finish)));
}

/// Makes a call to the daemon, or shows that it is not connected.
pub(super) fn call(model: &mut Model, call: WorktreeCall) -> Sent {
    if model.link != Link::Up {
        model.refuse("Not connected to the daemon: nothing was done.");
        return Sent::No;
    }
    model.effects.push(Effect::CallWorktree(call));
    Sent::Yes
}

fn shown_mut(model: &mut Model) -> Option<&mut Finish> {
    match &mut model.overlay {
        Some(Overlay::Finish(finish)) => Some(finish),
        _ => None,
    }
}

fn go(model: &mut Model, step: Step) {
    if let Some(finish) = shown_mut(model) {
        finish.step = step;
    }
}

fn close(model: &mut Model) {
    model.overlay = None;
    changes::show_again(model);
}

/// A pasted text.
pub(super) fn paste(model: &mut Model, text: &str) {
    if let Some(finish) = shown_mut(model).filter(|finish| matches!(finish.step, Step::Message)) {
        finish.message.paste(text);
    }
}

/// A key in the dialog.
pub(super) fn press(model: &mut Model, key: KeyEvent) {
    let Some(finish) = shown_mut(model) else { return };
    let is_leaving = is_plain(key) && matches!(key.code, KeyCode::Esc | KeyCode::Char('q' | 'n'));
    let is_accepting = key.code == KeyCode::Enter;
    let letter = key.code.as_char().filter(|_| is_plain(key));
    match (&finish.step, letter) {
        (Step::Message, _) => press_message(model, key),
        (Step::Choose, _) if is_leaving => close(model),
        (Step::Choose, _) => press_choose(model, key),
        (Step::Confirm, Some('y')) => act(model, OnObstacle::Stop),
        (Step::Conflicts(_), Some('g')) => act(model, OnObstacle::PromptAgent),
        (Step::NotCaptured(_), Some('d')) => act(model, OnObstacle::DeleteUncaptured),
        (Step::Gone(_), _) if is_accepting => restore(model),
        (Step::Refused(_), _) if is_leaving || is_accepting => go(model, Step::Choose),
        (Step::Confirm | Step::NotCaptured(_), _) if is_leaving => go(model, Step::Choose),
        (Step::PullRequest(_), _) if is_leaving || is_accepting => close(model),
        // A call in progress continues, and a notice reports its end.
        (Step::Conflicts(_) | Step::Gone(_) | Step::UnderWay, _) if is_leaving => close(model),
        _ => {}
    }
}

fn press_choose(model: &mut Model, key: KeyEvent) {
    let Some(finish) = shown_mut(model) else { return };
    if key.code != KeyCode::Enter {
        let last = finish.ways().count().saturating_sub(1);
        finish.cursor = moved_or_numbered(key, finish.cursor, last);
        return;
    }
    finish.step = match finish.way() {
        FinishWay::Discard => Step::Confirm,
        FinishWay::Merge
        | FinishWay::Squash
        | FinishWay::Rebase
        | FinishWay::Pr
        | FinishWay::Keep => Step::Message,
    };
}

fn press_message(model: &mut Model, key: KeyEvent) {
    let width = usize::from(model.size.width);
    let Some(finish) = shown_mut(model) else { return };
    match write(&mut finish.message, key, width) {
        Meaning::Written | Meaning::PageUp | Meaning::PageDown => {}
        Meaning::Leave => finish.step = Step::Choose,
        Meaning::Accept => match finish.of {
            Finishing::Session(_) => act(model, OnObstacle::Stop),
            // The others are discarded.
            Finishing::Candidate { .. } => finish.step = Step::Confirm,
        },
    }
}

/// Makes the call for the chosen way.
fn act(model: &mut Model, how: OnObstacle) {
    let Some(acted) = shown_mut(model).map(|finish| finish.call(how)) else { return };
    if call(model, acted) == Sent::Yes {
        go(model, Step::UnderWay);
    }
}

fn restore(model: &mut Model) {
    let Some(id) = shown_mut(model).map(|finish| finish.id()) else { return };
    if call(model, WorktreeCall::Restore { id }) == Sent::Yes {
        go(model, Step::UnderWay);
    }
}

/// Handles the result of a call.
pub(super) fn take(
    model: &mut Model,
    called: &WorktreeCall,
    returned: Result<Box<WorktreeReturned>, CallRefusal>,
) {
    match returned.map(|returned| *returned) {
        Ok(WorktreeReturned::State(state)) => take_state(model, called, state),
        Ok(WorktreeReturned::Finished(finished)) => take_finished(model, finished, ""),
        Ok(WorktreeReturned::Restored(session)) => take_restored(model, session),
        Ok(WorktreeReturned::Comparisons(all)) => comparisons::take(model, all),
        Ok(WorktreeReturned::Compared(comparison)) => comparisons::begun(model, comparison),
        Ok(WorktreeReturned::Kept(kept)) => take_kept(model, kept),
        Err(refusal) => refused(model, called, refusal),
    }
}

fn take_state(model: &mut Model, called: &WorktreeCall, state: Option<WorktreeState>) {
    let WorktreeCall::Look { id } = called else { return };
    if let (Some(finish), Some(WorktreeState::Missing)) = (waiting(model, *id), state)
        && matches!(finish.step, Step::Choose)
    {
        finish.step = Step::Gone(Gone::Missing);
    }
}

/// The dialog for the work tree of this session, if it is still shown.
fn waiting(model: &mut Model, id: SessionId) -> Option<&mut Finish> {
    shown_mut(model).filter(|finish| finish.id() == id)
}

/// Reports the result for a work tree, and for those that were discarded with it.
fn take_finished(model: &mut Model, finished: FinishedWorktree, others: &str) {
    let FinishedWorktree { outcome, session, base, conflicts, pull_request, prompt, .. } = finished;
    let (id, own) = (session.id, session.worktree);
    model.list.change(id, |known| known.worktree.clone_from(&own));
    comparisons::ask_if_shown(model);
    let is_shown = waiting(model, id).is_some();
    let branch = own.as_ref().map(|own| own.branch.clone()).unwrap_or_default();
    match outcome {
        FinishOutcome::Conflicts if prompt.is_some() => {
            if is_shown {
                model.overlay = None;
                model.behind = None;
                session::open(model, id);
            }
            model.notify("The agent was prompted to resolve the conflicts.");
        }
        FinishOutcome::Conflicts if is_shown => go(model, Step::Conflicts(conflicts)),
        FinishOutcome::Conflicts => {
            model.refuse(format!("{branch} has conflicts: nothing was done; F shows them."));
        }
        FinishOutcome::PullRequest => {
            let address = pull_request.unwrap_or_default();
            if is_shown {
                go(model, Step::PullRequest(address));
                model.notify(format!("The pull request was made{others}"));
            } else {
                model.notify(format!("Pull request: {address}{others}"));
            }
        }
        FinishOutcome::Finished => {
            if is_shown {
                model.overlay = None;
                model.behind = None;
            }
            let how = own.and_then(|own| own.removed).map(|removed| removed.how);
            let end = end(how, &branch, base.as_deref().unwrap_or("the base"));
            let rest = if others.is_empty() { "; F restores it." } else { others };
            model.notify(format!("{end}{rest}"));
        }
    }
}

/// How a work tree ended.
fn end(how: Option<Removal>, branch: &str, base: &str) -> String {
    match how {
        Some(Removal::Merge | Removal::Squash | Removal::Rebase) => {
            format!("{base} has the changes of {branch}")
        }
        Some(Removal::Discard) => format!("Discarded {branch}"),
        Some(Removal::Keep | Removal::Remove) | None => {
            format!("Removed the folder; the branch {branch} stays")
        }
    }
}

fn take_kept(model: &mut Model, kept: KeptEntry) {
    let KeptEntry { finished, comparison } = kept;
    let failed = comparison.entries.iter().any(|entry| {
        let is_other =
            entry.session.as_ref().is_some_and(|session| Some(session.id) != comparison.kept);
        is_other && entry.error.is_some()
    });
    let others = match (comparison.kept, failed) {
        (None, _) => "",
        (Some(_), false) => ". The others were discarded.",
        (Some(_), true) => ". Not all of the others were discarded.",
    };
    model.comparisons.put(comparison);
    take_finished(model, finished, others);
}

fn take_restored(model: &mut Model, restored: Session) {
    let Session { id, worktree, .. } = restored;
    model.list.change(id, |known| known.worktree.clone_from(&worktree));
    if waiting(model, id).is_some() {
        close(model);
    }
    comparisons::ask_if_shown(model);
    model.notify("Restored the work tree: R resumes its session.");
}

fn refused(model: &mut Model, called: &WorktreeCall, refusal: CallRefusal) {
    let id = match called {
        WorktreeCall::Look { .. } => return,
        WorktreeCall::Comparisons { .. } => return comparisons::failed(model, &refusal),
        WorktreeCall::Compare(new) => return comparisons::not_begun(model, new, refusal),
        WorktreeCall::Finish { id, .. } | WorktreeCall::Restore { id } => *id,
        WorktreeCall::Keep { keep, .. } => match keep.session_id.parse() {
            Ok(id) => id,
            Err(_) => return model.refuse(refusal.line()),
        },
    };
    let is_deletable = matches!(called, WorktreeCall::Finish { .. } | WorktreeCall::Keep { .. })
        && refusal.reason == RefusalReason::FilesNotCaptured;
    match waiting(model, id) {
        None => model.refuse(refusal.line()),
        Some(finish) if is_deletable => finish.step = Step::NotCaptured(refusal.files),
        Some(finish) => finish.step = Step::Refused(refusal),
    }
}
