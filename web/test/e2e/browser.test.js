// K6: how a browser gets in, and what another port of the same host gains from it.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { chromium } from "playwright-core";
import { anotherWindow, browserPath, Daemon, openBrowser, openPage, program, signIn } from "./harness.js";
import { findings } from "./judges.js";

let browser;
let daemon;
const servers = [];
before(async () => (browser = await openBrowser()));
after(() => browser.close());
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
  await daemon?.remove();
  daemon = null;
});

const denied = (page) => page.getByRole("heading", { name: "This browser is not signed in" });
/** What the workbench shows only once it is connected. */
const atHome = (page) => page.getByRole("heading", { name: "Welcome to Convoke" }).or(page.getByRole("button", { name: "Project: " }));

/** A "dev server" of an agent: another port of this host. What browsers send it is kept. */
async function devServer(host) {
  const cookies = [];
  const server = createServer((incoming, response) => {
    cookies.push(incoming.headers.cookie ?? "");
    response.setHeader("content-type", "text/html").end("<!doctype html><title>My app</title><p>Hello");
  }).listen(0, host);
  servers.push(server);
  await once(server, "listening");
  return { cookies, port: server.address().port };
}

/** A request of a program, which can say whatever it likes in its headers. Resolves to the status. */
async function forged(origin, method, path, headers, body) {
  const outgoing = request(origin + path, { method, headers });
  outgoing.end(body);
  const [response] = await once(outgoing, "response");
  response.resume();
  return response.statusCode;
}

/** Opens a socket with forged headers, says something, and resolves to all that comes until its end. */
async function forgedSocket(origin, headers, frames) {
  const outgoing = request(`${origin}/ws`, { headers: { connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13", "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==", ...headers } });
  outgoing.end();
  const [kind, response, socket] = await Promise.race([
    once(outgoing, "response").then(([response]) => ["refused", response]),
    once(outgoing, "upgrade").then(([response, socket]) => ["upgraded", response, socket]),
  ]);
  if (kind === "refused") return { status: response.statusCode, bytes: Buffer.alloc(0) };
  const pieces = [];
  socket.on("data", (piece) => pieces.push(piece));
  for (const frame of frames) {
    // A client's frame, masked with zeros.
    const text = Buffer.from(JSON.stringify(frame));
    socket.write(Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), text]));
  }
  // A daemon that has closed resets what comes after.
  socket.on("error", () => {});
  await new Promise((done) => socket.once("close", done));
  return { status: response.statusCode, bytes: Buffer.concat(pieces) };
}

