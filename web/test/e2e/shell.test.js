// The shell: projects, sessions and tabs, as a person uses them.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { anotherWindow, chat, Daemon, idle, openPage, openSession, rowMenu, say, startSession, until } from "./harness.js";
import { daemonPerTest } from "./stage.js";

let browser;
let daemon;
daemonPerTest((opened) => (browser = opened));

/** A page with one project and sessions with these first messages, last one newest. */
async function workbench(...messages) {
  daemon = await new Daemon().start();
  const repo = await daemon.addProject();
  for (const text of messages) {
    const session = await daemon.createSession(repo);
    await daemon.api("POST", `/sessions/${session.id}/prompt`, { text });
  }
  const page = await openPage(browser, daemon);
  for (const text of messages) await page.locator(".session a", { hasText: text }).waitFor();
  return page;
}

const titles = (page) => page.locator(".tab:not(.home) .title").allTextContents();

test("w6 a first visit leads from an empty page to a first answer", async () => {
  daemon = new Daemon();
  await daemon.start({ env: { HOME: daemon.folder } });
  const page = await openPage(browser, daemon);
  await page.getByText("No projects yet.").waitFor();
  await page.locator("#home").getByRole("button", { name: "Add a project" }).click();

  // The path is completed folder by folder.
  const field = page.getByRole("combobox", { name: "Path of the folder" });
  await field.fill("~/work/al");
  await page.getByRole("option", { name: daemon.project }).waitFor();
  await field.press("ArrowDown");
  await field.press("Enter");
  assert.equal(await field.inputValue(), `${daemon.project}/`);
  await field.press("Enter");
  await page.getByText("No sessions. Create one to get started.").waitFor();

  // Agents that are not installed say how to install them, and cannot be chosen.
  const start = page.locator("convoke-start");
  await start.getByRole("textbox", { name: "What should be done?" }).and(page.locator(":focus")).waitFor();
  await start.getByRole("button", { name: "Agent: " }).click();
  await page.getByRole("menuitem", { name: "More agents…" }).click();
  const more = page.getByRole("dialog", { name: "More agents" });
  await more.locator(".missing code").first().waitFor();
  const badges = await more.locator(".badge").allTextContents();
  assert.deepEqual(["CC", "CX"].filter((badge) => !badges.includes(badge)), []);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator(".session").count(), 0);

  const conversation = await startSession(page, "Hello there, demo agent", { agent: "Demo" });
  await conversation.getByRole("textbox", { name: "Message" }).and(conversation.locator(":focus")).waitFor();
  await conversation.getByText("I am the demo agent.").waitFor();

  // Its title comes from the first message, in the sidebar, in the tab and in the window.
  const row = page.locator(".session", { hasText: "Hello there, demo agent" });
  await row.waitFor();
  assert.equal(await row.locator(".badge").textContent(), "DM");
  assert.equal(await row.locator("time").textContent(), "now");
  assert.deepEqual(await titles(page), ["Hello there, demo agent"]);
  await until(page, "the title names it", async () => (await page.title()) === "Hello there, demo agent · Convoke");
  assert.deepEqual(page.problems, []);
});

test("w9 tabs are opened once, closed, ordered by keys and by dragging, and restored after a reload", async () => {
  const page = await workbench("one", "two", "three");
  for (const title of ["one", "two", "three", "one"]) await openSession(page, title);
  assert.deepEqual(await titles(page), ["one", "two", "three"]);

  // Dragged: the first to the end.
  const [first, last] = [page.getByRole("tab", { name: "one" }), page.getByRole("tab", { name: "three" })];
  const [from, to] = [await first.boundingBox(), await last.boundingBox()];
  await page.mouse.move(from.x + 40, from.y + 15);
  await page.mouse.down();
  await page.mouse.move(to.x + to.width - 8, to.y + 15, { steps: 12 });
  await page.mouse.up();
  assert.deepEqual(await titles(page), ["two", "three", "one"]);
  // Releasing the tab is a click: its conversation takes the focus, a moment later.
  const box = chat(page).getByRole("textbox", { name: "Message" });
  await box.and(chat(page).locator(":focus")).waitFor();

  // By keys: back to the front.
  await first.focus();
  await page.keyboard.press("Control+ArrowLeft");
  await page.keyboard.press("Control+ArrowLeft");
  assert.deepEqual(await titles(page), ["one", "two", "three"]);
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "one");

  await page.keyboard.press("ArrowRight");
  assert.equal(await page.getByRole("tab", { selected: true }).textContent(), "two");
  await page.keyboard.press("Delete");
  assert.deepEqual(await titles(page), ["one", "three"]);

  await page.reload();
  await chat(page).getByRole("textbox", { name: "Message" }).waitFor();
  assert.deepEqual(await titles(page), ["one", "three"]);
  assert.deepEqual(page.problems, []);
});

