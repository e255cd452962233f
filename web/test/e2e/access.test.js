// The page for everybody: screen readers, keyboards, small screens, both themes, many sessions.

import assert from "node:assert/strict";
import { test } from "node:test";
import { findings } from "./judges.js";
import { chat, Daemon, idle, openPage, openSession, say, search, signIn, until } from "./harness.js";
import { daemonPerTest } from "./stage.js";

let browser;
let daemon;
daemonPerTest((opened) => (browser = opened));

/** A conversation with some of everything. */
async function furnished(options) {
  daemon = await new Daemon().start();
  const repo = await daemon.addProject();
  await daemon.createSession(repo, "scripted");
  // What moves is looked at when it has come to rest.
  const page = await openPage(browser, daemon, { reducedMotion: "reduce", ...options });
  if (options.viewport?.width < 720) await page.getByRole("button", { name: "Show the sidebar" }).click();
  const conversation = await openSession(page, "New Session");
  const tool = { title: "Edit it", kind: "edit", content: [{ type: "diff", path: "/tmp/a.rs", oldText: "let a = 1;\n", newText: "let a = 2;\nlet b = 3;\n" }] };
  const failed = { title: "Run it", kind: "execute", status: "failed", rawInput: { command: "make" }, content: [{ type: "content", content: { type: "text", text: "no rule" } }] };
  await say(conversation, `think about it && plan one step && tool ${JSON.stringify(tool)} && tool ${JSON.stringify(failed)} && say # Title\\n\\nWords with \`code\`, [a link](https://example.org).\\n\\n\`\`\`rust\\n// comment\\nfn main() { let x = "text"; }\\n\`\`\`\\n\\n| a | b |\\n|---|---|\\n| 1 | 2 |`);
  await idle(conversation);
  await say(conversation, "permit Write a file");
  await conversation.locator("convoke-permission").waitFor();
  return { page, conversation };
}

for (const colorScheme of ["light", "dark"]) {
  test(`axe finds nothing to complain about, ${colorScheme}`, async () => {
    const { page, conversation } = await furnished({ colorScheme });
    const found = await findings(page, "conversation");
    await conversation.locator(".tool summary").last().click();
    await conversation.locator(".thinking summary").click();
    await conversation.getByRole("button", { name: "Deny with a note…" }).click();
    found.push(...(await findings(page, "opened")));
    await page.keyboard.press("Alt+i");
    await page.locator("convoke-inbox convoke-permission").waitFor();
    found.push(...(await findings(page, "inbox")));
    await page.keyboard.press("Alt+n");
    await page.locator("#home convoke-permission").waitFor();
    found.push(...(await findings(page, "home")));
    await page.locator("convoke-start").getByRole("button", { name: "Agent: " }).click();
    found.push(...(await findings(page, "agents")));
    await page.getByRole("menuitem", { name: "More agents…" }).click();
    found.push(...(await findings(page, "more agents")));
    await page.keyboard.press("Escape");
    await search(page, "title");
    await page.getByRole("dialog", { name: "Search" }).locator("mark").first().waitFor();
    found.push(...(await findings(page, "palette")));
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Settings", exact: true }).click();
    await page.locator(".setting").first().waitFor();
    await page.getByRole("button", { name: "Sign out" }).first().waitFor();
    found.push(...(await findings(page, "settings")));
    await page.getByRole("button", { name: "Add a rule…" }).click();
    found.push(...(await findings(page, "add a rule")));
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Archive", exact: true }).click();
    await page.getByText("No archived sessions.").waitFor();
    found.push(...(await findings(page, "archive")));
    await page.getByRole("link", { name: "Teams" }).click();
    await chat(page).getByRole("heading", { name: "No teams yet" }).waitFor();
    found.push(...(await findings(page, "teams in the shell")));
    await page.getByRole("button", { name: "Add a project" }).click();
    await page.getByRole("option").first().waitFor();
    await page.keyboard.press("ArrowDown");
    found.push(...(await findings(page, "add project")));
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Keyboard shortcuts" }).click();
    found.push(...(await findings(page, "shortcuts")));
    await page.keyboard.press("Escape");
    await page.locator(".project-head").hover();
    await page.getByRole("button", { name: "Menu of alpha" }).click();
    found.push(...(await findings(page, "menu")));
    await page.keyboard.press("Escape");
    const address = await page.locator(".session a").getAttribute("href");
    await page.goto(daemon.origin + address);
    await page.locator("convoke-permission").waitFor();
    await page.getByRole("button", { name: "Session menu" }).click();
    found.push(...(await findings(page, "session as a page")));
    await page.goto(`${daemon.origin}/s/nowhere`);
    await page.getByRole("heading").waitFor();
    found.push(...(await findings(page, "no such session")));
    const stranger = await browser.newPage({ colorScheme });
    await stranger.goto(daemon.origin);
    await stranger.getByRole("heading", { name: "This browser is not signed in" }).waitFor();
    found.push(...(await findings(stranger, "not signed in")));
    await stranger.close();
    assert.deepEqual(found, []);
    assert.deepEqual(page.problems, []);
  });
}

