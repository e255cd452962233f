// One prompt for several agents: begun on Home, compared in a table, and one of them kept.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { chat, Daemon, git, openBrowser, openPage, repository, search, until } from "./harness.js";
import { findings, findingsInBoth } from "./judges.js";

const settings = `
[agents.second]
protocol = "acp"
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(join(import.meta.dirname, "agent.js"))}, "--models"]
title = "Second"
badge = "S2"
sandbox = "off"
`;

let daemon;
let browser;
let made = 0;

before(async () => {
  daemon = new Daemon({ settings });
  await daemon.start({ env: { XDG_DATA_HOME: join(daemon.folder, "data") } });
  browser = await openBrowser();
});
after(async () => {
  await browser?.close();
  await daemon?.remove();
});

/** Several agents are started one after the other, and git works for each of them. */
const SLOW = { timeout: 90_000 };
const problems = (page) => page.problems.filter((text) => !/status of 409/.test(text));

/** Home with a project of its own that is a repository. */
async function home(options = {}) {
  const folder = join(daemon.root, `compared-${(made += 1)}`);
  repository(folder, { "notes.txt": "old\n" });
  const repo = await daemon.addProject(folder);
  const page = await openPage(browser, daemon, { viewport: { width: 1440, height: 900 }, reducedMotion: "reduce", ...options });
  await page.evaluate((id) => localStorage.setItem("convoke.project", id), repo.id);
  await page.reload();
  return { page, folder, repo };
}

const start = (page) => page.locator("convoke-start");
const dialog = (page, name) => page.getByRole("dialog", { name });
const place = (page) => page.locator("convoke-comparisons");
const rows = (page, prompt) => place(page).locator(".comparison").filter({ hasText: prompt }).locator("tbody tr:not(.entry-error)");

/** Begins a comparison of two agents from the message box of Home. */
async function begin(page, prompt, test = "") {
  await start(page).getByRole("textbox", { name: "What should be done?" }).fill(prompt);
  await start(page).getByRole("button", { name: "Agent: " }).click();
  await start(page).getByRole("menuitem", { name: "Compare several agents…" }).click();
  const ask = dialog(page, "Compare agents");
  assert.equal(await ask.getByRole("textbox", { name: "Prompt" }).inputValue(), prompt);
  await ask.getByRole("combobox", { name: "Agent 1", exact: true }).selectOption("scripted");
  await ask.getByRole("combobox", { name: "Agent 2", exact: true }).selectOption("second");
  await ask.getByRole("textbox", { name: "Test command" }).fill(test);
  return ask;
}

