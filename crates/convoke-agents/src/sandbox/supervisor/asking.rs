//! Asks the daemon about connections that are not on the list, over a separate socket.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{Semaphore, mpsc, oneshot};

use super::super::domains::Target;
use super::super::policy::{ConnectionAnswer, ConnectionRequest, Ruling};
use super::listen;

/// Connections that may wait for an answer at once; further ones are denied.
const WAITING_MAX: usize = 32;
/// Bytes of an answer; the reason that a human gives is cut before.
const ANSWER_BYTES_MAX: u64 = 64 << 10;

/// The socket to the daemon.
pub(super) struct Asking {
    questions: mpsc::Sender<Question>,
    room: Semaphore,
}

struct Question {
    target: Target,
    answer: oneshot::Sender<Ruling>,
}

impl Asking {
    /// Starts the task that serves the socket.
    pub(super) fn start(socket: &UnixStream) -> io::Result<Arc<Self>> {
        let (reading, writing) = listen(socket)?.into_split();
        let (questions, asked) = mpsc::channel(WAITING_MAX);
        let (answers, answered) = mpsc::channel(WAITING_MAX);
        tokio::spawn(read(reading, answers));
        tokio::spawn(send_questions(writing, asked, answered));
        Ok(Arc::new(Self { questions, room: Semaphore::new(WAITING_MAX) }))
    }

    /// Waits for the decision of the daemon or of the human.
    pub(super) async fn ask(&self, target: &Target) -> Ruling {
        let Ok(_place) = self.room.try_acquire() else {
            return deny("too many connections wait for a decision already");
        };
        let (answer, decided) = oneshot::channel();
        // If the task has ended, the answer channel is closed, too.
        self.questions.send(Question { target: target.clone(), answer }).await.ok();
        decided.await.unwrap_or_else(|_| deny("the daemon no longer answers"))
    }
}

pub(super) fn deny(why: &str) -> Ruling {
    Ruling::Deny { why: why.to_owned() }
}

/// Forwards the answers until the socket is closed.
async fn read(socket: OwnedReadHalf, answers: mpsc::Sender<ConnectionAnswer>) {
    let mut socket = BufReader::new(socket);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut socket).take(ANSWER_BYTES_MAX).read_until(b'\n', &mut line).await;
        let Ok(answer) = serde_json::from_slice(&line) else { return };
        if !matches!(read, Ok(1..)) || answers.send(answer).await.is_err() {
            return;
        }
    }
}

/// Sends questions and delivers their answers. Unanswered ones are denied when this ends.
async fn send_questions(
    mut socket: OwnedWriteHalf,
    mut asked: mpsc::Receiver<Question>,
    mut answered: mpsc::Receiver<ConnectionAnswer>,
) {
    let mut waiting = BTreeMap::new();
    let mut next_id = 0;
    loop {
        tokio::select! {
            question = asked.recv() => {
                let Some(Question { target, answer }) = question else { return };
                let id = next_id;
                next_id += 1;
                waiting.insert(id, answer);
                let Ok(mut line) = serde_json::to_vec(&ConnectionRequest { id, target }) else { return };
                line.push(b'\n');
                if socket.write_all(&line).await.is_err() {
                    return;
                }
            }
            answer = answered.recv() => {
                let Some(ConnectionAnswer { id, ruling }) = answer else { return };
                if let Some(answer) = waiting.remove(&id) {
                    // The program may have closed its connection.
                    answer.send(ruling).ok();
                }
            }
        }
    }
}
