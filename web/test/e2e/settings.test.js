// The settings page: values of config.toml, rules, browsers, and what belongs to this browser alone.

import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { findings } from "./judges.js";
import { anotherWindow, Daemon, openPage, until } from "./harness.js";
import { daemonPerTest } from "./stage.js";

let browser;
let daemon;
daemonPerTest((opened) => (browser = opened));

const file = () => join(daemon.home, "config.toml");
const config = () => readFileSync(file(), "utf8");

async function settings(more = "") {
  daemon = await new Daemon({ settings: more }).start();
  await daemon.addProject();
  const page = await openPage(browser, daemon);
  await page.getByRole("button", { name: "Settings", exact: true }).click();
  await page.locator(".setting").first().waitFor();
  return page;
}

const field = (page, key) => page.locator(`[data-key="${key}"]`);
const row = (page, key) => page.locator(".setting", { has: field(page, key) });

test("p9 a value is written to config.toml, which keeps its comments, and goes back to its default", async () => {
  const page = await settings("\n# Mine, do not touch.\n[questions] # about questions\nmax_questions = 4 # enough\n");
  assert.equal(await field(page, "questions.max_questions").inputValue(), "4");
  await field(page, "questions.max_questions").fill("3");
  await field(page, "questions.max_questions").press("Enter");
  await until(page, "it is written", async () => /max_questions = 3 # enough/.test(config()));
  assert.match(config(), /# Mine, do not touch\.\n\[questions\] # about questions/);

  // A switch, a choice and a list, in sections that the file did not have.
  await field(page, "pool.spare").uncheck();
  await until(page, "the switch is written", async () => /spare = false/.test(config()));
  await field(page, "sandbox.network").selectOption("proxy");
  await until(page, "the choice is written", async () => /network = "proxy"/.test(config()));
  await field(page, "sandbox.domains").fill("docs.rs\ncrates.io\n");
  await field(page, "sandbox.domains").blur();
  await until(page, "the list is written", async () => /domains = \[\s*"docs\.rs",\s*"crates\.io",?\s*\]/.test(config()));

  await page.getByRole("button", { name: "Reset Max questions" }).click();
  await until(page, "the default is back", async () => !/max_questions/.test(config()));
  // The file is written before the daemon answers the page.
  await until(page, "the field shows the default", async () => (await field(page, "questions.max_questions").inputValue()) === "5");
  assert.deepEqual(page.problems, []);
});

test("p9 what is being typed stays while another setting is saved, and the focus with it", async () => {
  const page = await settings();
  const url = field(page, "server.public_url");
  await url.focus();
  await page.keyboard.type("https://convoke.exam");
  await page.keyboard.press("ArrowLeft");
  // As when the answer comes late.
  await field(page, "pool.spare").evaluate((it) => it.click());
  await page.locator(".toast", { hasText: "Spare applies after a restart" }).waitFor();
  assert.match(config(), /spare = false/);
  await url.and(page.locator(":focus")).waitFor();
  await page.keyboard.type("X");
  assert.equal(await url.inputValue(), "https://convoke.exaXm");
  // A refused text stays, too.
  await field(page, "questions.max_questions").fill("100000");
  await field(page, "questions.max_questions").press("Enter");
  await row(page, "questions.max_questions").getByRole("alert").getByText(/100/).waitFor();
  await field(page, "pool.spare").check();
  await until(page, "it is written", async () => /spare = true/.test(config()));
  assert.equal(await field(page, "questions.max_questions").inputValue(), "100000");
  assert.deepEqual(page.problems, []);
});

test("p9 an invalid value is refused at its field, and the file stays as it was", async () => {
  const page = await settings();
  const before = config();
  await field(page, "questions.max_questions").fill("100000");
  await field(page, "questions.max_questions").press("Enter");
  await row(page, "questions.max_questions").getByRole("alert").getByText(/100/).waitFor();
  assert.equal(config(), before);
  assert.deepEqual(page.problems, []);
});

test("p9 a file with a syntax error is named with its line, and nothing is written until it is mended", async () => {
  const page = await settings();
  const whole = config();
  appendFileSync(file(), "\n[questions\n");
  const broken = config();
  await field(page, "pool.spare").click();
  const complaint = page.locator("convoke-settings").getByRole("alert").getByText(/config\.toml/).first();
  await complaint.waitFor();
  assert.match(await complaint.textContent(), /\d/);
  assert.equal(config(), broken);
  assert.equal(await field(page, "pool.spare").isChecked(), true, "it is not shown as saved");
  writeFileSync(file(), whole);
  await page.reload();
  await field(page, "pool.spare").uncheck();
  await until(page, "it is written", async () => /spare = false/.test(config()));
  assert.deepEqual(page.problems, []);
});

test("p9 values that need a restart say so, and those that the file cannot change cannot be changed", async () => {
  const page = await settings();
  const said = page.locator("#settings-defaults h4", { hasText: "Server" }).getByText("needs a restart");
  await said.waitFor();
  assert.equal(await row(page, "server.listen").getByText("needs a restart").count(), 0, "once for all of them");
  await field(page, "server.public_url").fill("https://convoke.example.org");
  await field(page, "server.public_url").press("Enter");
  await row(page, "server.public_url").getByText("needs a restart").waitFor();
  await row(page, "server.public_url").getByText("Public URL", { exact: true }).waitFor();
  // The tests start the daemon with --listen.
  assert.equal(await field(page, "server.listen").isEnabled(), false);
  await row(page, "server.listen").getByText("Set by the flag --listen").waitFor();
  await page.getByRole("searchbox", { name: "Find a setting" }).fill("domains");
  await until(page, "only what matches is shown", async () => (await page.locator("#settings-defaults .setting").count()) === 1);
  assert.deepEqual(page.problems, []);
});

test("p9 p2 rules are added, listed with how often they were used, and revoked, in every window", async () => {
  const page = await settings();
  const other = await anotherWindow(page, daemon);
  await other.getByRole("button", { name: "Settings", exact: true }).click();
  await other.getByText("No rules.").waitFor();
  await page.getByRole("button", { name: "Add a rule…" }).click();
  const dialog = page.getByRole("dialog", { name: "Add a rule" });
  await dialog.getByRole("textbox", { name: "Pattern" }).fill("cargo test …");
  await dialog.getByRole("button", { name: "Add rule" }).click();
  await dialog.waitFor({ state: "detached" });
  for (const window of [page, other]) await window.locator(".rules li", { hasText: "cargo test …" }).getByText("never used").waitFor();
  const { rules } = await daemon.api("GET", "/rules");
  assert.deepEqual(rules.map(({ effect, matcher }) => ({ effect, matcher })), [{ effect: "allow", matcher: { kind: "command", words: ["cargo", "test"], more: true } }]);

  await other.getByRole("button", { name: /^Revoke: Allow/ }).click();
  await other.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  for (const window of [page, other]) await window.getByText("No rules.").waitFor();
  assert.deepEqual((await daemon.api("GET", "/rules")).rules, []);
  assert.deepEqual([page.problems, other.problems], [[], []]);
});

test("p9 browsers are listed and signed out, the theme is kept, and the page says what it is", async () => {
  const page = await settings();
  const stranger = await openPage(browser, daemon, { userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0" });
  await page.reload();
  await page.locator(".browsers li", { hasText: "This browser" }).getByText("Chrome on Linux").waitFor();
  await page.getByRole("button", { name: /^Sign out Firefox on Linux/ }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Sign out" }).click();
  await stranger.getByRole("heading", { name: "This browser is not signed in" }).waitFor();
  await until(page, "one browser is left", async () => (await page.locator(".browsers li").count()) === 1);

  await page.getByRole("radio", { name: "Dark" }).check();
  assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme), "dark");
  // It is the same choice as in the sidebar.
  await page.getByRole("button", { name: "Theme: dark" }).click();
  await until(page, "the choice follows", () => page.getByRole("radio", { name: "As the system" }).isChecked());
  const { version } = await daemon.api("GET", "/status");
  await page.locator(".about").getByText(version, { exact: true }).waitFor();
  await page.locator(".about").getByText(file()).waitFor();
  assert.deepEqual(page.problems, []);
});

test("p9 settings are found by their words, with what is about something else out of the way", async () => {
  const page = await settings();
  const search = page.getByRole("searchbox", { name: "Find a setting" });
  const shown = () => page.locator(".setting-group:visible h3").allTextContents();
  await search.fill("idle timeout");
  assert.deepEqual(await shown(), ["Limits and paths"]);
  assert.deepEqual(await page.locator(".setting:visible [data-key]").evaluateAll((all) => all.map((one) => one.dataset.key)), ["sessions.idle_timeout_minutes", "pool.idle_timeout_ms"]);
  await search.fill("browsers");
  assert.ok((await shown()).includes("Signed-in browsers"));
  await search.fill("no such thing");
  assert.deepEqual(await shown(), []);
  await page.getByText("No setting matches.").waitFor();
  assert.deepEqual(await findings(page, "no setting"), []);
  // A section that is gone to is there.
  await page.getByRole("link", { name: "Rules" }).click();
  await page.getByRole("heading", { name: "Rules" }).waitFor();
  // What nothing sets has nothing to be reset, although its path is shown whole.
  assert.equal(await row(page, "teams_file").getByRole("button").count(), 0);
  assert.deepEqual(page.problems, []);
});

test("l1 agents are listed with their version, whether one is logged in, how to log in, and how to install", async () => {
  daemon = new Daemon();
  const [bin, user] = ["bin", "user"].map((name) => join(daemon.folder, name));
  for (const folder of [bin, user]) mkdirSync(folder);
  for (const [name, version] of [["claude", "2.3.4"], ["gemini", "0.9.1"]]) writeFileSync(join(bin, name), `#!/bin/sh\necho ${version}\n`, { mode: 0o755 });
  await daemon.start({ env: { PATH: `${bin}:/usr/bin:/bin`, HOME: user, GEMINI_API_KEY: "x", ANTHROPIC_API_KEY: "" } });
  await daemon.addProject();
  const page = await openPage(browser, daemon, { permissions: ["clipboard-read", "clipboard-write"] });
  await page.getByRole("button", { name: "Settings", exact: true }).click();
  const agent = (name) => page.locator(".settings .agent", { has: page.getByText(name, { exact: true }) });
  await agent("claude-code").getByText("2.3.4").waitFor();
  await agent("claude-code").getByText("not logged in").waitFor();
  assert.match(await agent("claude-code").textContent(), /To log in: run claude and type \/login, or set ANTHROPIC_API_KEY/);
  await agent("gemini").getByText("0.9.1").waitFor();
  await agent("gemini").getByText("logged in", { exact: true }).waitFor();
  assert.equal(await agent("gemini").getByText("To log in").count(), 0);
  assert.match(await agent("demo").textContent(), /convoke .*installed/);
  await page.getByRole("button", { name: "Copy the install command of goose" }).click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "npm install -g @aaif/goose-acp");
  assert.deepEqual(await findings(page, "agents"), []);
  assert.deepEqual(page.problems, []);
});
