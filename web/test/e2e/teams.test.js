// The dashboard of the teams.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ATTACK, attackless, findings } from "./judges.js";
import { Daemon, openPage, until } from "./harness.js";
import { daemonPerTest } from "./stage.js";

let browser;
let daemon;
daemonPerTest((opened) => (browser = opened));

/** A daemon with these teams, each in its own folder. */
async function teams(described) {
  daemon = new Daemon();
  const all = Object.entries(described).map(([name, more], at) => {
    const path = join(daemon.root, `team-${at}`);
    mkdirSync(path);
    return [name, { path, agent: "scripted", ...more }];
  });
  writeFileSync(join(daemon.home, "teams.json"), JSON.stringify({ teams: Object.fromEntries(all) }), { mode: 0o600 });
  await daemon.start();
}

const ask = (team, question, more = {}) => daemon.api("POST", `/teams/${encodeURIComponent(team)}/ask`, { question, timeout: 30_000, ...more });
const card = (page, name) => page.locator(".card").filter({ has: page.getByRole("heading", { name, exact: true }) });

test("t16 the dashboard shows who asked whom, how much, when, and in which conversations", async () => {
  await teams({ backend: { description: "Serves" }, frontend: {} });
  const page = await openPage(browser, daemon, { path: "/teams" });
  await page.locator(".team-list").getByText("Serves").waitFor();
  await page.getByText("No questions in this period.").waitFor();

  assert.match((await ask("backend", "say hello from the backend")).response, /hello from the backend/);
  await ask("backend", "say once more", { fromTeam: "frontend" });
  await ask("backend", "say and again", { fromTeam: "frontend" });
  await ask("frontend", "say the other way", { fromTeam: "backend", thread: "api" });
  await page.getByRole("combobox", { name: "Period" }).selectOption("hour");

  const matrix = card(page, "Questions by team").locator("table");
  await matrix.getByRole("cell", { name: "2" }).waitFor();
  assert.deepEqual(await matrix.locator("tr").evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent))),
    [["", "backend", "frontend"], ["outside", "1", ""], ["backend", "", "1"], ["frontend", "2", ""]]);
  assert.equal(await card(page, "Over time").locator(".columns > div").last().getAttribute("title").then((text) => text.replace(/^.*: /, "")), "4 asked, 0 failed, 0 compacted");
  assert.deepEqual(await card(page, "Most active").locator("li").evaluateAll((rows) => rows.map((row) => row.textContent)),
    ["frontend → backend2", "backend → frontend #api1", "outside → backend1"]);
  await page.locator(".tile", { hasText: "Asked" }).getByText("4", { exact: true }).waitFor();

  // A conversation leads to its session.
  await card(page, "Conversations").getByRole("link", { name: "backend → frontend #api" }).click();
  await page.locator(".assistant").getByText("the other way").waitFor();
  assert.deepEqual(page.problems, []);
});

test("t16 the dashboard is read undisturbed while it is renewed, and shows the period that was chosen last", async () => {
  await teams({ backend: {}, frontend: {} });
  await ask("backend", "say one");
  const page = await openPage(browser, daemon, { path: "/teams" });
  const table = page.getByRole("region", { name: "Conversations" });
  await table.getByRole("link").focus();
  const focused = await page.evaluate(() => document.activeElement.href);
  await table.evaluate((it) => {
    window.table = it;
    getSelection().selectAllChildren(it.querySelector("thead"));
  });
  const selected = await page.evaluate(() => String(getSelection()));
  await ask("backend", "say two", { fromTeam: "frontend" });
  await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  await until(page, "it is renewed", async () => (await table.getByRole("link").count()) === 2);
  assert.ok(await page.evaluate(() => window.table.isConnected));
  assert.equal(await page.evaluate(() => document.activeElement.href), focused);
  assert.equal(await page.evaluate(() => String(getSelection())), selected);

  // An answer that comes late does not count.
  let late;
  const held = new Promise((resolve) => (late = resolve));
  await page.route(/stretch=hour/, async (route) => {
    await held;
    await route.continue();
  });
  const period = page.getByRole("combobox", { name: "Period" });
  const read = page.waitForResponse(/stretch=hour/);
  await period.selectOption("hour");
  await period.selectOption("day");
  const columns = card(page, "Over time").locator(".columns > div");
  const count = await columns.count();
  late();
  await (await read).finished();
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  assert.equal(await columns.count(), count);
  assert.deepEqual(page.problems, []);
});

test("t16 one button stops every agent, after a question", async () => {
  await teams({ backend: {} });
  const page = await openPage(browser, daemon, { path: "/teams" });
  await page.getByText("backend").first().waitFor();
  const asked = ask("backend", "wait");
  await until(page, "the team works", async () => (await daemon.api("GET", "/teams")).teams[0].busy === 1);
  await page.getByRole("combobox", { name: "Period" }).selectOption("hour");
  await page.getByRole("img", { name: "busy" }).waitFor();

  await page.getByRole("button", { name: "Stop all agents" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  assert.equal((await daemon.api("GET", "/teams")).teams[0].busy, 1);
  await page.getByRole("button", { name: "Stop all agents" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Stop all", exact: true }).click();
  await page.getByText("Stopped 1 agent.").waitFor();
  await asked.catch(() => {});
  await until(page, "no team is busy", async () => (await daemon.api("GET", "/teams")).teams[0].busy === 0);
  assert.deepEqual(page.problems, []);
});

test("t16 without teams it says how to configure them, and an unreachable daemon is reported", async () => {
  daemon = await new Daemon().start();
  const page = await openPage(browser, daemon, { path: "/teams" });
  await page.getByRole("heading", { name: "No teams yet" }).waitFor();
  await daemon.stop();
  await page.getByRole("combobox", { name: "Period" }).selectOption("hour");
  await page.getByRole("alert").getByText("Cannot reach the daemon.").waitFor();
});

test("t16 no text about teams becomes markup", async () => {
  await teams({ plain: { description: ATTACK } });
  const page = await openPage(browser, daemon, { path: "/teams" });
  await page.locator(".team-list").getByText("<script>").waitFor();
  await ask("plain", `say ${ATTACK}`, { thread: "<img src=x onerror=top.pwned=1>" }).catch(() => ask("plain", `say ${ATTACK}`));
  await page.getByRole("combobox", { name: "Period" }).selectOption("hour");
  await card(page, "Conversations").getByRole("link").first().waitFor();
  assert.deepEqual(await attackless(page), []);
  assert.deepEqual(page.problems, []);
});

for (const colorScheme of ["light", "dark"]) {
  test(`axe finds nothing to complain about in the dashboard, ${colorScheme}`, async () => {
    await teams({ backend: { description: "Serves", color: "#e91e63" }, frontend: {} });
    await ask("backend", "say once", { fromTeam: "frontend" });
    for (const width of [360, 1280]) {
      const page = await openPage(browser, daemon, { path: "/teams", colorScheme, reducedMotion: "reduce", viewport: { width, height: 800 } });
      await card(page, "Conversations").getByRole("link").first().waitFor();
      assert.deepEqual(await findings(page, `teams at ${width}`), []);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false, `it fits into ${width} pixels`);
      await page.getByRole("button", { name: "Stop all agents" }).click();
      assert.deepEqual(await findings(page, `stop at ${width}`), []);
    }
  });
}