test("w9 archiving closes the tab and can be undone", async () => {
  const page = await workbench("keep me", "archive me");
  await openSession(page, "keep me");
  await openSession(page, "archive me");
  await rowMenu(page, "archive me", "Archive (Delete)");
  await until(page, "the tab is closed", async () => (await titles(page)).join() === "keep me");
  assert.equal(await page.locator(".session", { hasText: "archive me" }).count(), 0);

  await page.getByRole("button", { name: "Undo" }).click();
  await page.locator(".session a", { hasText: "archive me" }).waitFor();
  await until(page, "its tab is back", async () => (await titles(page)).includes("archive me"));
  assert.deepEqual(page.problems, []);
});

test("w9 a session that was archived elsewhere closes here, also if the page was closed meanwhile", async () => {
  const page = await workbench("first one", "second one");
  await openSession(page, "first one");
  await openSession(page, "second one");
  const { sessions } = await daemon.api("GET", "/sessions");
  const idOf = (title) => sessions.find((session) => session.title === title).id;
  await daemon.api("PATCH", `/sessions/${idOf("second one")}`, { archived: true });
  await until(page, "the tab is closed", async () => (await titles(page)).join() === "first one");

  const address = page.url();
  await page.goto("about:blank");
  await daemon.api("PATCH", `/sessions/${idOf("first one")}`, { archived: true });
  const received = [];
  page.on("websocket", (socket) => socket.on("framereceived", ({ payload }) => received.push(String(payload))));
  await page.goto(address);
  await until(page, "the tab is closed", async () => (await titles(page)).length === 0);

  // The archive is one list with search, and gives it back.
  await page.getByRole("button", { name: "Archive", exact: true }).click();
  const archive = page.locator("convoke-archive");
  await until(page, "both are listed", async () => (await archive.getByRole("listitem").count()) === 2);
  await archive.getByRole("searchbox").fill("FIRST alpha");
  await until(page, "one matches", async () => (await archive.getByRole("listitem").count()) === 1);
  // Its name is the new one everywhere, also in the question before it is deleted.
  await daemon.api("PATCH", `/sessions/${idOf("first one")}`, { title: "First of all" });
  await archive.getByRole("button", { name: "Delete First of all" }).click();
  await page.getByRole("dialog", { name: "Delete “First of all”?" }).getByRole("button", { name: "Cancel" }).click();
  // While another tab is shown, nothing is read.
  const asked = [];
  page.on("request", (request) => request.url().includes("archived=true&limit") && asked.push(request.url()));
  await page.keyboard.press("Alt+0");
  await archive.waitFor({ state: "hidden" });
  for (const title of ["Another name", "first one"]) await daemon.api("PATCH", `/sessions/${idOf("first one")}`, { title });
  const { id } = await daemon.createSession({ id: sessions[0].repoId });
  await daemon.api("PATCH", `/sessions/${id}`, { archived: true });
  await until(page, "the page knows of all", () => received.some((frame) => frame.includes("session:archived") && frame.includes(id)));
  assert.equal(asked.length, 0);
  await page.getByRole("button", { name: "Archive", exact: true }).click();
  await archive.getByRole("button", { name: "Restore first one" }).waitFor();
  assert.equal(asked.length, 1);
  await archive.getByRole("button", { name: "Restore first one" }).click();
  await page.locator(".session a", { hasText: "first one" }).waitFor();
  assert.deepEqual(page.problems, []);
});

