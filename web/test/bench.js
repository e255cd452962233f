// How fast the page is, in a real browser: one row of JSON a line, as `cargo xtask bench` takes them.
//
// Every figure is a median beside a reference of the same run; `--quick` only shows that this works.

import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { Daemon, idle, openBrowser, openPage, say, until } from "./e2e/harness.js";

const isQuick = process.argv.includes("--quick");
const [ROUNDS, CHUNKS, TURNS] = isQuick ? [3, 10, 4] : [15, 100, 1000];
/** Messages that a turn of the long session leaves: the prompt, and what the agent did. */
const TURN = 100;

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
function row(name, ms, [reference, bare], goal) {
  console.log(JSON.stringify({ name, unit: "s", figure: median(ms) / 1000, reference: { name: reference, figure: median(bare) / 1000 }, goal: { atMost: goal / 1000 } }));
}

/** Runs in the page before its own scripts: when an entry of a conversation was first painted, and how long frames take. */
function watch() {
  const afterPaint = (action) => requestAnimationFrame(() => setTimeout(() => action(performance.timeOrigin + performance.now())));
  window.painted = new Promise((done) => {
    const look = new MutationObserver(() => {
      if (!document.querySelector(".entry")) return;
      look.disconnect();
      afterPaint((at) => done(at - performance.timeOrigin));
    });
    look.observe(document, { childList: true, subtree: true });
  });
  window.scrolled = async (scroller, frames) => {
    let longest = 0;
    let last = await new Promise(requestAnimationFrame);
    for (let frame = 0; frame < frames; frame += 1) {
      scroller.scrollTop -= 120;
      const now = await new Promise(requestAnimationFrame);
      longest = Math.max(longest, now - last);
      last = now;
    }
    return longest;
  };
  // When each stamp of the agent's arrived on the socket, and when it was on screen.
  window.stamps = { socket: {}, screen: {} };
  const note = (where, text, at) => {
    for (const [, stamp] of text.matchAll(/@([\d.]+);/g)) window.stamps[where][stamp] ??= at - Number(stamp);
  };
  const Plain = window.WebSocket;
  window.WebSocket = class extends Plain {
    constructor(...options) {
      super(...options);
      this.addEventListener("message", ({ data }) => note("socket", data, performance.timeOrigin + performance.now()));
    }
  };
  new MutationObserver(() => {
    const words = document.querySelector(".assistant:last-of-type .md")?.textContent ?? "";
    if (words) afterPaint((at) => note("screen", words, at));
  }).observe(document, { childList: true, subtree: true, characterData: true });
}

const firstPaint = (page) => page.evaluate(() => new Promise((done) => {
  new PerformanceObserver((list) => done(list.getEntries()[0].startTime)).observe({ type: "paint", buffered: true });
}));

async function times(count, measure) {
  const all = [];
  for (let round = 0; round < count; round += 1) all.push(await measure());
  return all;
}

/** Opens an address in a new page, with nothing cached, and measures there. */
async function fresh(browser, daemon, address, measure) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, storageState: daemon.signedIn });
  await context.addInitScript(watch);
  const page = await context.newPage();
  await page.goto(`${daemon.origin}/healthz`);
  await page.goto(address);
  const found = await measure(page);
  await context.close();
  return found;
}

async function paint(browser, daemon) {
  const empty = createServer((_, response) => response.setHeader("content-type", "text/html").end("<!doctype html><title>.</title><p>Hello")).listen(0, "127.0.0.1");
  await once(empty, "listening");
  const bare = await times(ROUNDS, () => fresh(browser, daemon, `http://127.0.0.1:${empty.address().port}/`, firstPaint));
  row("page: first paint, empty cache", await times(ROUNDS, () => fresh(browser, daemon, daemon.origin, firstPaint)), ["an empty page", bare], 200);
  empty.close();
}

async function chunks(browser, daemon, repo) {
  const { id } = await daemon.createSession(repo, "scripted");
  const found = await fresh(browser, daemon, `${daemon.origin}/s/${id}`, async (page) => {
    await page.getByRole("textbox", { name: "Message" }).waitFor();
    await say(page, `clock ${CHUNKS}`);
    await until(page, "all is on screen", () => page.evaluate((count) => Object.keys(window.stamps.screen).length === count, CHUNKS));
    return page.evaluate(() => window.stamps);
  });
  row("page: latency from agent output to screen", Object.values(found.screen), ["to the page's WebSocket", Object.values(found.socket)], 50);
}

