// Conversations of other programs: offered on the first run, imported after a yes, and listed in the settings.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { chat, Daemon, openBrowser, openPage, search, until } from "./harness.js";
import { findings } from "./judges.js";

let browser;
before(async () => (browser = await openBrowser()));
after(() => browser?.close());

/** A daemon on a machine where Claude Code held some conversations. */
async function machine(t, count = 3, isOutside = false) {
  const daemon = new Daemon();
  t.after(() => daemon.remove());
  const person = join(daemon.folder, "person");
  const folder = join(isOutside ? daemon.folder : daemon.root, "lagoon");
  const store = join(person, ".claude/projects", folder.replaceAll(/[^A-Za-z0-9]/g, "-"));
  mkdirSync(folder);
  mkdirSync(store, { recursive: true });
  for (let number = 1; number <= count; number += 1) {
    const sessionId = randomUUID();
    const line = (uuid, type, text, second) => JSON.stringify({
      type, uuid, parentUuid: null, isSidechain: false, cwd: folder, sessionId, timestamp: `2026-11-01T10:0${number % 10}:0${second}.000Z`,
      message: type === "user" ? { role: "user", content: [{ type: "text", text }] } : { id: `m-${uuid}`, role: "assistant", model: "opus", content: [{ type: "text", text }], usage: { input_tokens: 10, output_tokens: 5 } },
    });
    writeFileSync(join(store, `${sessionId}.jsonl`), `${line("u", "user", `Where is heliotrope ${number}?`, 1)}\n${line("a", "assistant", `In garden ${number}.`, 2)}\n`);
  }
  await daemon.start({ env: { HOME: person, CLAUDE_CONFIG_DIR: join(person, ".claude") } });
  return { daemon };
}

const offer = (page) => page.getByRole("region", { name: "Import conversations" });

test("h8 the first run offers the import, nothing is read before, and what was said is there afterwards", async (t) => {
  const { daemon } = await machine(t, 12);
  const page = await openPage(browser, daemon);
  await offer(page).getByText("12 conversations of Claude Code were found on this machine.").waitFor();
  assert.deepEqual(await findings(page, "offer"), []);
  assert.equal((await daemon.api("GET", "/sessions")).total, 0, "nothing is read without a yes");
  await offer(page).getByRole("button", { name: "Import", exact: true }).click();
  await offer(page).getByText("12 conversations imported, with 24 messages.").waitFor();
  assert.deepEqual(await findings(page, "imported"), []);
  // The folder is offered until it is a project, also in another browser.
  await page.reload();
  await offer(page).getByText("Your conversations are here").waitFor();
  const other = await openPage(browser, daemon);
  await offer(other).getByRole("button", { name: "Add project lagoon" }).waitFor();
  await other.context().close();
  await offer(page).getByRole("button", { name: "Add project lagoon" }).click();
  await page.locator(".session", { hasText: "heliotrope 3" }).waitFor();
  assert.equal(await page.locator(".session .badge.imported").first().getAttribute("title"), "Imported from Claude Code");
  await page.locator("convoke-home .place", { hasText: "imported from Claude Code" }).first().waitFor();
  await page.locator(".session a", { hasText: "heliotrope 7?" }).click();
  await chat(page).locator(".assistant", { hasText: "In garden 7." }).waitFor();
  await chat(page).getByText("Imported. The agent's own file stays as it is").waitFor();
  await search(page, "garden 11");
  await page.locator("mark", { hasText: "garden" }).first().waitFor();
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test("h8 an offer that is declined stays declined, and the settings import later, agent by agent", async (t) => {
  const { daemon } = await machine(t);
  const page = await openPage(browser, daemon);
  await offer(page).getByRole("button", { name: "Not now" }).click();
  await offer(page).waitFor({ state: "hidden" });
  await page.reload();
  await page.locator("convoke-start").waitFor();
  await page.getByRole("button", { name: "Settings", exact: true }).click();
  const section = page.getByRole("region", { name: "Histories" });
  await section.getByText("3 conversations · none imported").waitFor();
  assert.equal(await offer(page).count(), 0);
  assert.equal((await daemon.api("GET", "/sessions")).total, 0);
  await section.getByRole("button", { name: "Import from Claude Code" }).click();
  await section.getByText("3 conversations imported, with 6 messages.").waitFor();
  await section.getByText("all imported").waitFor();
  await section.getByRole("button", { name: "Add project lagoon" }).waitFor();
  assert.deepEqual(await findings(page, "settings"), []);
  await section.getByRole("button", { name: "Import again from Claude Code" }).click();
  await section.getByText("Everything was here already.").waitFor();
  await section.getByRole("button", { name: "Add project lagoon" }).click();
  await until(page, "the folder is a project", async () => (await page.locator(".project", { hasText: "lagoon" }).count()) === 1);
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test("h8 w6 conversations of folders that are no projects are in Recent and below the projects, and a folder outside of the workspace root is not offered as one", async (t) => {
  const { daemon } = await machine(t, 3, true);
  await daemon.addProject();
  daemon.command("import", "--all");
  const page = await openPage(browser, daemon);
  const recent = page.locator('#home [data-group="recent"] article', { hasText: "heliotrope 2?" });
  await recent.getByText("lagoon · imported from Claude Code").waitFor();
  assert.equal(await page.locator(".session").count(), 0, "folded");
  const folders = page.getByRole("button", { name: /^Other folders/ });
  await folders.focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowRight");
  await page.locator(".session", { hasText: "heliotrope 3?" }).waitFor();
  assert.equal(await page.locator(".session").count(), 3);
  assert.deepEqual(await findings(page, "other folders"), []);
  await page.locator(".session a", { hasText: "heliotrope 1?" }).click();
  await chat(page).locator(".assistant", { hasText: "In garden 1." }).waitFor();
  await page.getByRole("button", { name: "Settings", exact: true }).click();
  const section = page.getByRole("region", { name: "Histories" });
  await section.getByText("all imported").waitFor();
  assert.equal(await section.getByRole("button", { name: "Add project lagoon" }).count(), 0);
  // Archived, they are in the archive like all others.
  for (const { id } of (await daemon.api("GET", "/sessions")).sessions) await daemon.api("PATCH", `/sessions/${id}`, { archived: true });
  await page.getByRole("button", { name: "Archive", exact: true }).click();
  const archive = page.locator("convoke-archive");
  await until(page, "all are listed", async () => (await archive.getByRole("listitem").filter({ hasText: "lagoon · no project" }).count()) === 3);
  await archive.getByRole("button", { name: /heliotrope 2/ }).first().click();
  await chat(page).locator(".assistant", { hasText: "In garden 2." }).waitFor();
  assert.deepEqual(page.problems, []);
  await page.context().close();
});