test("360 pixels are enough", async () => {
  const { page, conversation } = await furnished({ viewport: { width: 360, height: 640 } });
  assert.deepEqual(await findings(page, "narrow"), []);
  const overflows = async () => {
    const wide = await Promise.all(page.frames().map((frame) => frame.evaluate(() => document.documentElement.scrollWidth > innerWidth)));
    return wide.includes(true);
  };
  assert.equal(await overflows(), false);
  assert.equal(await page.locator("#side").isVisible(), false, "the drawer makes way");
  await conversation.getByRole("button", { name: "Allow once" }).click();
  await idle(conversation);
  await page.getByRole("button", { name: "Show the sidebar" }).click();
  assert.equal(await overflows(), false);
  await page.getByRole("navigation").getByRole("button", { name: /^Inbox/ }).click();
  await page.locator("#home").getByText("Nothing needs you.").waitFor();
  assert.equal(await overflows(), false);
  assert.deepEqual(page.problems, []);
});

test("everything can be done with the keyboard alone", async () => {
  daemon = await new Daemon().start();
  await daemon.addProject();
  const page = await openPage(browser, daemon);
  await page.locator(".project").waitFor();
  const press = async (...keys) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  // Help.
  await press("?");
  await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
  await press("Escape");

  // Two sessions, from Home.
  const inBox = () => chat(page).getByRole("textbox", { name: "Message" }).evaluate((it) => document.hasFocus() && it === document.activeElement);
  for (const text of ["first words", "second words"]) {
    await press("Alt+n");
    await page.locator("convoke-start textarea:focus").waitFor();
    // Behind the box: attach, project, agent.
    await press("Tab", "Tab", "Tab", "Enter");
    await page.getByRole("menu").waitFor();
    for (let stops = 0; stops < 20 && !(await page.getByRole("menuitem", { name: "Demo" }).evaluate((it) => it === document.activeElement)); stops += 1) await press("ArrowDown");
    await press("Enter");
    await page.locator("convoke-start textarea:focus").waitFor();
    await page.keyboard.type(text);
    await press("Enter");
    await page.locator(".tab", { hasText: text }).waitFor();
    await until(page, "the focus is in the message box", inBox);
    await idle(chat(page));
  }
  // Shortcuts keep quiet while one types, and work from inside the conversation.
  await page.keyboard.type("?jk1");
  assert.equal(await page.getByRole("dialog").count(), 0);
  assert.equal(await chat(page).getByRole("textbox", { name: "Message" }).inputValue(), "?jk1");
  await press("Control+a", "Delete");
  const active = () => page.getByRole("tab", { selected: true }).locator(".title").textContent();
  await press("Alt+1");
  await until(page, "the first tab is active", async () => (await active()) === "first words");
  await until(page, "the focus has followed", inBox);
  await press("Alt+PageDown");
  await until(page, "the second tab is active", async () => (await active()) === "second words");
  await until(page, "the focus has followed", inBox);
  await press("Alt+Shift+PageUp");
  await until(page, "it has moved", async () => (await page.locator(".tab .title").allTextContents()).join() === "Home,second words,first words");

  // Through the conversation and back.
  await press("Shift+Tab");
  const scroller = chat(page).getByRole("region", { name: "Conversation" });
  for (let stops = 0; stops < 20 && !(await scroller.evaluate((it) => it === document.activeElement)); stops += 1) await press("Shift+Tab");
  await press("k");
  assert.equal(await chat(page).locator(".entry:focus").count(), 1);
  await press("?");
  await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
  await press("Escape");
  await chat(page).locator(".scroller").focus();
  await press("Escape");
  await until(page, "the focus is back in the message box", inBox);

  // The palette, then the sidebar: walk, fold, rename, archive.
  await search(page, "first");
  await page.getByRole("option", { name: "first words" }).first().waitFor();
  await press("Enter");
  await until(page, "the session is shown", async () => (await active()) === "first words");
  await until(page, "the focus is in the message box", inBox);
  await page.locator(".fold").focus();
  await press("ArrowLeft");
  assert.equal(await page.locator(".fold").getAttribute("aria-expanded"), "false");
  await press("ArrowRight", "ArrowDown", "F2");
  await page.keyboard.type("renamed");
  await press("Enter");
  await page.locator(".session a", { hasText: "renamed" }).waitFor();
  await press("Delete");
  await page.getByText("Archived “renamed”.").waitFor();
  assert.notEqual(await page.evaluate(() => document.activeElement), null);
  await press("Alt+w");
  await page.locator("#home").waitFor();
  await press("Alt+0");
  assert.equal(await page.evaluate(() => document.activeElement.id), "tab-home");
  assert.deepEqual(page.problems, []);
});

