// What agents ask: permissions and questions, answered in the conversation and in the inbox.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { anotherWindow, chat, Daemon, idle, openPage, openSession, program, say, until } from "./harness.js";
import { findings } from "./judges.js";
import { daemonPerTest } from "./stage.js";

let browser;
let daemon;
daemonPerTest((opened) => (browser = opened));

/** The shell with one session in a tab. */
async function session(agent = "demo") {
  daemon = await new Daemon().start();
  await daemon.createSession(await daemon.addProject(), agent);
  const page = await openPage(browser, daemon);
  return { page, conversation: await openSession(page, "New Session") };
}

test("q19 a permission is given in the conversation", async () => {
  const { page, conversation } = await session();
  await say(conversation, "/write notes.txt hello");
  const card = conversation.locator("convoke-permission");
  await conversation.getByRole("group", { name: "Permission required: Write notes.txt" }).waitFor();
  await card.getByText("Permission required to change a file").waitFor();
  await card.locator(".diff").getByText("hello").waitFor();
  await until(page, "the window title shows it", async () => (await page.title()).startsWith("(1) "));
  assert.equal(await page.locator(".session .dot").getAttribute("data-mark"), "needs_you");
  await card.getByRole("button", { name: "Allow once" }).click();
  await conversation.getByText("I wrote notes.txt.").waitFor();
  await until(page, "nothing waits", async () => !(await page.title()).startsWith("("));
  await conversation.locator(".tool .tool-verdict").getByText("Allowed").waitFor();
  assert.equal(await card.isVisible(), false, "the answered request is a part of its call");
  assert.deepEqual(page.problems, []);
});

test("q19 a permission is refused in own words, and the keyboard is enough", async () => {
  const { page, conversation } = await session();
  await say(conversation, "/write notes.txt hello");
  const card = conversation.locator("convoke-permission");
  await card.getByRole("button", { name: "Deny with a note…" }).press("Enter");
  await page.keyboard.type("1 not now, please");
  assert.equal(await card.getAttribute("data-status"), "pending", "digits that are typed choose nothing");
  await page.keyboard.press("Enter");
  await conversation.locator(".tool q").getByText("1 not now, please").waitFor();
  assert.ok(await conversation.locator(".tool").evaluate((it) => it.contains(document.activeElement)), "the focus stays after an answer by keyboard");
  await conversation.getByText("You did not allow it").waitFor();

  await idle(conversation);
  await say(conversation, "/write notes.txt hello");
  const second = conversation.locator("convoke-permission").nth(1);
  await second.getByRole("button", { name: "Deny", exact: true }).focus();
  await page.keyboard.press("1");
  await conversation.getByText("I wrote notes.txt.").waitFor();
  assert.deepEqual(page.problems, []);
});

test("q19 questions of an agent are answered in the conversation; drafts outlive a reload", async () => {
  const { page, conversation } = await session();
  await say(conversation, "/ask");
  const card = conversation.locator("convoke-question");
  await card.waitFor();
  const options = card.getByRole("radio").or(card.getByRole("checkbox"));
  await options.first().check();
  const own = card.getByRole("textbox", { name: /^Your own answer/ });
  await own.fill("and 2 words of mine");
  await page.reload();
  await chat(page).locator("convoke-question").waitFor();
  assert.equal(await own.inputValue(), "and 2 words of mine");
  assert.equal(await options.first().isChecked(), true);
  await own.press("Control+Enter");
  await conversation.getByText("Thank you. This is what reached me:").waitFor();
  await conversation.locator(".assistant pre").getByText("→ Other: 'and 2 words of mine'").waitFor();
  await card.locator(".answers").getByText("“and 2 words of mine”").waitFor();
  assert.deepEqual(page.problems, []);
});

test("q19 the inbox gathers what waits in all sessions and answers it in place", async () => {
  const { page, conversation } = await session();
  await say(conversation, "/write a.txt hello");
  const { repos } = await daemon.api("GET", "/repos");
  const other = await daemon.createSession(repos[0]);
  await daemon.api("POST", `/sessions/${other.id}/prompt`, { text: "/write b.txt hello" });
  await page.locator("#inbox-count").getByText("2").waitFor();
  await page.keyboard.press("Alt+i");
  const inbox = page.getByRole("complementary", { name: "Inbox" });
  const asked = inbox.locator("[data-group=needsYou]").getByRole("article");
  const item = (title) => asked.filter({ hasText: title });
  await item("Write b.txt").getByRole("button", { name: "Allow once" }).click();
  await until(page, "one is left", async () => (await asked.count()) === 1);
  // Beside the conversation it stays; where it covers the conversation, it makes way.
  await item("Write a.txt").getByRole("button", { name: "/write a.txt hello" }).click();
  assert.equal(await inbox.isVisible(), true);
  await page.setViewportSize({ width: 1100, height: 800 });
  await item("Write a.txt").getByRole("button", { name: "/write a.txt hello" }).click();
  await inbox.waitFor({ state: "hidden" });
  await page.keyboard.press("Alt+i");
  await item("Write a.txt").getByRole("button", { name: "Deny", exact: true }).click();
  await asked.waitFor({ state: "detached" });
  await conversation.getByText("You did not allow it").waitFor();
  await until(page, "the title counts the other session, which has finished unseen", async () => /^●1 \/write a\.txt hello/.test(await page.title()));
  assert.deepEqual(page.problems, []);
});