test("c8 two agents get one prompt; their changes, time and tests are compared, and one is kept", async () => {
  const { page, folder } = await home();
  const prompt = "run echo new > notes.txt; basename $PWD > answer.txt";
  const ask = await begin(page, prompt, "echo fine; test -e answer.txt");
  assert.deepEqual(await findingsInBoth(page, "compare"), []);
  await ask.getByRole("button", { name: "Start" }).click();
  await ask.waitFor({ state: "detached", ...SLOW });
  await page.getByRole("tab", { selected: true, name: "Comparisons" }).waitFor();
  const [first, second] = [rows(page, prompt).nth(0), rows(page, prompt).nth(1)];
  for (const row of [first, second]) await row.getByText("Passed").waitFor(SLOW);
  for (const row of [first, second]) await row.getByText("+2").waitFor();
  assert.match(await first.innerText(), /Scripted <b>Agent<\/b>[\s\S]*Done[\s\S]*2 files/);
  await first.getByText("Passed").click();
  await first.getByText("fine").waitFor();
  assert.deepEqual(await findingsInBoth(page, "comparison"), []);

  // Its changes, and back by the palette.
  await first.getByRole("button", { name: /^Changes/ }).click();
  await chat(page).locator('convoke-changes .file[data-path="answer.txt"]').waitFor();
  await search(page, "comparisons");
  await page.getByRole("option", { name: "Comparisons" }).click();
  await first.getByRole("button", { name: /^Keep this one/ }).click();
  const keep = dialog(page, "Keep this one");
  await keep.getByText("The other one is discarded").waitFor();
  assert.equal(await keep.getByRole("radio", { name: /^Discard/ }).count(), 0);
  await keep.getByRole("radio", { name: /^Squash/ }).check();
  assert.deepEqual(await findingsInBoth(page, "keep"), []);
  await keep.getByRole("button", { name: "Squash", exact: true }).click();
  await keep.waitFor({ state: "detached", ...SLOW });
  await page.locator(".toast", { hasText: "Squashed into main." }).waitFor();
  await first.getByText("Kept").waitFor();
  await second.getByText("Discarded").waitFor();
  await first.getByText("fine").waitFor();
  assert.equal(readFileSync(join(folder, "notes.txt"), "utf8"), "new\n");
  assert.equal(git(folder, "branch", "--format=%(refname:short)"), "main");
  assert.equal(await rows(page, prompt).getByRole("button", { name: /^Keep this one/ }).count(), 0, "one is enough");

  // The other one is not lost.
  await second.getByRole("button", { name: /^Restore/ }).click();
  await page.locator(".toast", { hasText: "The work tree is restored" }).waitFor(SLOW);
  assert.equal(git(folder, "branch", "--format=%(refname:short)").split("\n").length, 2);
  // It is found again from Home.
  await page.keyboard.press("Alt+0");
  await page.locator(".home-links").getByRole("button", { name: "Comparisons" }).click();
  await first.getByText("Kept").waitFor();
  // The next one is shown where this one is.
  await page.keyboard.press("Alt+0");
  await (await begin(page, "say again")).getByRole("button", { name: "Start" }).click();
  for (const at of [0, 1]) await rows(page, "say again").nth(at).getByText("Done").waitFor(SLOW);
  assert.deepEqual(problems(page), []);
  await page.context().close();
});

test("c8 none is kept while an agent works; an agent that fails its test and conflicts are shown", async () => {
  const { page, folder } = await home();
  const prompt = "run echo theirs > notes.txt";
  const ask = await begin(page, prompt, "exit 3");
  await ask.getByRole("button", { name: "Start" }).click();
  const first = rows(page, prompt).nth(0);
  await first.getByText("Failed (exit code 3)").waitFor(SLOW);
  await rows(page, prompt).nth(1).getByText("Failed (exit code 3)").waitFor(SLOW);
  writeFileSync(join(folder, "notes.txt"), "ours\n");
  git(folder, "commit", "-qam", "ours");
  await first.getByRole("button", { name: /^Keep this one/ }).click();
  const keep = dialog(page, "Keep this one");
  await keep.getByRole("radio", { name: /^Merge/ }).check();
  await keep.getByRole("button", { name: "Merge", exact: true }).click();
  await keep.getByText("1 file in conflict. Nothing was done.").waitFor(SLOW);
  assert.deepEqual(await findingsInBoth(page, "conflict"), []);
  await keep.getByRole("button", { name: "Let the agent resolve them" }).click();
  await keep.waitFor({ state: "detached", ...SLOW });
  await page.locator(".toast", { hasText: "asked to resolve the conflicts" }).waitFor();
  const { comparisons } = await daemon.api("GET", "/comparisons");
  const { id, entries: [{ session: prompted }, { session }] } = comparisons.find((one) => one.prompt === prompt);
  const messages = await daemon.api("GET", `/sessions/${prompted.id}/messages`);
  assert.match(messages.findLast(({ role }) => role === "user").content.text, /git merge main/);
  assert.equal((await daemon.api("GET", `/comparisons/${id}`)).kept, undefined);
  assert.equal(git(folder, "branch", "--format=%(refname:short)").split("\n").length, 3, "nothing is discarded");

  // An agent that works again.
  await daemon.api("POST", `/sessions/${session.id}/prompt`, { text: "wait" });
  await rows(page, prompt).nth(1).getByText("Working").waitFor();
  await until(page, "none can be kept", async () => (await rows(page, prompt).getByRole("button", { name: /^Keep this one/ }).count()) === 0);
  await daemon.api("POST", `/sessions/${session.id}/cancel`, {});
  await page.context().close();
});

