// Going back: one change, one file, all files, the conversation, and back again; and another way on from a message.

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { changedFile as fileOf, chat, idle, say, until, workedOn, writing as write } from "./harness.js";
import { findingsInBoth } from "./judges.js";
import { daemonForAll } from "./stage.js";

const LINES = Array.from({ length: 30 }, (_, at) => `line ${at + 1}`);
const text = (change = {}) => `${LINES.map((line, at) => change[at + 1] ?? line).join("\n")}\n`;

let daemon;
let browser;
let made = 0;

daemonForAll((opened, started) => ([browser, daemon] = [opened, started]));

/** A project of its own with one file, a session in it, and its page after some prompts. */
async function talk(prompts, options) {
  const found = await workedOn(browser, daemon, `project-${(made += 1)}`, { "list.txt": text() }, prompts, options);
  return { ...found, read: (path) => readFileSync(join(found.folder, path), "utf8") };
}

/** Uses a button of the bar at a message. */
async function act(conversation, message, name) {
  await conversation.locator(".user[data-key]", { hasText: message }).hover();
  await conversation.getByRole("toolbar", { name: "Message" }).getByRole("button", { name }).click();
}

test("c4 one change of a file is reverted, and the others stay; that can be undone", async () => {
  const { page, read } = await talk([write({ "list.txt": text({ 2: "TWO", 25: "TWENTY-FIVE" }) })]);
  await page.keyboard.press("Alt+c");
  const list = fileOf(page, "list.txt");
  await list.getByText("TWENTY-FIVE").waitFor();
  await list.getByRole("button", { name: "Revert this change" }).first().click();
  const done = page.locator(".toast", { hasText: "Reverted one change in list.txt." });
  await done.waitFor();
  assert.equal(read("list.txt"), text({ 25: "TWENTY-FIVE" }));
  await until(page, "one change is left", async () => (await list.locator(".hunk").count()) === 1);
  await done.getByRole("button", { name: "Undo" }).click();
  await page.locator(".toast", { hasText: "Undone: 1 file written." }).waitFor();
  assert.equal(read("list.txt"), text({ 2: "TWO", 25: "TWENTY-FIVE" }));
  await until(page, "both are back", async () => (await list.getByRole("button", { name: "Revert this change" }).count()) === 2);
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test("c4 a file is reverted after a question, also one that is new", async () => {
  const { page, folder, read } = await talk([write({ "list.txt": text({ 1: "ONE" }), "new.txt": "new\n" })]);
  await page.keyboard.press("Alt+c");
  for (const path of ["list.txt", "new.txt"]) {
    await fileOf(page, path).getByRole("button", { name: `Menu of ${path}` }).click();
    await page.getByRole("menuitem", { name: "Revert this file…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revert", exact: true }).click();
    await page.locator(".toast", { hasText: `Reverted ${path}.` }).waitFor();
  }
  assert.equal(read("list.txt"), text());
  assert.equal(existsSync(join(folder, "new.txt")), false);
  await page.getByRole("heading", { name: "No files have changed" }).waitFor();
  await page.context().close();
});

test("c4 the diff of a turn says what was reverted of it", async () => {
  const { page, read } = await talk([write({ "list.txt": text({ 2: "TWO", 25: "TWENTY-FIVE" }) }), write({ "other.txt": "other\n" })]);
  await page.keyboard.press("Alt+c");
  await page.getByRole("combobox", { name: "Changes of" }).selectOption({ index: 2 });
  const list = fileOf(page, "list.txt");
  await list.getByRole("button", { name: "Revert this change" }).first().click();
  await list.locator(".hunk", { hasText: "reverted" }).waitFor();
  assert.equal(read("list.txt"), text({ 25: "TWENTY-FIVE" }));
  assert.equal(await list.getByRole("button", { name: "Revert this change" }).count(), 1);
  await page.locator("convoke-changes").getByRole("button", { name: "Menu of the changes" }).click();
  await page.getByRole("menuitem", { name: "Undo the last restore" }).click();
  await until(page, "both are offered again", async () => (await list.getByRole("button", { name: "Revert this change" }).count()) === 2);
  assert.equal(read("list.txt"), text({ 2: "TWO", 25: "TWENTY-FIVE" }));
  await page.context().close();
});

test("c5 what someone else changed is listed and left alone, until that is overwritten on purpose", async () => {
  const { page, folder, read } = await talk([write({ "list.txt": text({ 1: "ONE" }) })]);
  writeFileSync(join(folder, "list.txt"), "mine\n");
  await act(page, "write", "Restore to before this…");
  await page.getByRole("dialog").getByRole("button", { name: /^Files only/ }).click();
  const refused = page.getByRole("dialog", { name: "These files were changed by someone else" });
  await refused.getByText("list.txt").waitFor();
  assert.deepEqual(await findingsInBoth(page, "refused"), []);
  assert.equal(read("list.txt"), "mine\n");
  await page.keyboard.press("Escape");
  await refused.waitFor({ state: "detached" });
  assert.equal(read("list.txt"), "mine\n", "Escape leaves them");

  await act(page, "write", "Restore to before this…");
  assert.deepEqual(await findingsInBoth(page, "restore"), []);
  await page.getByRole("dialog").getByRole("button", { name: /^Files only/ }).click();
  await refused.getByRole("button", { name: "Overwrite" }).click();
  await page.locator(".toast", { hasText: "Restored: 1 file written." }).waitFor();
  assert.equal(read("list.txt"), text());
  // The notice in the conversation offers it, too.
  await page.locator(".notice", { hasText: "restored" }).getByRole("button", { name: "Undo" }).click();
  await page.locator(".toast", { hasText: "Undone: 1 file written." }).waitFor();
  assert.equal(read("list.txt"), "mine\n");
  await until(page, "nothing is left to undo", async () => (await page.locator(".notice").getByRole("button", { name: "Undo" }).count()) === 0);
  await page.context().close();
});

test("c5 files and conversation go back together: the conversation goes on in a session of its own, and the old one stays", async () => {
  const { page, conversation, read } = await talk([write({ "list.txt": text({ 1: "first" }) }), write({ "list.txt": text({ 1: "second" }) })], { inShell: true });
  await act(conversation, "second", "Restore to before this…");
  await conversation.getByRole("dialog").getByRole("button", { name: /^Files and conversation/ }).click();
  await page.locator(".toast", { hasText: "The conversation continues here." }).waitFor();
  assert.equal(read("list.txt"), text({ 1: "first" }));
  await until(page, "another tab", async () => (await page.getByRole("tab").count()) === 3);
  const next = chat(page);
  await next.locator(".user[data-key]", { hasText: "first" }).waitFor();
  assert.equal(await next.locator(".user[data-key]", { hasText: "second" }).count(), 0);
  await say(next, "say it goes on");
  await next.locator(".assistant", { hasText: "it goes on" }).waitFor();
  await page.context().close();
});

test("c5 the conversation alone goes back without touching a file", async () => {
  const { page, conversation, read } = await talk([write({ "list.txt": text({ 1: "kept" }) })], { inShell: true });
  await act(conversation, "kept", "Restore to before this…");
  await conversation.getByRole("button", { name: /^Files and conversation/ }).and(conversation.locator(":focus")).waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.locator(".toast", { hasText: "The conversation continues here, from before that message." }).waitFor();
  assert.equal(read("list.txt"), text({ 1: "kept" }));
  await page.context().close();
});

test("c8 a session is forked at a message, with what was said up to there", async () => {
  const { page, conversation } = await talk(["say one", "say two", "say three"].map((words) => `${words} && ${write({ "x.txt": `${words}\n` })}`), { inShell: true });
  await act(conversation, "say two", "Fork from here");
  await page.locator(".toast", { hasText: "Forked" }).waitFor();
  await until(page, "another tab", async () => (await page.getByRole("tab").count()) === 3);
  const next = chat(page);
  await next.locator(".user[data-key]", { hasText: "say two" }).waitFor();
  assert.equal(await next.locator(".user[data-key]", { hasText: "say three" }).count(), 0);
  await say(next, "parts");
  await idle(next);
  await page.locator(".session a", { hasText: "(fork of turn 2)" }).waitFor();
  assert.deepEqual(page.problems, []);
  await page.context().close();
});
