// What happens when pages are reloaded, lines break and daemons restart.

import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { anotherWindow, Daemon, idle, openNewSession, say, until } from "./harness.js";
import { daemonPerTest } from "./stage.js";

let browser;
let daemon;
daemonPerTest((opened) => (browser = opened));

async function session(agent) {
  daemon = await new Daemon().start();
  return openNewSession(browser, daemon, { agent });
}

const openGate = () => writeFileSync(join(daemon.project, "gate"), "");
const answers = (page) => page.locator(".assistant").allTextContents();
const WHOLE = "The first half, and the second half.";

test("w2 a page that is reloaded in the middle of a turn misses nothing and repeats nothing", async () => {
  const page = await session();
  await say(page, "gate");
  await page.getByText("The first half,").waitFor();
  await page.reload();
  await page.getByText("The first half,").waitFor();
  await page.locator(".running").waitFor();
  openGate();
  await until(page, "the answer is whole", async () => (await answers(page)).join().trim() === WHOLE);
  await idle(page);
  await page.reload();
  await page.getByText("the second half").waitFor();
  assert.deepEqual((await answers(page)).map((text) => text.trim()), [WHOLE]);
  assert.deepEqual(page.problems, []);
});

test("two windows of one session show the same, whichever writes", async () => {
  const page = await session();
  const other = await anotherWindow(page, daemon, new URL(page.url()).pathname);
  await say(page, "say from the first window");
  await other.getByText("from the first window", { exact: true }).waitFor();
  await idle(other);
  await say(other, "gate");
  await page.getByText("The first half,").waitFor();
  openGate();
  for (const window of [page, other]) {
    await until(window, "the answer is whole", async () => (await answers(window)).at(-1)?.trim() === WHOLE);
    await idle(window);
  }
  const entries = (window) => window.locator(".entry:not(.sending)").evaluateAll((all) => all.map((entry) => [entry.dataset.key, entry.querySelector(".md")?.textContent]));
  assert.deepEqual(await entries(page), await entries(other));
  assert.deepEqual([page.problems, other.problems], [[], []]);
});

test("a daemon that restarts under an open page is found again, and what was said meanwhile is there", async () => {
  const page = await session("demo");
  await say(page, "before");
  await page.getByText("You said: before").waitFor();
  await idle(page);
  const { host } = new URL(daemon.origin);
  await daemon.stop();
  await page.getByText("Not connected to Convoke.").waitFor();
  const box = page.getByRole("textbox", { name: "Message" });
  await box.fill("written while it was away");
  assert.equal(await page.getByRole("button", { name: "Send", exact: true }).isEnabled(), false);

  await daemon.start({ listen: host });
  const path = new URL(page.url()).pathname.slice(3);
  await daemon.api("POST", `/sessions/${path}/prompt`, { text: "said elsewhere" });
  await page.getByText("You said: said elsewhere").waitFor();
  await page.getByText("Not connected to Convoke.").waitFor({ state: "hidden" });
  await idle(page);
  await box.press("Enter");
  await page.getByText("You said: written while it was away").waitFor();
  const said = await page.locator(".user .md").allTextContents();
  assert.deepEqual(said.map((text) => text.trim()), ["before", "said elsewhere", "written while it was away"]);
  assert.deepEqual(page.problems, []);
});

test("a daemon that is killed in the middle of a turn leaves no turn that runs for ever", async () => {
  const page = await session();
  await say(page, "gate");
  await page.getByText("The first half,").waitFor();
  const { host } = new URL(daemon.origin);
  await daemon.kill();
  await daemon.start({ listen: host });
  await page.getByText("Not connected to Convoke.").waitFor({ state: "hidden" });
  await idle(page);
  assert.match((await answers(page))[0], /The first half,/);
  openGate();
  rmSync(join(daemon.project, "gate"));
  await say(page, "say still here");
  await page.getByText("still here", { exact: true }).waitFor();
  assert.deepEqual(page.problems, []);
});

for (const [fate, isForwarded] of [["answer", true], ["way", false]]) test(`a message that lost its ${fate} with the line is accepted once`, async () => {
  const page = await session();
  // The line breaks after or before the daemon has the message, and not when it is sent again.
  const sent = [];
  await page.routeWebSocket("**/ws", (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((text) => {
      const { type, messageId } = JSON.parse(String(text));
      const isFirst = type === "session:send" && sent.push(messageId) === 1;
      if (isForwarded || !isFirst) server.send(text);
      if (isFirst) socket.close();
    });
  });
  await page.reload();
  await page.getByRole("textbox", { name: "Message" }).waitFor();
  const box = page.getByRole("textbox", { name: "Message" });
  await box.fill("say only once");
  await until(page, "it can be sent", () => page.getByRole("button", { name: "Send", exact: true }).isEnabled());
  await box.press("Enter");
  await page.locator(".assistant", { hasText: "only once" }).waitFor();
  await until(page, "nothing is on its way", async () => (await page.locator(".sending").count()) === 0);
  await idle(page);
  assert.equal(await page.locator(".user").count(), 1);
  assert.equal(await page.locator(".assistant").count(), 1);
  assert.equal(new Set(sent).size, 1);
  assert.equal(await box.inputValue(), "");
});

test("older messages that were lost with the line are asked for again", async () => {
  const page = await session();
  await say(page, "flood 60 && say the end");
  await page.locator(".assistant", { hasText: "the end" }).waitFor();
  await idle(page);
  let asked = 0;
  await page.routeWebSocket("**/ws", (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((text) => {
      const isPage = String(text).includes("session:page");
      if (isPage && (asked += 1) === 1) socket.close();
      else server.send(text);
    });
  });
  await page.reload();
  await page.locator(".assistant", { hasText: "the end" }).waitFor();
  // The end fills the window and no more, so that older ones are loaded without scrolling.
  await until(page, "older ones are there", async () => (await page.locator(".entry").count()) > 30);
  assert.ok(asked > 1);
  assert.deepEqual(page.problems, []);
});
