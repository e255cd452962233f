// What end-to-end tests share: a daemon of their own, a browser, and a person at it.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const here = dirname(fileURLToPath(import.meta.url));
export const program = process.env.CONVOKE_BIN ?? join(here, "../../../target/debug/convoke");
export const browserPath = process.env.CHROMIUM ?? "/usr/bin/chromium";

// A run that is broken off leaves no daemon behind.
const running = new Set();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => process.exit(1));
process.once("exit", () => running.forEach((child) => child.kill("SIGKILL")));

/** Daemons whose folders are there. */
const daemons = new Set();

/** Stops all daemons of this process, and deletes their folders. */
export async function removeDaemons() {
  for (const daemon of daemons) await daemon.remove();
}

/** A home, a workspace with one project, and the daemon on them. */
export class Daemon {
  constructor({ settings = "", maxActive = 50 } = {}) {
    daemons.add(this);
    this.folder = mkdtempSync(join(tmpdir(), "convoke-e2e-"));
    this.home = join(this.folder, "home");
    this.root = join(this.folder, "work");
    this.project = join(this.root, "alpha");
    mkdirSync(this.home, { mode: 0o700 });
    mkdirSync(join(this.root, "beta"), { recursive: true });
    mkdirSync(this.project);
    writeFileSync(join(this.project, "README.md"), "# Alpha\n\nA project to try things in.\n");
    const agent = join(here, "agent.js");
    writeFileSync(join(this.home, "config.toml"), `
[server]
listen = "127.0.0.1:0"
[sessions]
workspace_root = ${JSON.stringify(this.root)}
max_active = ${maxActive}
[agents.scripted]
protocol = "acp"
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(agent)}]
title = "Scripted <b>Agent</b>"
badge = "SC"
sandbox = "off"
${settings}`, { mode: 0o600 });
  }