for (const host of ["127.0.0.1", "localhost"]) {
  test(`k6 an agent's server on another port of ${host} gets the cookie and gains nothing`, async () => {
    daemon = await new Daemon().start();
    const repo = await daemon.addProject();
    const { id } = await daemon.createSession(repo, "scripted");
    const { port } = new URL(daemon.origin);
    const origin = `http://${host}:${port}`;
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto((await daemon.link()).replace(daemon.origin, origin));
    await atHome(page).waitFor();
    await page.getByText("New Session").first().waitFor();

    // The person looks at the app that the agent serves.
    const evil = await devServer("127.0.0.1");
    const app = await context.newPage();
    await app.goto(`http://${host}:${evil.port}/`);
    const cookie = evil.cookies.find((text) => text.includes(`convoke-${port}=`));
    assert.ok(cookie, "the control: browsers do send the cookie to other ports");

    // The agent uses it, with every other header as the page has it.
    const headers = { cookie, origin, host: `${host}:${port}`, "sec-fetch-site": "same-origin", "content-type": "application/json" };
    const call = (method, path, body, more) => forged(daemon.origin, method, path, { ...headers, ...more }, body && JSON.stringify(body));
    const guess = { "x-convoke-browser": cookie.split("=")[1] };
    const tools = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    for (const more of [{}, guess]) {
      assert.deepEqual(await Promise.all([
        call("GET", "/api/sessions", null, more), call("GET", `/api/sessions/${id}/events`, null, more), call("GET", "/api/inbox", null, more),
        call("POST", `/api/sessions/${id}/prompt`, { text: "hello" }, more), call("POST", "/api/inbox/abcd/answer", { optionId: "allow" }, more),
        call("POST", "/api/browser-links", {}, more), call("DELETE", `/api/sessions/${id}`, null, more),
        call("POST", "/mcp", tools, { ...more, accept: "application/json, text/event-stream" }),
      ]), Array(8).fill(401));
    }
    const value = cookie.split("=")[1];
    for (const frames of [[], [{ type: "inbox:list" }], [{ type: "browser:auth", secret: value }, { type: "inbox:list" }]]) {
      const { status, bytes } = await forgedSocket(daemon.origin, headers, frames.length ? frames : [{ type: "project:list" }]);
      // A close frame with the code 4401, and not a byte before it.
      assert.deepEqual([status, bytes[0], bytes.readUInt16BE(2)], [101, 0x88, 4401]);
    }

    // The page on the other port tries by itself, in the person's browser.
    const tried = await app.evaluate(async ({ origin, id }) => {
      const outcome = (promise) => promise.then((response) => `${response.type} ${response.status}`, () => "failed");
      const socket = await new Promise((done) => {
        const line = new WebSocket(`${origin.replace("http", "ws")}/ws`);
        line.onopen = () => done("open");
        line.onerror = () => done("failed");
      });
      const frame = document.createElement("iframe");
      frame.src = `${origin}/`;
      const loaded = new Promise((done) => (frame.onload = done));
      document.body.append(frame);
      await loaded;
      const peek = (() => { try { return frame.contentWindow.localStorage.length; } catch { return "refused"; } })();
      // The page refuses to have an opener, who could send it elsewhere and speak to it.
      const opened = window.open(`${origin}/`);
      const end = performance.now() + 10_000;
      while (!opened.closed && performance.now() < end) await new Promise((done) => requestAnimationFrame(done));
      return {
        get: await outcome(fetch(`${origin}/api/sessions`, { credentials: "include" })),
        blind: await outcome(fetch(`${origin}/api/sessions/${id}`, { method: "POST", mode: "no-cors", credentials: "include", body: "{}" })),
        socket, peek, opener: opened.closed ? "cut off" : "kept",
      };
    }, { origin, id });
    assert.deepEqual({ ...tried, blind: "" }, { get: "failed", blind: "", socket: "failed", peek: "refused", opener: "cut off" });
    const { messages } = await daemon.api("GET", `/sessions/${id}`);
    assert.deepEqual(messages.filter(({ role }) => role === "user"), [], "nothing was said in the owner's name");

    // The control: the page itself works on.
    await page.reload();
    await page.getByText("New Session").first().waitFor();
    assert.equal(await denied(page).count(), 0);
    await context.close();
  });
}

/** All files below a folder. */
function* filesOf(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesOf(path);
    else if (entry.isFile()) yield path;
  }
}

/** The files below a folder that hold a text, as bytes of one or of two a character. */
function holding(folder, text) {
  const needles = [Buffer.from(text), Buffer.from(text, "utf16le")];
  return [...filesOf(folder)].filter((path) => {
    const bytes = readFileSync(path);
    return needles.some((needle) => bytes.includes(needle));
  });
}