/** A session with this many turns, of so many messages each. */
async function talked(daemon, repo, turns, prompt = () => `flood ${TURN - 1}`, messages = TURN) {
  const { id } = await daemon.createSession(repo, "scripted");
  for (let turn = 0; turn < turns; ) {
    const taken = await daemon.api("POST", `/sessions/${id}/prompt`, { text: prompt(turn) }).then(() => true, () => false);
    if (taken) turn += 1;
    else await new Promise((resolve) => setTimeout(resolve, 20));
  }
  for (;;) {
    const { sessions } = await daemon.api("GET", "/sessions?limit=100");
    if (sessions.find((session) => session.id === id).messageCount >= turns * messages) return id;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** A long answer: headings, code, a table, and words. */
function answer(number) {
  const code = Array.from({ length: 30 }, (_, line) => `    let value_${line} = compute(${line}, "text", &mut state)?;`);
  return [`## Step ${number}`, "", "What was **done**, with `code`.", "", "```rust", `fn step_${number}() {`, ...code, "}", "```", "", "| a | b |", "|---|---|", "| 1 | 2 |", "", "a few more words ".repeat(20)].join("\\n");
}

async function long(browser, daemon, repo) {
  const [short, whole] = [await talked(daemon, repo, 1), await talked(daemon, repo, TURNS)];
  const wordy = await talked(daemon, repo, isQuick ? 4 : 60, (turn) => `say ${answer(turn)}`, 2);
  const open = (id) => times(ROUNDS, () => fresh(browser, daemon, `${daemon.origin}/s/${id}`, (page) => page.evaluate(() => window.painted)));
  const bareOpen = await open(short);
  row("page: open a session of 100,000 messages", await open(whole), ["a session of 100 messages", bareOpen], 500);
  row("page: open a session of long answers with code", await open(wordy), ["a session of 100 messages", bareOpen], 500);
  const scroll = (id, prepare) => fresh(browser, daemon, `${daemon.origin}/s/${id}`, async (page) => {
    await page.evaluate(() => window.painted);
    return page.evaluate(prepare);
  });
  const bare = await times(ROUNDS, () => scroll(short, () => {
    const plain = document.createElement("div");
    Object.assign(plain.style, { overflow: "auto", height: "700px" });
    for (let line = 0; line < 2000; line += 1) plain.append(Object.assign(document.createElement("p"), { textContent: `Line ${line}` }));
    document.body.replaceChildren(plain);
    plain.scrollTop = plain.scrollHeight;
    return window.scrolled(plain, 120);
  }));
  const longest = await times(ROUNDS, () => scroll(whole, () => window.scrolled(document.querySelector(".scroller"), 120)));
  row("page: longest frame while scrolling up in a session of 100,000 messages", longest, ["a plain list", bare], 50);
  return bare;
}

/** A diff of 20,000 lines, scrolled from its end. */
async function changes(browser, daemon, repo, bare) {
  const lines = Array.from({ length: 20_000 }, (_, at) => `    let value_${at} = compute(${at}, "text", &mut state)?;`);
  writeFileSync(join(daemon.folder, "big.rs"), `${lines.join("\n")}\n`);
  const { id } = await daemon.createSession(repo, "scripted");
  const longest = await times(ROUNDS, async () => fresh(browser, daemon, `${daemon.origin}/s/${id}`, async (page) => {
    await page.getByRole("textbox", { name: "Message" }).waitFor();
    if (!(await page.locator(".user").count())) {
      await say(page, `run cp ${join(daemon.folder, "big.rs")} big.rs`);
      await idle(page);
    }
    await page.locator(".changes-button .plus").waitFor();
    await page.locator(".changes-button").click();
    await page.locator(".file-fold").first().click();
    await page.locator(".file .row").first().waitFor();
    return page.evaluate(async () => {
      const scroller = document.querySelector(".changes-scroller");
      scroller.scrollTop = scroller.scrollHeight;
      for (let frame = 0; frame < 30; frame += 1) await new Promise(requestAnimationFrame);
      return window.scrolled(scroller, 120);
    });
  }));
  row("page: longest frame while scrolling up in a diff of 20,000 lines", longest, ["a plain list", bare], 50);
}

/** A conversation that goes on in another program, and is open on the page. */
async function followed(browser) {
  const daemon = new Daemon();
  try {
    const person = join(daemon.folder, "person");
    const store = join(person, ".claude/projects/-bench");
    mkdirSync(store, { recursive: true });
    const [sessionId, cwd] = [randomUUID(), daemon.root];
    const line = (type, text) => `${JSON.stringify({
      type, uuid: randomUUID(), parentUuid: null, isSidechain: false, cwd, sessionId, timestamp: new Date().toISOString(),
      message: type === "user" ? { role: "user", content: text } : { id: randomUUID(), role: "assistant", model: "opus", content: [{ type: "text", text }] },
    })}\n`;
    const file = join(store, `${sessionId}.jsonl`);
    writeFileSync(file, line("user", "Go on") + line("assistant", "I do."));
    await daemon.start({ env: { HOME: person, CLAUDE_CONFIG_DIR: join(person, ".claude") } });
    const page = await openPage(browser, daemon);
    daemon.signedIn = await page.context().storageState();
    await daemon.api("POST", "/histories/import", {});
    let session;
    await until(page, "it is imported", async () => ([session] = (await daemon.api("GET", "/sessions")).sessions).length > 0);
    const found = await fresh(browser, daemon, `${daemon.origin}/s/${session.id}`, async (view) => {
      await view.getByText("I do.").waitFor();
      for (let count = 1; count <= ROUNDS; count += 1) {
        appendFileSync(file, line("assistant", `@${Date.now()};`));
        await until(view, "the line is on screen", () => view.evaluate((wanted) => Object.keys(window.stamps.screen).length === wanted, count));
      }
      return view.evaluate(() => window.stamps);
    });
    row("page: latency from a line appended by another program to screen", Object.values(found.screen), ["to the page's WebSocket", Object.values(found.socket)], 300);
  } finally {
    await daemon.remove();
  }
}

const daemon = await new Daemon().start();
const browser = await openBrowser();
try {
  const page = await openPage(browser, daemon);
  daemon.signedIn = await page.context().storageState();
  const repo = await daemon.addProject();
  await paint(browser, daemon);
  await chunks(browser, daemon, repo);
  const bare = await long(browser, daemon, repo);
  await changes(browser, daemon, repo, bare);
  await followed(browser);
} finally {
  await browser.close();
  await daemon.remove();
}