test("w9 the archive has the sessions of a removed project, opens them and gives them back", async () => {
  const page = await workbench("first one", "second one");
  const { sessions } = await daemon.api("GET", "/sessions");
  for (const { id } of sessions) await daemon.api("PATCH", `/sessions/${id}`, { archived: true });
  await daemon.api("DELETE", `/repos/${sessions[0].repoId}`);
  // A folder without listed sessions is not shown beside the projects.
  await page.reload();
  await page.getByText("No projects yet.").waitFor();
  await page.getByRole("button", { name: "Archive", exact: true }).click();
  const archive = page.locator("convoke-archive");
  await archive.getByRole("searchbox").fill("FIRST alpha");
  await archive.getByRole("listitem").filter({ hasText: "alpha · no project" }).waitFor();
  assert.equal(await archive.getByRole("listitem").count(), 1);
  assert.equal(await page.getByRole("button", { name: /^Other folders/ }).count(), 0);
  await archive.getByRole("button", { name: "first one", exact: true }).click();
  await chat(page).getByText("This session is archived.").waitFor();
  await page.locator(".tab", { hasText: "Archive" }).click();
  await archive.getByRole("button", { name: "Restore first one" }).click();
  await page.getByRole("button", { name: /^Other folders/ }).click();
  await page.locator(".folder .fold", { hasText: "alpha" }).click();
  await page.locator(".session a", { hasText: "first one" }).waitFor();
  await archive.getByRole("searchbox").fill("");
  await until(page, "one is left", async () => (await archive.getByRole("listitem").count()) === 1);
  assert.deepEqual(page.problems, []);
});