  /** Starts the daemon and waits until it says that it is ready. */
  async start({ listen = "127.0.0.1:0", env = {} } = {}) {
    this.process = spawn(program, ["serve", "--home", this.home, "--listen", listen], { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } });
    const child = this.process;
    running.add(child);
    child.once("exit", () => running.delete(child));
    this.said = "";
    this.process.stderr.on("data", (text) => (this.said += text));
    for await (const text of createInterface(this.process.stdout)) {
      const found = /https?:\S+/.exec(text);
      if (!found) continue;
      this.origin = new URL(found[0]).origin;
      this.token = JSON.parse(readFileSync(join(this.home, "run/daemon.json"), "utf8")).token;
      return this;
    }
    throw new Error(`the daemon did not start: ${this.said}`);
  }

  async stop() {
    if (!this.process || this.process.exitCode !== null) return;
    const over = once(this.process, "exit");
    this.process.kill("SIGTERM");
    await over;
  }

  /** Ends the daemon as a power cut would. */
  async kill() {
    const over = once(this.process, "exit");
    this.process.kill("SIGKILL");
    await over;
  }

  async remove() {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
    daemons.delete(this);
  }

  /** Calls the REST interface. */
  async api(method, path, body) {
    const headers = { authorization: `Bearer ${this.token}`, ...(body ? { "content-type": "application/json" } : {}) };
    const response = await fetch(`${this.origin}/api${path}`, { method, headers, body: body && JSON.stringify(body) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text ? JSON.parse(text) : null;
  }

  /** A link that signs in one browser, as `convoke open --print` prints it. */
  async link() {
    return (await this.api("POST", "/browser-links", {})).url;
  }

  /** Runs the program as the owner of this daemon, and returns what it prints as JSON. */
  command(...args) {
    return JSON.parse(execFileSync(program, [...args, "--home", this.home, "--json"], { encoding: "utf8" }));
  }

  /** Adds the project; most tests are about what comes after. */
  addProject(path = this.project) {
    return this.api("POST", "/repos", { path });
  }

  async createSession(repo, agent = "demo") {
    return this.api("POST", "/sessions", { repoId: repo.id, agent });
  }
}

/** Runs git in a folder, and returns what it prints. */
export const git = (folder, ...args) => execFileSync("git", args, { cwd: folder, encoding: "utf8", env: { PATH: process.env.PATH, HOME: folder } }).trim();

/** Makes a repository with these files, one commit, and someone who commits. */
export function repository(folder, files) {
  mkdirSync(folder, { recursive: true });
  git(folder, "init", "-q", "-b", "main");
  git(folder, "config", "user.name", "Ann");
  git(folder, "config", "user.email", "ann@localhost");
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
  git(folder, "add", "-A");
  git(folder, "commit", "-qm", "first");
}

/**
 * Until the checkpoint after the last turn is made: the daemon answers no earlier. The page shows the end of a turn
 * before, and a file that is changed in between would be among the changes of that turn.
 */
export const captured = (daemon, id) => daemon.api("GET", `/sessions/${id}/changes`);

/** The prompt that has the scripted agent write these files; those with `null` it removes. */
export const writing = (files) => `write ${JSON.stringify(files)}`;

/** A file of the panel with the changes. */
export const changedFile = (page, path) => page.locator(`convoke-changes .file[data-path="${path}"]`);

/** A folder below the workspace root with these files, a session of the scripted agent in it, and its page after some prompts. */
export async function workedOn(browser, daemon, name, files, prompts, { inShell = false, ...options } = {}) {
  const folder = join(daemon.root, name);
  mkdirSync(folder);
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
  const repo = await daemon.addProject(folder);
  const { id } = await daemon.createSession(repo, "scripted");
  const page = await openPage(browser, daemon, { path: inShell ? `/?open=${id}` : `/s/${id}`, viewport: { width: 1500, height: 900 }, reducedMotion: "reduce", ...options });
  const conversation = inShell ? chat(page) : page;
  await conversation.getByRole("textbox", { name: "Message" }).waitFor();
  for (const prompt of prompts) {
    await say(conversation, prompt);
    await idle(conversation);
  }
  if (prompts.length) {
    await captured(daemon, id);
    await conversation.locator(".changes-button .plus").waitFor();
  }
  return { page, conversation, id, folder };
}

/** One browser for all tests of a file. */
export async function openBrowser() {
  return chromium.launch({ executablePath: browserPath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
}

/** A page that is signed in; what goes wrong in it is kept in `page.problems`. */
export async function openPage(browser, daemon, { path = "/", ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  watch(page);
  await signIn(page, daemon);
  if (path !== "/") await page.goto(daemon.origin + path);
  return page;
}

/** A new session as a page of its own. */
export async function openNewSession(browser, daemon, { agent = "scripted", ...options } = {}) {
  const { id } = await daemon.createSession(await daemon.addProject(), agent);
  const page = await openPage(browser, daemon, { path: `/s/${id}`, ...options });
  await page.getByRole("textbox", { name: "Message" }).waitFor();
  return page;
}

/** Follows a new link, and waits until the page is signed in. */
export async function signIn(page, daemon) {
  await page.goto(await daemon.link());
  await page.waitForFunction(() => localStorage.getItem("convoke.browser"));
}

/** A page of a user whom the command line adds. */
export async function openPageOf(browser, daemon, name, role, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  watch(page);
  await page.goto(daemon.command("user", "add", name, "--role", role).url);
  await page.waitForFunction(() => localStorage.getItem("convoke.me"));
  return page;
}

/** Another window of the same person. */
export async function anotherWindow(page, daemon, path = "/") {
  const other = await page.context().newPage();
  watch(other);
  await other.goto(daemon.origin + path);
  return other;
}

function watch(page) {
  page.setDefaultTimeout(30_000);
  page.problems = [];
  page.on("pageerror", (error) => page.problems.push(String(error.stack ?? error)));
  page.on("console", (message) => {
    // The browser also logs lost connections and refused ones while the daemon starts; tests cover the reconnecting.
    const expected = /WebSocket connection|ERR_CONNECTION|ERR_SOCKET_NOT_CONNECTED|status of (401|503)/.test(message.text());
    if (message.type() === "error" && !expected) page.problems.push(message.text());
  });
  page.on("dialog", (dialog) => {
    page.problems.push(`a dialog opened: ${dialog.message()}`);
    dialog.dismiss();
  });
}

/** The conversation in the active tab. */
export function chat(page) {
  return page.locator(".panel:not([hidden]) iframe").contentFrame();
}

/** Opens a session from the sidebar and returns its conversation. */
export async function openSession(page, title) {
  await page.locator(".session a", { hasText: title }).first().click();
  const conversation = chat(page);
  await conversation.getByRole("textbox", { name: "Message" }).waitFor();
  return conversation;
}

/** Starts a session from Home with its first prompt, and returns its conversation. */
export async function startSession(page, prompt, { agent, project } = {}) {
  const start = page.locator("convoke-start");
  const choose = async (kind, title) => {
    await start.getByRole("button", { name: `${kind}: ` }).click();
    await start.getByRole("menuitem", { name: title, exact: true }).click();
  };
  if (project) await choose("Project", project);
  if (agent) await choose("Agent", agent);
  const box = start.getByRole("textbox", { name: "What should be done?" });
  await box.fill(prompt);
  await box.press("Enter");
  const conversation = chat(page);
  await conversation.getByRole("textbox", { name: "Message" }).waitFor();
  return conversation;
}

/** Opens the palette and types into it. */
export async function search(page, text) {
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search" }).and(page.locator(":focus")).waitFor();
  await page.keyboard.type(text);
}

/** Chooses something in the menu of a session's row. */
export async function rowMenu(page, title, item) {
  await page.locator(".session", { hasText: title }).hover();
  await page.getByRole("button", { name: `Menu of ${title}`, exact: true }).click();
  await page.getByRole("menuitem", { name: item }).click();
}

/** Writes a message and sends it. */
export async function say(conversation, text) {
  const box = await write(conversation, text);
  // In the conversation, or in the queue.
  const prompts = conversation.locator(".user[data-key], .queue li");
  const said = await prompts.count();
  await box.press("Enter");
  // The daemon has it.
  await prompts.nth(said).waitFor({ state: "attached" });
}

/** Writes a message that can be sent. */
export async function write(conversation, text) {
  const box = conversation.getByRole("textbox", { name: "Message" });
  await box.fill(text);
  // The box is filled before the line is open when the page was just loaded.
  await conversation.getByRole("button", { name: "Send", exact: true }).and(conversation.locator(":enabled")).waitFor();
  return box;
}

/** Until nothing runs any more. */
export async function idle(conversation) {
  await conversation.locator('[data-state="running"], .queue:not([hidden])').first().waitFor({ state: "detached" });
  await conversation.locator(".running").waitFor({ state: "hidden" });
}

/** Until something holds, asked anew whenever the page may have changed. */
export async function until(page, what, condition) {
  const end = Date.now() + 30_000;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`did not happen: ${what}`);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
  }
}

/** An empty database on the PostgreSQL server of this run, for daemons that share it. */
export class Database {
  constructor() {
    this.server = process.env.CONVOKE_TEST_POSTGRES;
    if (!this.server) throw new Error("CONVOKE_TEST_POSTGRES names no server; web/test/run starts one");
    this.name = `page_${process.pid}_${(databases += 1)}`;
    this.url = this.server.replace("/postgres?", `/${this.name}?`);
    this.execute(`CREATE DATABASE ${this.name}`, this.server);
  }

  execute(sql, url = this.url) {
    execFileSync(join(process.env.CONVOKE_TEST_POSTGRES_BIN, "psql"), [url, "--quiet", "--no-psqlrc", "--set", "ON_ERROR_STOP=1", "--command", sql], { stdio: ["ignore", "ignore", "inherit"] });
  }

  /** A machine whose daemon shares the database. */
  node(name) {
    return new Daemon({ settings: `[store]\nurl = ${JSON.stringify(this.url)}\n[node]\nname = ${JSON.stringify(name)}\n` });
  }

  remove() {
    this.execute(`DROP DATABASE ${this.name} WITH (FORCE)`, this.server);
  }
}

let databases = 0;