test("k6 `convoke open` hands the browser a private file, and its profile never holds the main token", async () => {
  daemon = await new Daemon().start();
  const folder = mkdtempSync(join(tmpdir(), "convoke-profile-"));
  // What the desktop would start; it notes what it is handed.
  const bin = join(folder, "bin");
  mkdirSync(bin);
  const noted = join(folder, "noted");
  writeFileSync(join(bin, "xdg-open"), `#!/bin/sh\nprintf '%s\\n' "$@" > ${noted}\n`);
  chmodSync(join(bin, "xdg-open"), 0o755);
  const said = spawnSync(program, ["open", "--home", daemon.home], { encoding: "utf8", env: { ...process.env, PATH: `${bin}:/usr/bin:/bin` } });
  assert.equal(said.status, 0, said.stderr);
  assert.equal(said.stdout, `Opened ${daemon.origin} in your browser.\n`);
  const file = readFileSync(noted, "utf8").trim();
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const link = /https?:[^"]+/.exec(readFileSync(file, "utf8"))[0];
  const secret = link.split("#link=")[1];
  assert.doesNotMatch(file, new RegExp(secret), "others see the arguments of a process");

  const profile = join(folder, "profile");
  const context = await chromium.launchPersistentContext(profile, { executablePath: browserPath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
  const page = await context.newPage();
  await page.goto(`file://${file}`).catch(() => {});
  await atHome(page).waitFor();
  assert.equal(page.url(), `${daemon.origin}/`, "the link is out of the address bar");
  assert.equal(existsSync(file), false, "the file is gone with its link");
  await page.goto(`${daemon.origin}/teams`);
  await page.getByText("No teams yet").waitFor();
  assert.doesNotMatch(await page.content(), new RegExp(daemon.token));
  const second = await page.evaluate(() => localStorage.getItem("convoke.browser"));
  await context.close();

  assert.notEqual(holding(profile, `${daemon.origin}/`).length, 0, "the control: the profile mentions the page");
  assert.notEqual(holding(profile, second).length, 0, "the control: secrets can be found");
  assert.deepEqual(holding(profile, daemon.token), []);
  // The history may well have the link, which is spent.
  const again = await browser.newPage();
  await again.goto(link);
  await denied(again).waitFor();
  await again.getByText("This link was used before, or has expired.").waitFor();
  assert.equal(again.url(), `${daemon.origin}/`);
  await again.close();
  // Neither does anything that the daemon wrote but the files for programs.
  const told = holding(daemon.home, daemon.token).map((path) => path.slice(daemon.home.length + 1));
  assert.deepEqual(told.sort(), ["run/daemon.json", "run/token"]);
  for (const other of [secret, second]) assert.deepEqual(holding(daemon.home, other), []);
  rmSync(folder, { recursive: true });
});

test("k6 a browser stays signed in when the daemon comes back, and one that is revoked is signed out at once", async () => {
  daemon = await new Daemon().start();
  await daemon.createSession(await daemon.addProject(), "scripted");
  const page = await openPage(browser, daemon);
  const other = await openPage(browser, daemon);
  await page.getByText("New Session").first().waitFor();
  const { host } = new URL(daemon.origin);
  await daemon.kill();
  await daemon.start({ listen: host });
  await page.reload();
  await page.getByText("New Session").first().waitFor();

  const { browserSessions } = await daemon.api("GET", "/browser-sessions");
  assert.equal(browserSessions.length, 2);
  assert.match(browserSessions[0].userAgent, /Chrom/);
  const run = (...words) => spawnSync(program, ["browser", ...words, "--home", daemon.home], { encoding: "utf8" });
  assert.match(run("list").stdout, new RegExp(browserSessions[1].id));
  // Reloading used the first one last.
  assert.equal(run("revoke", browserSessions[0].id).status, 0);
  const [revoked, kept] = (await denied(page).waitFor({ timeout: 10_000 }).then(() => true, () => false)) ? [page, other] : [other, page];
  await denied(revoked).waitFor();
  await revoked.reload();
  await denied(revoked).waitFor();
  assert.equal(await denied(kept).count(), 0);
  // A new link in another tab of the same browser brings all its tabs back.
  const tab = await anotherWindow(revoked, daemon);
  await denied(tab).waitFor();
  await signIn(tab, daemon);
  await tab.getByText("New Session").first().waitFor();
  await denied(revoked).waitFor({ state: "detached" });
  await revoked.getByText("New Session").first().waitFor();
  assert.equal(run("revoke", "--all").status, 0);
  for (const one of [page, other, tab]) await denied(one).waitFor();
  assert.deepEqual(page.problems, []);
});

test("k6 every page shows a browser that is not signed in what to do, and a link works in any of them", async () => {
  daemon = await new Daemon().start();
  const { id } = await daemon.createSession(await daemon.addProject(), "scripted");
  const context = await browser.newContext();
  for (const path of ["/", "/teams", `/s/${id}`, "/nope"]) {
    const page = await context.newPage();
    const answer = await page.goto(daemon.origin + path);
    assert.equal(answer.status(), path === "/nope" ? 404 : 200);
    await denied(page).waitFor();
    await page.getByText("convoke open", { exact: true }).waitFor();
    await page.keyboard.press("Escape");
    assert.equal(await denied(page).isVisible(), true, "it does not go away by itself");
  }
  const program = await fetch(`${daemon.origin}/nope`, { headers: { accept: "application/json" } });
  assert.equal(program.status, 401);
  // The same link pasted into the address bar of an open tab changes the fragment only.
  const [tab] = context.pages();
  const link = await daemon.link();
  await tab.evaluate((hash) => (location.hash = hash), new URL(link).hash);
  await atHome(tab).waitFor();
  for (const page of context.pages()) await denied(page).waitFor({ state: "detached" });
  const lost = context.pages().at(-1);
  await lost.getByRole("heading", { name: "There is nothing here" }).waitFor();
  assert.deepEqual(await findings(lost, "nothing"), []);
  await lost.getByRole("link", { name: "Go to Home" }).click();
  await atHome(lost).waitFor();
  await context.close();
});