test("c8 every window gets the frame of a comparison and of its tests; one that has files which no snapshot holds is discarded after a yes", async () => {
  const { page, repo } = await home();
  await page.locator(".home-links").getByRole("button", { name: "Comparisons" }).click();
  await page.getByRole("tab", { selected: true, name: "Comparisons" }).waitFor();
  // It begins elsewhere, and its tests wait until they are let go.
  const prompt = "run echo new > notes.txt; head -c 3000000 /dev/zero > big.bin";
  const gate = join(daemon.folder, "tests-may-end");
  const test = `until [ -e ${gate} ]; do sleep 0.1; done`;
  const { id } = await daemon.api("POST", "/comparisons", { repoId: repo.id, prompt, entries: [{ agent: "scripted" }, { agent: "second" }], test });
  const [first, second] = [rows(page, prompt).nth(0), rows(page, prompt).nth(1)];
  for (const row of [first, second]) await row.getByText("Testing").waitFor(SLOW);
  writeFileSync(gate, "");
  for (const row of [first, second]) await row.getByText("Passed").waitFor(SLOW);

  const { entries } = await daemon.api("GET", `/comparisons/${id}`);
  await daemon.api("POST", `/comparisons/${id}/keep`, { sessionId: entries[0].session.id });
  await first.getByText("Kept").waitFor(SLOW);
  await second.getByRole("button", { name: /^Discard/ }).click();
  const ask = dialog(page, "Discard this one");
  await ask.getByRole("button", { name: "Discard", exact: true }).click();
  await ask.getByText("1 file would be lost. Nothing was done.").waitFor(SLOW);
  assert.deepEqual(await findingsInBoth(page, "left behind"), []);
  await ask.getByRole("button", { name: "Delete them and go on" }).click();
  await second.getByText("Discarded").waitFor(SLOW);
  assert.deepEqual(problems(page), []);
  await page.context().close();
});

test("c8 a comparison that cannot begin says why, and the prompt stays", async () => {
  const repo = await daemon.addProject();
  const page = await openPage(browser, daemon);
  await page.evaluate((id) => localStorage.setItem("convoke.project", id), repo.id);
  await page.reload();
  const ask = await begin(page, "say hello");
  await ask.getByRole("button", { name: "Start" }).click();
  await ask.getByRole("alert").getByText("git init").waitFor(SLOW);
  await ask.getByRole("button", { name: "Cancel" }).click();
  assert.equal(await start(page).getByRole("textbox", { name: "What should be done?" }).inputValue(), "say hello");
  await page.context().close();
});

test("c8 w9 comparisons are accessible in both themes and at all widths, and agents are chosen with the keyboard", async () => {
  const found = [];
  for (const colorScheme of ["light", "dark"]) for (const width of [1440, 1024, 390]) {
    const { page } = await home({ colorScheme, viewport: { width, height: 844 } });
    const prompt = `run echo ${colorScheme} ${width} > notes.txt`;
    const ask = await begin(page, prompt);
    await ask.getByRole("button", { name: "Add an agent" }).press("Enter");
    await ask.getByRole("combobox", { name: "Model of agent 3" }).selectOption("large");
    await ask.getByRole("combobox", { name: "Model of agent 3" }).and(page.locator(":focus")).waitFor();
    found.push(...(await findings(page, `compare ${colorScheme} ${width}`)));
    await ask.getByRole("button", { name: "Remove agent 3" }).press("Enter");
    await ask.getByRole("textbox", { name: "Prompt" }).press("Tab");
    await ask.getByRole("button", { name: "Start" }).press("Enter");
    for (const at of [0, 1]) await rows(page, prompt).nth(at).getByText("Done").waitFor(SLOW);
    found.push(...(await findings(page, `comparison ${colorScheme} ${width}`)));
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, `${width} px are enough`);
    await page.context().close();
  }
  assert.deepEqual(found, []);
});
