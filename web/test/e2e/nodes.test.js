// Several machines that share a database, each with its page.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { chat, Database, git, idle, openBrowser, openPage, openSession, repository, say, until } from "./harness.js";

let browser;
let database;
let machines = [];
before(async () => (browser = await openBrowser()));
after(() => browser.close());
afterEach(async () => {
  for (const machine of machines) await machine.remove();
  database?.remove();
  machines = [];
  database = null;
});

/** The daemons of machines that share a new database. */
async function start(...names) {
  database = new Database();
  machines = names.map((name) => database.node(name));
  for (const machine of machines) await machine.start();
  return machines;
}

test("n4 a prompt from one machine's page is answered by an agent on another, and allowed on a third one's page", async () => {
  const [laptop, workstation, tablet] = await start("laptop", "workstation", "tablet");
  await workstation.createSession(await workstation.addProject(), "scripted");
  const here = await openPage(browser, laptop, { reducedMotion: "reduce" });
  await here.locator(".project-head .node", { hasText: "workstation" }).waitFor();
  const conversation = await openSession(here, "New Session");
  await conversation.locator(".chat-head .node", { hasText: "workstation" }).waitFor();
  const call = { title: "Write it", kind: "execute", rawInput: { command: "touch notes.txt" } };
  await say(conversation, `demand ${JSON.stringify(call)} && run touch notes.txt && say It is written.`);
  await conversation.locator("convoke-permission").waitFor();

  const third = await openPage(browser, tablet, { reducedMotion: "reduce" });
  const card = third.locator("#home convoke-permission");
  await card.getByText("touch notes.txt").first().waitFor();
  await card.getByRole("button", { name: "Allow once" }).click();
  await conversation.getByText("It is written.").waitFor();
  await idle(conversation);
  assert.ok(existsSync(join(workstation.project, "notes.txt")), "the agent worked on the other machine");
  await conversation.locator(".tool-verdict", { hasText: "Allowed" }).waitFor();

  // On its own machine the session needs no name of a machine.
  const own = await openPage(browser, workstation);
  await own.locator(".session a").first().waitFor();
  await until(own, "the page knows the machines", () => own.evaluate(() => performance.getEntriesByType("resource").some(({ name }) => name.endsWith("/api/nodes"))));
  assert.equal(await own.locator(".node:visible").count(), 0);
  assert.deepEqual([...here.problems, ...third.problems, ...own.problems], []);
});

test("n4 a prompt for a machine that is away waits for it, and the page says so", async () => {
  const [laptop, workstation] = await start("laptop", "workstation");
  await workstation.createSession(await workstation.addProject(), "scripted");
  const page = await openPage(browser, laptop, { reducedMotion: "reduce" });
  const conversation = await openSession(page, "New Session");
  await workstation.kill();
  database.execute("UPDATE convoke.nodes SET lease_until = now() - interval '1 minute' WHERE name = 'workstation'");
  const box = conversation.getByRole("textbox", { name: "Message" });
  await box.fill("say I am back.");
  await box.press("Enter");
  const waiting = (text) => chat(page).locator(".queue li", { hasText: text }).filter({ hasText: "waits for workstation" });
  await waiting("I am back.").waitFor();
  await box.fill("say not this.");
  await box.press("Enter");
  await waiting("not this").waitFor();
  await page.reload();
  await page.locator(".project-head .node.gone", { hasText: "workstation" }).waitFor();
  assert.match(await page.locator(".session a").first().getAttribute("title"), /On workstation, which (has just gone away|was last seen)/);
  // Both wait after a reload, too, and can be removed, but not sent or edited.
  await waiting("I am back.").waitFor();
  const unwanted = waiting("not this");
  assert.equal(await unwanted.getByRole("button").count(), 1);
  await unwanted.getByRole("button", { name: "Remove" }).click();
  await unwanted.waitFor({ state: "detached" });
  await workstation.start();
  await chat(page).getByText("I am back.", { exact: true }).waitFor();
  await idle(chat(page));
  assert.equal(await chat(page).locator(".queue li").count(), 0);
  assert.equal(await chat(page).getByText("not this").count(), 0);
  assert.deepEqual(page.problems, []);
});

test("n8 a session is moved to another machine from its menu", async () => {
  const [laptop, workstation] = await start("laptop", "workstation");
  await laptop.createSession(await laptop.addProject(), "scripted");
  await workstation.addProject();
  const page = await openPage(browser, laptop, { reducedMotion: "reduce" });
  const conversation = await openSession(page, "New Session");
  await say(conversation, "say I am here.");
  await idle(conversation);
  await conversation.locator(".chat-head").getByRole("button", { name: "Session menu" }).click();
  await conversation.getByRole("menuitem", { name: "Move to another machine…" }).click();
  const dialog = conversation.getByRole("dialog");
  await dialog.getByText("no git remote").waitFor();
  await dialog.getByRole("radio").check();
  await dialog.getByRole("button", { name: "Move" }).click();
  await conversation.getByText("Moved from laptop to workstation.").first().waitFor();
  await conversation.locator(".chat-head .node", { hasText: "workstation" }).waitFor();
  await say(conversation, "say I am there.");
  await conversation.getByText("restarted with the transcript").first().waitFor();
  await idle(conversation);
  assert.deepEqual(page.problems, []);
});

test("n8 a session with a work tree is moved with its branch and its changes", async () => {
  const [laptop, workstation] = await start("laptop", "workstation");
  const [folder, copy] = [laptop, workstation].map((machine) => join(machine.root, "app"));
  repository(folder, { "notes.txt": "first\n" });
  git(workstation.root, "clone", "-q", folder, copy);
  await workstation.addProject(copy);
  const { id } = await laptop.addProject(folder);
  await laptop.api("POST", "/sessions", { repoId: id, agent: "scripted", worktree: { branch: "fix" } });
  const page = await openPage(browser, laptop, { reducedMotion: "reduce" });
  const conversation = await openSession(page, "New Session");
  await say(conversation, "run echo second >> notes.txt && say It is written.");
  await idle(conversation);
  await conversation.locator(".chat-head").getByRole("button", { name: "Session menu" }).click();
  await conversation.getByRole("menuitem", { name: "Move to another machine…" }).click();
  const dialog = conversation.getByRole("dialog");
  await dialog.getByText("Its work tree moves along").waitFor();
  assert.equal(await dialog.getByText("Leave them here").count(), 0, "its files are not left behind");
  await dialog.getByRole("radio").check();
  await dialog.getByRole("button", { name: "Move" }).click();
  await conversation.locator(".chat-head .node", { hasText: "workstation" }).waitFor();
  await conversation.getByText("Moved from laptop to workstation.").first().waitFor();
  const [{ worktree }] = (await workstation.api("GET", "/sessions?limit=10")).sessions;
  assert.match(worktree.branch, /^convoke\/[0-9a-f]{8}\/fix$/);
  assert.equal(git(worktree.path, "branch", "--show-current"), worktree.branch);
  assert.equal(readFileSync(join(worktree.path, "notes.txt"), "utf8"), "first\nsecond\n");
  assert.deepEqual(page.problems, []);
});
