// A conversation: streaming, tools, plans, the message box.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { anotherWindow, Daemon, idle, openNewSession, openPage, say, until, write } from "./harness.js";
import { daemonPerTest } from "./stage.js";

let browser;
let daemon;
daemonPerTest((opened) => (browser = opened));

/** A session as a separate page. */
async function session(agent) {
  daemon = await new Daemon().start();
  return openNewSession(browser, daemon, { agent });
}

const box = (page) => page.getByRole("textbox", { name: "Message" });
const answer = (page) => page.locator(".assistant").last();

test("w2 w7 words, thoughts, tools and plans are shown as they come", async () => {
  const page = await session();
  await say(page, "think hard && plan count to three && say # Heading\\n\\nSome `code` and **bold** words.\\n\\n```rust\\nfn main() {}\\n```");
  await idle(page);
  await answer(page).getByRole("heading", { name: "Heading" }).waitFor();
  assert.equal(await answer(page).locator("p").innerHTML(), "Some <code>code</code> and <strong>bold</strong> words.");
  assert.ok((await answer(page).locator(".hl-keyword").count()) > 0, "code is highlighted");
  assert.equal(await page.locator(".plan").getByText("count to three").count(), 1);
  const thought = page.locator(".thinking");
  assert.equal(await thought.locator(".md").isVisible(), false);
  await thought.locator("summary").click();
  await thought.getByText("hard").waitFor();

  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await answer(page).getByRole("button", { name: "Copy code" }).click();
  await answer(page).getByRole("button", { name: "Copied" }).waitFor();
  assert.equal((await page.evaluate(() => navigator.clipboard.readText())).trim(), "fn main() {}");
  assert.deepEqual(page.problems, []);
});

test("w7 a tool call shows its arguments, folds long output, and shows changes both ways", async () => {
  const page = await session();
  const long = Array.from({ length: 100 }, (_, line) => `line ${line}`).join("\n");
  const content = [{ type: "content", content: { type: "text", text: long } }];
  await say(page, `tool ${JSON.stringify({ title: "Look around", kind: "search", rawInput: { pattern: "needle" }, content })}`);
  await idle(page);
  const look = page.locator(".tool", { hasText: "Look around" });
  assert.equal(await look.getAttribute("data-status"), "complete");
  await look.locator("summary").click();
  await look.locator(".output", { hasText: "pattern" }).getByText("needle").waitFor();
  assert.equal(await look.getByText("line 99").count(), 0);
  await look.getByRole("button", { name: "Show 88 more lines" }).click();
  await look.getByText("line 99").waitFor();

  const change = [{ type: "diff", path: join(daemon.project, "src/a.rs"), oldText: "one\ntwo\nthree\n", newText: "one\n2\nthree\nfour\n" }];
  await say(page, `tool ${JSON.stringify({ title: "Edit it", kind: "edit", content: change })}`);
  const edit = page.locator(".tool", { hasText: "Edit it" });
  await edit.locator(".diff .path").getByText("src/a.rs", { exact: true }).waitFor();
  assert.equal(await edit.locator(".tool-count").textContent(), "+2−1");
  const cells = (selector) => edit.locator(`.diff ${selector}`).allTextContents();
  assert.deepEqual([await cells(".removed"), await cells(".added"), await cells(".same")], [["two"], ["2", "four"], ["one", "three"]]);
  await edit.getByRole("button", { name: "Show side by side" }).click();
  assert.equal(await edit.locator("table.split tr").count(), 4);
  const [before, after] = await edit.locator("table.split tr").first().locator(".text").evaluateAll((cells) => cells.map((cell) => Math.round(cell.getBoundingClientRect().width)));
  assert.ok(Math.abs(before - after) <= 1, `the sides are as wide as each other: ${before} and ${after}`);

  await say(page, `tool ${JSON.stringify({ title: "Break it", status: "failed", content: [{ type: "content", content: { type: "text", text: "no such file" } }] })}`);
  await page.locator('.tool[data-status="error"]', { hasText: "Break it" }).waitFor();
  assert.deepEqual(page.problems, []);
});

test("the view follows the newest words until its reader scrolls up", async () => {
  const page = await session("demo");
  const scroller = page.getByRole("region", { name: "Conversation" });
  const distance = () => scroller.evaluate((it) => it.scrollHeight - it.scrollTop - it.clientHeight);
  await say(page, "/long 1500");
  await until(page, "it is long enough to scroll", () => scroller.evaluate((it) => it.scrollHeight > it.clientHeight + 300));
  assert.ok((await distance()) < 60, "it follows");

  await scroller.hover();
  await page.mouse.wheel(0, -250);
  await page.getByRole("button", { name: "Newest message" }).waitFor();
  const at = await scroller.evaluate((it) => it.scrollTop);
  const grown = await scroller.evaluate((it) => it.scrollHeight);
  await until(page, "more has come", () => scroller.evaluate((it, grown) => it.scrollHeight > grown + 60, grown));
  assert.equal(await scroller.evaluate((it) => it.scrollTop), at, "what is being read stays where it is");

  await page.getByRole("button", { name: "Newest message" }).click();
  assert.ok((await distance()) < 60);
  await page.getByRole("button", { name: "Stop the agent" }).click();
  await idle(page);
  assert.deepEqual(page.problems, []);
});

