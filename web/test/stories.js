// What the pictures of the page show: projects with their files, what people say in them, and what agents then do.

const text = (words) => [{ type: "content", content: { type: "text", text: words } }];
const tool = (fields) => `tool ${JSON.stringify(fields)}`;
const plan = (...steps) => `plan ${JSON.stringify(steps.map(([content, status]) => ({ content, status })))}`;
const usage = (used, amount) => `use ${JSON.stringify({ used, size: 200_000, cost: { amount, currency: "USD" } })}`;

const CAPTURE = `//! Captures card payments that were authorised before.

use crate::gateway::{Gateway, GatewayError};
use crate::ledger::Ledger;
use crate::payment::{Capture, PaymentId};

pub struct Captures<G> {
    gateway: G,
    ledger: Ledger,
}

impl<G: Gateway> Captures<G> {
    /// Captures a payment once, and books it.
    pub async fn capture(&self, id: PaymentId) -> Result<Capture, GatewayError> {
        let capture = self.gateway.capture(id).await?;
        self.ledger.book(&capture).await;
        Ok(capture)
    }
}
`;

const CAPTURE_AFTER = CAPTURE.replace("payment::{Capture, PaymentId};", "payment::{Capture, PaymentId};\nuse crate::retry::Backoff;").replace(`    /// Captures a payment once, and books it.
    pub async fn capture(&self, id: PaymentId) -> Result<Capture, GatewayError> {
        let capture = self.gateway.capture(id).await?;
`, `    /// Captures a payment, and books it once, also after a timeout.
    pub async fn capture(&self, id: PaymentId) -> Result<Capture, GatewayError> {
        let mut backoff = Backoff::new(4);
        let key = id.idempotency_key();
        let capture = loop {
            match self.gateway.capture(id, &key).await {
                Err(error) if error.is_timeout() => backoff.next(error).await?,
                outcome => break outcome?,
            }
        };
`);

const RETRY = `//! Pauses that grow, for calls that are worth another attempt.

use std::time::Duration;

use rand::Rng;

const FIRST_PAUSE: Duration = Duration::from_millis(200);

pub struct Backoff {
    left: u32,
    pause: Duration,
}

impl Backoff {
    pub fn new(attempts: u32) -> Self {
        Self { left: attempts, pause: FIRST_PAUSE }
    }

    /// Waits before the next attempt; without one left, the error is final.
    pub async fn next<E>(&mut self, error: E) -> Result<(), E> {
        let Some(left) = self.left.checked_sub(1) else { return Err(error) };
        self.left = left;
        let jitter = rand::rng().random_range(0.5..1.5);
        tokio::time::sleep(self.pause.mul_f64(jitter)).await;
        self.pause *= 2;
        Ok(())
    }
}
`;

const TESTS = `use payments::capture::Captures;
use payments::testing::{FlakyGateway, ledger};

#[tokio::test]
async fn captures_are_booked() {
    let captures = Captures::new(FlakyGateway::failing(0), ledger());
    captures.capture(17.into()).await.unwrap();
    assert_eq!(captures.ledger().len(), 1);
}
`;

const TESTS_AFTER = `${TESTS}
#[tokio::test(start_paused = true)]
async fn a_capture_that_times_out_twice_is_booked_once() {
    let captures = Captures::new(FlakyGateway::failing(2), ledger());
    captures.capture(17.into()).await.unwrap();
    assert_eq!(captures.ledger().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_gateway_that_never_answers_is_an_error() {
    let captures = Captures::new(FlakyGateway::failing(9), ledger());
    assert!(captures.capture(17.into()).await.is_err());
}
`;

const LIB = `pub mod capture;
pub mod gateway;
pub mod ledger;
pub mod payment;
pub mod testing;
`;

/** The session whose changes are shown, and what a reviewer says about a line of it. */
export const REVIEWED = { title: "Retry card captures that time out", path: "src/capture.rs", line: 16, comment: "Four is a guess. Please read it from the settings, next to the gateway's timeout." };

/** The session that asks for permission. */
export const ASKING = "Speed up the product search";