test("w9 a session is deleted for good, here and in every other window, after a question that says what goes", async () => {
  const page = await workbench("keep me", "delete me");
  await openSession(page, "delete me");
  const other = await anotherWindow(page, daemon);
  await other.locator(".session a", { hasText: "delete me" }).waitFor();
  const before = (await daemon.api("GET", "/search?q=delete")).hits.length;
  assert.ok(before > 0);
  const dialog = page.getByRole("dialog", { name: "Delete “delete me”?" });
  await rowMenu(page, "delete me", "Delete…");
  await dialog.getByText(/All of its \d+ messages, its requests/).waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  assert.equal(await page.locator(".session", { hasText: "delete me" }).count(), 1);
  await rowMenu(page, "delete me", "Delete…");
  await dialog.getByRole("button", { name: "Delete" }).click();
  for (const window of [page, other]) await window.locator(".session a", { hasText: "delete me" }).waitFor({ state: "detached" });
  await until(page, "its tab is closed", async () => (await titles(page)).length === 0);
  assert.equal((await daemon.api("GET", "/search?q=delete")).hits.length, 0);

  // From the archive, too.
  await rowMenu(page, "keep me", "Archive (Delete)");
  await page.getByRole("button", { name: "Archive", exact: true }).click();
  await page.getByRole("button", { name: "Delete keep me" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("No archived sessions.").waitFor();
  assert.equal((await daemon.api("GET", "/sessions?archived=true")).total, 0);
  assert.deepEqual([page.problems, other.problems], [[], []]);
});

test("w9 a session is renamed in place, here and in every other window", async () => {
  const page = await workbench("old name");
  const conversation = await openSession(page, "old name");
  await page.locator(".session a").focus();
  await page.keyboard.press("F2");
  await page.getByRole("textbox", { name: "Title of the session" }).fill("new name");
  await page.keyboard.press("Enter");
  await until(page, "the tab is renamed", async () => (await titles(page)).join() === "new name");
  await conversation.getByRole("heading", { name: "new name" }).waitFor();

  // Escape leaves it as it was.
  await page.locator(".session a").focus();
  await page.keyboard.press("F2");
  await page.getByRole("textbox", { name: "Title of the session" }).fill("never mind");
  await page.keyboard.press("Escape");
  assert.equal(await page.locator(".session .title").textContent(), "new name");

  // From the conversation.
  await conversation.getByRole("button", { name: "new name" }).click();
  await conversation.getByRole("textbox", { name: "Title of the session" }).fill("third name");
  await conversation.getByRole("textbox", { name: "Title of the session" }).press("Enter");
  await page.locator(".session a", { hasText: "third name" }).waitFor();
  assert.deepEqual(page.problems, []);
});

test("w6 projects are folded, and removed only after a question", async () => {
  const page = await workbench("apples and pears", "only apples");
  await page.getByRole("button", { name: /^alpha/ }).click();
  assert.equal(await page.locator(".session:visible").count(), 0);
  await page.reload();
  await page.getByRole("button", { name: /^alpha/ }).waitFor();
  assert.equal(await page.locator(".session:visible").count(), 0, "it stays folded");

  await page.locator(".project-head").hover();
  await page.getByRole("button", { name: "Menu of alpha" }).click();
  await page.getByRole("menuitem", { name: "Remove project…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  assert.equal(await page.locator(".project").count(), 1);
  await page.locator(".project-head").hover();
  await page.getByRole("button", { name: "Menu of alpha" }).click();
  await page.getByRole("menuitem", { name: "Remove project…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await page.getByText("No projects yet.").waitFor();

  // Its sessions stay readable, below the projects.
  const folders = page.getByRole("button", { name: /^Other folders/ });
  await folders.click();
  await page.getByRole("button", { name: /^alpha/ }).click();
  await page.locator(".session a", { hasText: "only apples" }).waitFor();
  await page.keyboard.press("Alt+0");
  await page.locator("#home .item", { hasText: "only apples" }).locator(".place", { hasText: "alpha" }).waitFor();
  await page.reload();
  await folders.waitFor();
  assert.equal(await page.locator(".session:visible").count(), 0, "they are folded at first");
  await page.locator("#home .item", { hasText: "only apples" }).locator(".place", { hasText: "alpha" }).waitFor();
  assert.deepEqual(page.problems, []);
});

test("a menu of many projects fits into the window, and letters go to its items", async () => {
  daemon = await new Daemon().start();
  await daemon.addProject();
  for (let number = 1; number <= 30; number += 1) {
    mkdirSync(join(daemon.root, `service-${number}`));
    await daemon.addProject(join(daemon.root, `service-${number}`));
  }
  for (const viewport of [{ width: 1280, height: 600 }, { width: 390, height: 740 }]) {
    const page = await openPage(browser, daemon, { viewport });
    await page.getByRole("button", { name: "Project: alpha" }).click();
    const menu = await page.getByRole("menu").boundingBox();
    assert.ok(menu.y >= 0 && menu.y + menu.height <= viewport.height, JSON.stringify(menu));
    await page.keyboard.press("End");
    await until(page, "the last item is in sight", () => page.getByRole("menuitem", { name: "Add a project…" }).evaluate((it) => it === document.activeElement && it.getBoundingClientRect().bottom <= innerHeight));
    await page.keyboard.press("s");
    await page.keyboard.press("s");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "service-2");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Project: service-2" }).waitFor();
    // What is chosen is where the keyboard begins.
    await page.getByRole("button", { name: "Project: service-2" }).click();
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "service-2");
    assert.deepEqual(page.problems, []);
  }
});

test("the sidebar keeps its width and the page its theme", async () => {
  const page = await workbench();
  const width = () => page.locator("#side").evaluate((side) => side.offsetWidth);
  const grip = await page.locator("#grip").boundingBox();
  await page.mouse.move(grip.x + 4, 300);
  await page.mouse.down();
  await page.mouse.move(grip.x + 84, 300, { steps: 4 });
  await page.mouse.up();
  const wide = await width();
  await page.locator("#grip").focus();
  await page.keyboard.press("ArrowLeft");
  const theme = () => page.evaluate(() => [document.documentElement.dataset.theme, getComputedStyle(document.documentElement).colorScheme].join());
  await page.locator("#theme").click();
  await page.locator("#theme").click();
  await page.reload();
  await page.locator(".project").waitFor();
  assert.equal(await width(), wide - 16);
  assert.equal(await theme(), "dark,dark");
  await page.keyboard.press("Alt+b");
  assert.equal(await page.locator("#side").isVisible(), false);
  await page.keyboard.press("Alt+b");
  assert.equal(await page.locator("#side").isVisible(), true);
  assert.deepEqual(page.problems, []);
});

test("a theme that is chosen in one window is that of all", async () => {
  const page = await workbench();
  const other = await anotherWindow(page, daemon);
  const theme = (window) => window.evaluate(() => document.documentElement.dataset.theme ?? "");
  await page.locator("#theme").click();
  await page.locator("#theme").click();
  assert.equal(await theme(page), "dark");
  await until(other, "the other window is dark too", async () => (await theme(other)) === "dark");
  assert.deepEqual([page.problems, other.problems], [[], []]);
});

test("w4 w2 a session moves up when something is said in it, and not when it is opened", async () => {
  const page = await workbench("one", "another");
  const order = () => page.locator(".session .title").allTextContents();
  const active = async () => (await daemon.api("GET", "/sessions")).sessions.map(({ title, lastActiveAt }) => [title, lastActiveAt]).sort().join();
  await until(page, "both are idle", async () => (await page.locator(".session [data-mark=working]").count()) === 0);
  const [newer, older] = await order();
  const before = await active();
  const conversation = await openSession(page, older);
  await conversation.getByText(`You said: ${older}`).waitFor();
  assert.equal(await active(), before);
  assert.deepEqual(await order(), [newer, older]);
  await say(conversation, "and now?");
  await until(page, "it is on top", async () => (await order())[0] === older);
  await idle(conversation);
  assert.notEqual(await active(), before);
});

test("w8 sessions that were made elsewhere do not appear by themselves", async () => {
  daemon = new Daemon();
  // Claude Code's own file of a conversation in a terminal, in this project.
  const own = join(daemon.folder, ".claude", "projects", daemon.project.replace(/[^A-Za-z0-9]/g, "-"));
  mkdirSync(own, { recursive: true });
  const line = { type: "user", sessionId: "0b6f3b8e-5b0c-4a52-9d53-0f4f6c1d2e3a", cwd: daemon.project, message: { role: "user", content: "from elsewhere" } };
  writeFileSync(join(own, `${line.sessionId}.jsonl`), `${JSON.stringify(line)}\n`);
  await daemon.start({ env: { HOME: daemon.folder } });
  await daemon.createSession(await daemon.addProject(), "scripted");
  const page = await openPage(browser, daemon);
  const conversation = await openSession(page, "New Session");
  await say(conversation, "say mine");
  await idle(conversation);
  await page.reload();
  await page.locator(".session a", { hasText: "say mine" }).waitFor();
  assert.equal(await page.locator(".session").count(), 1);
  assert.equal((await daemon.api("GET", "/sessions")).total, 1);
});

test("w10 w2 sessions are listed and read with every agent down", async () => {
  daemon = await new Daemon().start();
  const repo = await daemon.addProject();
  const { id } = await daemon.createSession(repo, "scripted");
  await daemon.api("POST", `/sessions/${id}/prompt`, { text: "say kept words" });
  const asked = await openPage(browser, daemon, { path: `/s/${id}` });
  await asked.locator(".assistant", { hasText: "kept words" }).waitFor();
  await idle(asked);
  await asked.close();
  await daemon.stop();
  const config = join(daemon.home, "config.toml");
  writeFileSync(config, readFileSync(config, "utf8").replace(/command = .*/, 'command = "/nowhere/agent"'));
  await daemon.start({ env: { PATH: "/nowhere" } });
  const page = await openPage(browser, daemon);
  const conversation = await openSession(page, "say kept words");
  await conversation.locator(".assistant", { hasText: "kept words" }).waitFor();
  // One can still archive, and only what needs the agent fails, in words.
  await say(conversation, "say more");
  await conversation.locator(".notice.grave").first().waitFor();
  await rowMenu(page, "say kept words", "Archive (Delete)");
  await until(page, "it is archived", async () => (await page.locator(".session").count()) === 0);
  assert.deepEqual(page.problems, []);
});