test("a selection in words that stream in is kept", async () => {
  const page = await session("demo");
  await say(page, "/long 300");
  await until(page, "words are there", async () => (await answer(page).textContent()).includes("word 20 "));
  const selected = () => page.evaluate(() => String(getSelection()));
  await answer(page).locator("p").evaluate((p) => getSelection().setBaseAndExtent(p.firstChild, 0, p.firstChild, 12));
  const before = await selected();
  await until(page, "more words are there", async () => (await answer(page).textContent()).includes("word 60 "));
  assert.equal(await selected(), before);
});

test("enter sends, shift and enter breaks the line, and what is pasted or composed does not send", async () => {
  const page = await session();
  await box(page).fill("first");
  await box(page).press("Shift+Enter");
  await page.keyboard.type("second");
  assert.equal(await box(page).inputValue(), "first\nsecond");

  await box(page).fill("");
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.evaluate(() => navigator.clipboard.writeText("a\nb\n"));
  await box(page).press("Control+v");
  assert.equal(await box(page).inputValue(), "a\nb\n");
  assert.equal(await page.locator(".user").count(), 0);

  await box(page).evaluate((it) => it.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", isComposing: true, bubbles: true, cancelable: true })));
  assert.equal(await page.locator(".user").count(), 0);
  await box(page).fill("say done");
  await box(page).press("Enter");
  await answer(page).getByText("done").waitFor();
  assert.equal(await box(page).inputValue(), "");
  assert.deepEqual(page.problems, []);
});

test("drafts are kept for each session, and what was said comes back with the arrow key", async () => {
  const page = await session();
  await say(page, "say one");
  await say(page, "say two");
  await idle(page);
  await box(page).press("ArrowUp");
  await until(page, "the last message is back", async () => (await box(page).inputValue()) === "say two");
  await box(page).press("ArrowUp");
  assert.equal(await box(page).inputValue(), "say one");
  await box(page).press("ArrowDown");
  await box(page).press("ArrowDown");
  assert.equal(await box(page).inputValue(), "");

  await box(page).fill("not yet sent");
  await page.reload();
  await box(page).waitFor();
  assert.equal(await box(page).inputValue(), "not yet sent");
  assert.deepEqual(page.problems, []);
});

test("what was said comes back with the arrow key although a long answer hides it", async () => {
  const page = await session();
  await say(page, "flood 200 && say the end");
  await answer(page).getByText("the end").waitFor();
  await idle(page);
  await page.reload();
  await answer(page).getByText("the end").waitFor();
  assert.equal(await page.locator(".user").count(), 0);
  await box(page).press("ArrowUp");
  assert.equal(await box(page).inputValue(), "flood 200 && say the end");
  assert.deepEqual(page.problems, []);
});

test("commands of the agent are completed", async () => {
  const page = await session("demo");
  await say(page, "hello");
  await idle(page);
  await box(page).fill("");
  await box(page).press("/");
  const offered = page.getByRole("listbox", { name: "Commands" }).getByRole("option");
  await offered.filter({ hasText: "/plan" }).waitFor();
  await page.keyboard.type("pl");
  assert.equal(await offered.count(), 1);
  await page.keyboard.press("Tab");
  assert.equal(await box(page).inputValue(), "/plan ");
  await box(page).fill("/");
  await page.keyboard.press("Escape");
  assert.equal(await offered.count(), 0);
  await box(page).fill("/plan");
  await page.keyboard.press("Enter");
  await page.locator(".plan").getByText("3 of 3").waitFor();
  assert.deepEqual(page.problems, []);
});

test("modes are chosen where the agent offers them", async () => {
  const page = await session("demo");
  const picker = page.getByRole("combobox", { name: "Mode" });
  await picker.waitFor();
  await picker.selectOption("auto");
  await say(page, "/write notes.txt hello");
  await page.getByText("I wrote notes.txt.").waitFor();
  assert.equal(await page.getByText("Permission required").count(), 0);
  assert.equal(await picker.inputValue(), "auto");
  assert.deepEqual(page.problems, []);
});

test("w2 prompts wait in their order below the running turn and move up one by one, in every window", async () => {
  const page = await session();
  const windows = [page, await anotherWindow(page, daemon, new URL(page.url()).pathname)];
  const waiting = (window) => window.locator(".queue li").allTextContents();
  const all = async (what, expected) => {
    for (const window of windows) await until(window, what, async () => (await waiting(window)).join("|") === expected.join("|"));
  };
  await say(page, "gate");
  await page.getByText("The first half,").waitFor();
  const later = ["say two", "wait", "say four", "say five"];
  for (const text of later) await say(page, text);
  await all("all wait", later);
  const isBelow = () => page.evaluate(() => document.querySelector(".queue").getBoundingClientRect().top >= document.querySelector(".running").getBoundingClientRect().bottom);
  assert.ok(await isBelow());
  await page.reload();
  await all("all wait after a reload", later);

  // The turn ends, the next one runs, and the one after it is stopped.
  writeFileSync(join(daemon.project, "gate"), "");
  await all("the third one runs", later.slice(2));
  await page.keyboard.press("Control+.");
  await page.getByRole("dialog", { name: "Stop the agent?" }).getByRole("button", { name: /send the next message/ }).click();
  await all("nothing waits", []);
  const spoken = ["gate", "The first half, and the second half.", "say two", "two", "wait", "say four", "four", "say five", "five"];
  const said = (window) => window.locator(".user[data-key] .md, .assistant .md").evaluateAll((words) => words.map((it) => it.textContent.trim()));
  for (const window of windows) {
    await idle(window);
    await until(window, "everything was said", async () => (await said(window)).length === spoken.length);
    assert.deepEqual(await said(window), spoken);
  }
  await page.reload();
  await until(page, "everything is there again", async () => (await said(page)).length === spoken.length);
  assert.deepEqual(await said(page), spoken);
  assert.deepEqual(windows.map(({ problems }) => problems), [[], []]);
});

test("a session that ended says so and can be resumed", async () => {
  const page = await session("demo");
  await say(page, "hello");
  await idle(page);
  await daemon.api("POST", `/sessions/${new URL(page.url()).pathname.split("/").at(-1)}/complete`);
  await page.getByText("This session has ended.").waitFor();
  await until(page, "the composer is disabled", () => box(page).isDisabled());
  assert.equal(await box(page).getAttribute("placeholder"), "This session does not accept messages");
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByText("This session has ended.").waitFor({ state: "hidden" });
  await say(page, "hello again");
  await answer(page).getByText("You said: hello again").waitFor();
  assert.deepEqual(page.problems, []);
});

test("s10 a message resumes a session that ended by idleness", async () => {
  // Six hundred milliseconds.
  daemon = await new Daemon().start({ env: { AGENT_SESSION_IDLE_TIMEOUT: "0.01" } });
  const { id } = await daemon.createSession(await daemon.addProject(), "demo");
  const page = await openPage(browser, daemon, { path: `/s/${id}` });
  await page.getByText("This session ended after a time without activity.").waitFor();
  await say(page, "hello");
  await answer(page).getByText("You said: hello").waitFor();
  assert.deepEqual(page.problems, []);
});

test("a failed turn says why, and the session goes on", async () => {
  const page = await session("demo");
  await say(page, "/fail");
  await page.locator(".notice.failure").waitFor();
  await say(page, "/crash");
  await until(page, "the crash is shown", async () => (await page.locator(".notice.failure:visible").count()) === 2);
  await idle(page);
  await say(page, "still there?");
  await answer(page).getByText("You said: still there?").waitFor();
  assert.deepEqual(page.problems, []);
});

test("a long history opens at its end and is loaded as one scrolls up", async () => {
  const page = await session();
  // So much is answered that the message may be out of the page before anyone looks for it.
  await (await write(page, "say the very beginning && flood 800 && say the end")).press("Enter");
  // Eight hundred calls take their time on a busy machine.
  await answer(page).getByText("the end").waitFor({ timeout: 120_000 });
  await idle(page);
  await page.reload();
  await answer(page).getByText("the end").waitFor();
  const count = () => page.locator(".entry").count();
  assert.ok((await count()) <= 200, `${await count()} entries at first`);

  const beginning = page.locator(".assistant", { hasText: "the very beginning" });
  const scroller = page.getByRole("region", { name: "Conversation" });
  while (!(await beginning.count())) {
    const before = await count();
    const { id, top } = await scroller.evaluate((it) => {
      it.scrollTop = 0;
      const first = it.querySelector(".entry");
      return { id: first.dataset.key, top: first.getBoundingClientRect().top };
    });
    await until(page, "older entries have come", async () => (await count()) > before);
    // What is being read does not jump when they come in front of it.
    const now = await page.locator(`[data-key="${id}"]`).evaluate((it) => it.getBoundingClientRect().top);
    assert.ok(Math.abs(now - top) < 60, `it moved from ${top} to ${now}`);
  }
  assert.deepEqual(page.problems, []);
});