/** By project: its files, what is said there and what agents do, and conversations of the days before. */
export const PROJECTS = {
  payments: {
    files: { "src/lib.rs": LIB, "src/capture.rs": CAPTURE, "tests/capture.rs": TESTS },
    story: {
      [REVIEWED.title]: [
        "think The gateway sometimes takes longer than its timeout. A capture must not be booked twice, so a retry needs the same idempotency key.",
        tool({ title: "Search for callers of capture", kind: "search", rawInput: { pattern: "gateway.capture" }, content: text("src/capture.rs:15:        let capture = self.gateway.capture(id).await?;") }),
        tool({ title: "Read src/gateway.rs", kind: "read", rawInput: { path: "src/gateway.rs" } }),
        "say The gateway is called once, and a timeout is returned to the shop although the bank may have taken the money. I will retry **timeouts only**, with the same idempotency key:\\n\\n| answer | what happens |\\n|---|---|\\n| timeout | up to four more attempts, with growing pauses |\\n| declined, invalid | returned at once |",
        `edit ${JSON.stringify({ "src/retry.rs": RETRY, "src/lib.rs": LIB.replace("pub mod testing", "pub mod retry;\npub mod testing"), "src/capture.rs": CAPTURE_AFTER, "tests/capture.rs": TESTS_AFTER })}`,
        tool({ title: "cargo test --test capture", kind: "execute", rawInput: { command: "cargo test --test capture" }, content: text("running 3 tests\ntest captures_are_booked ... ok\ntest a_capture_that_times_out_twice_is_booked_once ... ok\ntest a_gateway_that_never_answers_is_an_error ... ok\n\ntest result: ok. 3 passed; 0 failed") }),
        usage(61_400, 0.58),
        "say Captures that time out are tried again, and booked once: three tests cover it, two of them new. Pauses start at 200 ms and double, with some jitter.",
      ],
      "Move the webhooks to signed events": [
        plan(["Find every webhook handler", "completed"], ["Verify the signature before the body is parsed", "in_progress"], ["Reject replays older than five minutes", "pending"]),
        usage(38_900, 0.31),
        "say Seven handlers parse the body first. I am moving the check of the signature in front of them.",
        "wait",
      ],
    },
    earlier: [
      ["Why are refunds booked on the wrong day?", "They are booked in UTC, and shown in the shop's time zone: refunds after 22:00 move to the next day.", 3],
      ["Write a runbook for the nightly settlement", "The runbook is in docs/settlement.md, with the three alerts and what to do about each.", 27],
    ],
  },
  storefront: {
    files: { "README.md": "# Storefront\n" },
    story: {
      [ASKING]: [
        plan(["Measure the slow query", "completed"], ["Add an index for it", "in_progress"], ["Compare before and after", "pending"]),
        usage(22_300, 0.19),
        "say The search reads every row of `products`. An index on the title makes it 40 times faster on my copy. May I apply the migration to the development database?",
        `demand ${JSON.stringify({ title: "npm run migrate", kind: "execute", rawInput: { command: "npm run migrate" } })}`,
      ],
      "Translate the checkout into Portuguese": [
        plan(["Collect the texts", "completed"], ["Translate 148 of them", "in_progress"], ["Check the layout of long ones", "pending"]),
        usage(51_000, 0.27),
        "say 148 texts are left; dates and prices stay as they are.",
        "wait",
      ],
      "Upgrade to React 20": ["say Installing the new release…", "crash npm error code ERESOLVE\\nnpm error peer react@\"^19.0.0\" from react-hook-form@8.4.1"],
      "Lazy-load the pictures of the gallery": [usage(17_800, 0.12), "say Pictures below the fold load when they are scrolled to. The first page weighs **310 kB** instead of **2.4 MB**."],
    },
    earlier: [["Draft the release notes for 5.2", "The notes are in CHANGELOG.md: 14 changes, grouped by what a shop owner notices first.", 5]],
  },
  infrastructure: {
    files: { "README.md": "# Infrastructure\n" },
    story: { "Rotate the certificates of staging": [usage(9_400, 0.08), "say All four certificates are renewed and valid until March. The reload caused no failed request."] },
    earlier: [["Which buckets are public?", "None of the 31. Two had a policy that allowed listing; both are closed.", 50]],
  },
};
