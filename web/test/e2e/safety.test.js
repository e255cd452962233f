// Words of agents and people stay words, wherever they are shown.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ATTACK, attackless } from "./judges.js";
import { chat, Daemon, idle, openPage, openSession, say, search, signIn, until } from "./harness.js";
import { daemonPerTest } from "./stage.js";

let browser;
let daemon;
daemonPerTest((opened) => (browser = opened));

test("nothing that an agent or a person writes becomes markup", async () => {
  daemon = await new Daemon().start();
  // A file name cannot have a slash, and everything else it can.
  const folder = join(daemon.root, `<img src=x onerror=top.pwned=1>`);
  mkdirSync(folder);
  const repo = await daemon.addProject(folder);
  await daemon.createSession(repo, "scripted");
  const page = await openPage(browser, daemon);
  const conversation = await openSession(page, "New Session");

  // The prompt, and with it the title in the sidebar, the tab, the header and the window.
  await say(conversation, `say ${ATTACK}`);
  await until(page, "the answer is there", async () => (await conversation.locator(".assistant").textContent()).includes("<script>"));
  await idle(conversation);
  assert.match(await page.locator(".tab:not(.home) .title").textContent(), /^say <img/);

  const tool = { title: ATTACK, kind: ATTACK, name: ATTACK, rawInput: { [ATTACK]: ATTACK, command: ATTACK }, content: [
    { type: "content", content: { type: "text", text: ATTACK } },
    { type: "diff", path: `/tmp/${ATTACK}`, oldText: ATTACK, newText: `${ATTACK}\n${ATTACK}` },
  ] };
  const asides = [
    `think ${ATTACK}`, `plan ${ATTACK}`, `tool ${JSON.stringify(tool)}`, `tool ${JSON.stringify({ ...tool, content: tool.content.slice(0, 1) })}`,
    `offer ${JSON.stringify([{ name: "evil", description: ATTACK, input: { hint: ATTACK } }])}`,
    `say \`\`\`${ATTACK}\\n${ATTACK}\\n\`\`\`\\n\\n[link](javascript:top.pwned=1) ![image](javascript:top.pwned=1) <${"javascript:top.pwned=1"}>`,
  ];
  for (const aside of asides) {
    await say(conversation, aside);
    await idle(conversation);
  }
  for (const summary of await conversation.locator("summary").all()) await summary.click();
  await conversation.getByRole("textbox", { name: "Message" }).fill("/");
  await conversation.getByRole("listbox", { name: "Commands" }).waitFor();
  await conversation.getByRole("textbox", { name: "Message" }).fill("");

  // Requests, here and in the inbox.
  await say(conversation, `permit ${ATTACK}`);
  await conversation.locator("convoke-permission").waitFor();
  await page.keyboard.press("Alt+i");
  await page.locator("convoke-inbox convoke-permission").waitFor();
  await page.locator("convoke-inbox").getByRole("button", { name: "Deny with a note…" }).click();
  await page.keyboard.type(ATTACK);
  await page.keyboard.press("Enter");
  await conversation.locator(".tool q:visible").waitFor();
  await idle(conversation);

  // Names: of the session, in the picker, in dialogs, in toasts.
  await page.keyboard.press("Alt+i");
  await page.locator(".session a").focus();
  await page.keyboard.press("F2");
  await page.keyboard.type(ATTACK.slice(0, 190));
  await page.keyboard.press("Enter");
  await page.keyboard.press("Alt+n");
  await page.locator("convoke-start").getByRole("button", { name: "Agent: " }).click();
  await page.getByRole("menuitem", { name: "Scripted <b>Agent</b>" }).waitFor();
  assert.deepEqual(await attackless(page), []);
  await page.keyboard.press("Escape");
  // What was said is found, and shown as it is.
  await search(page, "script");
  await page.getByRole("dialog", { name: "Search" }).locator("mark").first().waitFor();
  assert.deepEqual(await attackless(page), []);
  await page.keyboard.press("Escape");
  await page.locator(".session a").focus();
  await page.keyboard.press("Delete");
  await page.locator(".toast").waitFor();
  await page.locator(".panel").waitFor({ state: "detached" });
  assert.deepEqual(await attackless(page), []);
  await page.getByRole("button", { name: "Undo" }).click();
  await page.locator(".session a").click();
  await chat(page).locator(".assistant").first().waitFor();
  await chat(page).locator(".assistant a").first().waitFor({ state: "attached" }).catch(() => {});
  assert.deepEqual(await attackless(page), []);
  assert.deepEqual(page.problems.filter((problem) => !/Content Security Policy/.test(problem)), []);
  assert.deepEqual(page.problems, [], "not even the policy of the page had anything to do");
});

test("the page asks no other host for anything", async () => {
  daemon = await new Daemon().start();
  await daemon.createSession(await daemon.addProject(), "scripted");
  const context = await browser.newContext();
  const page = await context.newPage();
  const foreign = [];
  // The page may still ask for something after the test.
  const { origin } = daemon;
  page.on("request", (request) => new URL(request.url()).origin !== origin && foreign.push(request.url()));
  await signIn(page, daemon);
  const conversation = await openSession(page, "New Session");
  await say(conversation, "say ![picture](https://example.org/picture.png) and [a link](https://example.org/)");
  const link = conversation.locator(".assistant").getByRole("link", { name: "a link" });
  await link.waitFor();
  assert.equal(await link.getAttribute("rel"), "noopener noreferrer");
  assert.equal(await link.getAttribute("target"), "_blank");
  await idle(conversation);
  assert.deepEqual(foreign, []);
});