test("five hundred sessions are no burden", async () => {
  daemon = await new Daemon().start();
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  const at = (minutes) => new Date(Date.now() - minutes * 60_000).toISOString();
  const sessions = Array.from({ length: 500 }, (_, number) => ({
    id: `demo:a${number}`, uid: `u${number}`, projectId: "p", cliType: "demo", title: `Session number ${number}`, lastActiveAt: at(number * 40),
    createdAt: at(number * 40), status: "active", acceptsPrompts: true, archived: false, activity: "idle", attention: "idle", unseen: false, messageCount: 1,
  }));
  const replies = {
    "project:list": { projects: [{ id: "p", name: "big", path: "/big", addedAt: at(0) }] },
    "agent:list": { agents: [{ cliType: "demo", title: "Demo", badge: "DM", installed: true }] },
    "inbox:list": { items: [] },
    "session:list": { projectId: "p", sessions },
  };
  let line;
  await page.routeWebSocket("**/ws", (socket) => {
    line = socket;
    socket.onMessage((text) => {
      const { type, requestId } = JSON.parse(text);
      if (type === "browser:auth") socket.send('{"type":"browser:ready"}');
      if (replies[type]) socket.send(JSON.stringify({ type, requestId, ...replies[type] }));
    });
  });
  await signIn(page, daemon);
  await page.getByRole("button", { name: "Show 450 more sessions" }).click();
  await until(page, "all are there", async () => (await page.locator(".session").count()) === 500);
  assert.deepEqual(await page.locator(".session time").evaluateAll((all) => [1, 40, 300].map((number) => all[number].textContent)), ["40m", "1d", "1w"]);

  // One that becomes active moves to the top, and the focus stays where it is.
  await page.locator(".session a").nth(3).focus();
  const started = Date.now();
  line.send(JSON.stringify({ type: "session:changed", session: { ...sessions[499], lastActiveAt: at(0), activity: "running", attention: "working" } }));
  await until(page, "it is on top", async () => (await page.locator(".session .title").first().textContent()) === "Session number 499");
  assert.ok(Date.now() - started < 2000, "at once");
  assert.equal(await page.evaluate(() => document.activeElement.querySelector(".title").textContent), "Session number 3");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search" }).fill("number 499");
  await until(page, "the palette has found it", async () => (await page.getByRole("group", { name: "Sessions" }).getByRole("option").count()) === 1);
});