test("q19 questions of a program without a session are answered in the inbox", async () => {
  const { page } = await session();
  const file = `${daemon.folder}/questions.json`;
  writeFileSync(file, JSON.stringify({ questions: [
    { prompt: "Which colours?", title: "Colours", options: [{ label: "Red" }, { label: "Green (recommended)" }, { label: "Blue" }], multiSelect: true },
    { prompt: "Which size?", title: "Size", options: [{ label: "Small", description: "fits" }, { label: "Large" }], multiSelect: false },
  ] }));
  const asking = spawn(program, ["ask", file, "--home", daemon.home], { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  asking.stdout.on("data", (text) => (said += text));
  const over = new Promise((resolve) => asking.on("exit", resolve));
  await page.locator("#inbox-count").getByText("1").waitFor();
  await page.locator("#open-inbox").click();
  const card = page.locator("convoke-inbox convoke-question");
  assert.equal(await card.getByRole("checkbox", { name: /^Green/ }).isChecked(), true, "what is recommended is chosen");
  assert.equal(await card.getByRole("button", { name: "Send" }).isEnabled(), false);
  await card.getByRole("checkbox", { name: "Blue" }).check();
  await card.getByText("1 of 2 answered").waitFor();
  await card.getByRole("radio", { name: /^Small/ }).focus();
  await page.keyboard.press("2");
  await card.getByText("2 of 2 answered").waitFor();
  await card.getByRole("button", { name: "Send" }).click();
  assert.equal(await over, 0);
  assert.match(said, /→ Green \(recommended\)\n→ Blue/);
  assert.match(said, /→ Large/);
  assert.deepEqual(page.problems, []);
});

test("q4 questions whose asker has gone are not counted, and are answered or dismissed in a quiet place", async () => {
  const { page } = await session();
  const file = `${daemon.folder}/left.json`;
  writeFileSync(file, JSON.stringify({ questions: [{ prompt: "Which size?", title: "Size", options: [{ label: "Small" }, { label: "Large" }], multiSelect: false }] }));
  /** Asks, and goes away again. */
  const leave = async (count) => {
    const asking = spawn(program, ["ask", file, "--home", daemon.home], { stdio: "ignore" });
    await page.locator("#inbox-count").getByText("1").waitFor();
    asking.kill("SIGINT");
    await page.locator("#inbox-count").waitFor({ state: "hidden" });
    await page.locator("#home [data-group=left] .many").getByText(String(count)).waitFor({ state: "attached" });
  };
  await page.keyboard.press("Alt+0");
  await leave(1);
  await leave(2);
  assert.doesNotMatch(await page.title(), /^\(/);
  assert.equal(daemon.command("status").inbox, 0);
  const left = page.locator("#home [data-group=left]");
  assert.equal(await left.locator("convoke-question").first().isVisible(), false, "folded");
  await left.getByText("No longer waited for").click();
  assert.deepEqual(await findings(page, "left"), []);
  await left.getByRole("button", { name: "Dismiss" }).first().click();
  await left.locator(".many").getByText("1").waitFor();
  await left.getByRole("button", { name: "Answer anyway" }).click();
  await left.getByRole("radio", { name: /^Large/ }).check();
  await left.getByRole("button", { name: "Send" }).click();
  await left.waitFor({ state: "hidden" });
  assert.equal((await daemon.api("GET", "/inbox")).items.length, 0);
  assert.deepEqual(page.problems, []);
});

test("the first answer wins, and the other window hears of it", async () => {
  const { page, conversation } = await session();
  await say(conversation, "/write notes.txt hello");
  const second = await anotherWindow(page, daemon);
  const there = await openSession(second, "/write notes.txt hello");
  await there.locator("convoke-permission").getByRole("button", { name: "Deny", exact: true }).waitFor();
  await conversation.locator("convoke-permission").getByRole("button", { name: "Allow once" }).click();
  await there.locator(".tool .tool-verdict").getByText("Allowed").waitFor();
  await until(second, "its inbox is empty", async () => !(await second.title()).startsWith("("));
  assert.deepEqual([page.problems, second.problems], [[], []]);
});

test("a notification is shown for a request while the page is hidden", async () => {
  const { page, conversation } = await session();
  await page.context().grantPermissions(["notifications"]);
  await page.reload();
  await page.evaluate(() => {
    window.notes = [];
    window.Notification = class { constructor(title) { window.notes.push(title); } static permission = "granted"; static requestPermission = async () => "granted"; };
  });
  await page.keyboard.press("Alt+i");
  await page.getByRole("button", { name: "Notify me" }).click();
  await page.getByRole("button", { name: "Notifications on" }).waitFor();
  await page.evaluate(() => Object.defineProperty(document, "visibilityState", { get: () => "hidden" }));
  await chat(page).getByRole("textbox", { name: "Message" }).waitFor();
  await say(conversation, "/write notes.txt hello");
  await until(page, "the notification was shown", async () => (await page.evaluate(() => window.notes.length)) === 1);
  assert.match((await page.evaluate(() => window.notes))[0], /Write notes\.txt/);
});
