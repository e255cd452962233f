// Working in a conversation: stopping, the queue, actions on messages, folded runs, failures, links.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { findings } from "./judges.js";
import { Daemon, idle, openNewSession, say, until } from "./harness.js";
import { daemonPerTest } from "./stage.js";

let browser;
let daemon;
daemonPerTest((opened) => (browser = opened));

/** A session as a separate page. */
async function session({ settings, ...options } = {}) {
  daemon = await new Daemon({ settings }).start();
  return openNewSession(browser, daemon, options);
}

const box = (page) => page.getByRole("textbox", { name: "Message", exact: true });
const answer = (page) => page.locator(".assistant").last();
const waiting = (page) => page.locator(".queue li .queue-text").allTextContents();
const waits = (page, expected) => until(page, `these wait: ${expected}`, async () => (await waiting(page)).join("|") === expected.join("|"));
const texts = (page) => page.locator(".user[data-key] .md").allTextContents();

/** A turn that runs, and prompts that wait behind it. */
async function busy(page, ...prompts) {
  await say(page, "wait");
  await page.getByRole("button", { name: "Stop the agent" }).waitFor();
  for (const prompt of prompts) await say(page, prompt);
  await waits(page, prompts);
}

test("p5 escape twice stops the running turn, once gives a hint, and closes what is open first", async () => {
  const page = await session();
  await busy(page);
  await box(page).press("Escape");
  await page.getByText("Press Esc again to stop").waitFor();
  await page.getByText("Press Esc again to stop").waitFor({ state: "hidden" });
  await page.locator(".running").waitFor();

  // A menu, a dialog and a list of commands are closed, and count for nothing.
  await page.getByRole("button", { name: "Session menu" }).click();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await page.getByText("Press Esc again to stop").waitFor();
  await page.getByText("Press Esc again to stop").waitFor({ state: "hidden" });
  await page.locator(".running").waitFor();

  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await page.getByText("You stopped the agent.").waitFor();
  await idle(page);
  assert.ok(await box(page).evaluate((it) => it === document.activeElement));
  assert.deepEqual(page.problems, []);
});

test("p5 stop asks what becomes of messages that wait: the next is sent, or they are kept, or discarded", async () => {
  const page = await session();
  const stop = async (name) => {
    await page.getByRole("button", { name: "Stop the agent" }).click();
    await page.getByRole("dialog", { name: "Stop the agent?" }).getByRole("button", { name }).click();
  };
  await busy(page, "wait", "say last");
  await stop(/send the next message/);
  await waits(page, ["say last"]);
  await stop(/keep the message waiting/);
  await page.locator(".queue.held").getByText("1 message held").waitFor();
  await page.locator(".running").waitFor({ state: "hidden" });
  assert.deepEqual(await waiting(page), ["say last"]);
  await page.getByRole("button", { name: "Send next" }).click();
  await answer(page).getByText("last").waitFor();
  await idle(page);

  await busy(page, "say never", "say neither");
  await box(page).press("Escape");
  await box(page).press("Escape");
  await page.getByRole("dialog", { name: "Stop the agent?" }).getByRole("button", { name: /discard the 2 messages/ }).click();
  await idle(page);
  assert.equal(await page.locator(".assistant", { hasText: /never|neither/ }).count(), 0, "the agent has not seen them");
  assert.deepEqual(page.problems, []);
});

test("p5 messages that wait are edited in place, moved, removed and sent now, with the mouse", async () => {
  const page = await session();
  await busy(page, "say one", "say two", "say three");
  const line = (text) => page.locator(".queue li", { hasText: text });
  await line("say two").hover();
  await line("say two").getByRole("button", { name: "Edit" }).click();
  await page.getByRole("textbox", { name: "Waiting message" }).fill("say 2");
  await page.keyboard.press("Enter");
  await waits(page, ["say one", "say 2", "say three"]);
  await line("say three").hover();
  await line("say three").getByRole("button", { name: "Move up" }).click();
  await waits(page, ["say one", "say three", "say 2"]);
  await line("say one").dragTo(line("say 2"));
  await waits(page, ["say three", "say 2", "say one"]);
  await line("say 2").hover();
  await line("say 2").getByRole("button", { name: "Remove" }).click();
  await waits(page, ["say three", "say one"]);
  await line("say one").hover();
  await line("say one").getByRole("button", { name: "Send now" }).click();
  await idle(page);
  await until(page, "all were said", async () => (await texts(page)).length === 3);
  assert.deepEqual(await texts(page), ["wait", "say one", "say three"]);
  assert.deepEqual(page.problems, []);
});

test("p5 the queue works with the keyboard alone", async () => {
  const page = await session();
  await busy(page, "say one", "say two", "say three");
  const focused = () => page.evaluate(() => document.activeElement.closest(".queue li")?.querySelector(".queue-text")?.textContent);
  for (let stops = 0; stops < 20 && (await focused()) === undefined; stops += 1) await page.keyboard.press("Shift+Tab");
  for (let stops = 0; stops < 20 && !(await page.evaluate(() => document.activeElement.matches(".queue li:first-child"))); stops += 1) await page.keyboard.press("Shift+Tab");
  assert.equal(await focused(), "say one");
  await page.keyboard.press("Alt+ArrowDown");
  await waits(page, ["say two", "say one", "say three"]);
  assert.equal(await focused(), "say one", "the focus goes with it");
  await page.keyboard.press("Enter");
  await page.keyboard.type("!");
  await page.keyboard.press("Enter");
  await waits(page, ["say two", "say one!", "say three"]);
  await page.keyboard.press("Enter");
  await page.keyboard.type(" not this");
  await page.keyboard.press("Escape");
  assert.deepEqual(await waiting(page), ["say two", "say one!", "say three"], "escape takes the edit back");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Delete");
  await waits(page, ["say two", "say one!"]);
  await until(page, "the focus stays in the list", async () => (await focused()) === "say one!");
  await page.keyboard.press("Control+Enter");
  await idle(page);
  await until(page, "all were said", async () => (await texts(page)).length === 3);
  assert.deepEqual(await texts(page), ["wait", "say one!", "say two"]);
  assert.deepEqual(page.problems, []);
});

test("p6 a message is copied, copied as Markdown, edited and sent again, and linked", async () => {
  const page = await session();
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
  await say(page, "say Some **bold** words");
  await idle(page);
  await answer(page).hover();
  const act = (name) => page.getByRole("toolbar", { name: "Message" }).getByRole("button", { name, exact: true }).click();
  await act("Copy");
  await until(page, "the text is copied", async () => (await clipboard()).trim() === "Some bold words");
  await act("Copy as Markdown");
  await until(page, "the source is copied", async () => (await clipboard()).trim() === "Some **bold** words");
  await act("Copy link");
  await until(page, "the link is copied", async () => /\/\?open=[\w-]+&at=\d+$/.test(await clipboard()));

  await page.locator(".user").hover();
  await act("Edit and resend");
  assert.equal(await box(page).inputValue(), "say Some **bold** words");
  await box(page).fill("say other words");
  await box(page).press("Enter");
  await answer(page).getByText("other words").waitFor();
  await idle(page);

  // With the keyboard: to the message, then to its actions.
  await page.getByRole("region", { name: "Conversation" }).focus();
  await page.keyboard.press("k");
  await page.keyboard.press("k");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await until(page, "it was sent again", async () => (await texts(page)).filter((text) => text === "say other words").length === 2);
  await idle(page);
  assert.deepEqual(page.problems, []);
});

test("p6 a crash is shown once, with the agent's last words, and its turn is tried again", async () => {
  const page = await session();
  await say(page, "say about to && crash thread main panicked at src/main.rs:7\\nno more memory");
  const failure = page.locator(".notice.failure:visible");
  await failure.waitFor();
  await until(page, "it is idle", async () => !(await page.locator(".running").isVisible()));
  assert.equal(await failure.count(), 1);
  assert.match(await failure.textContent(), /The agent crashed \(exit code 3\)\..*no more memory/s);
  writeFileSync(join(daemon.project, "story.json"), JSON.stringify({ "say about to && crash thread main panicked at src/main.rs:7\\nno more memory": ["say it works now"] }));
  await failure.getByRole("button", { name: "Retry" }).click();
  await answer(page).getByText("it works now").waitFor();
  await idle(page);
  assert.equal(await page.getByRole("button", { name: "Retry" }).count(), 0, "what is over is not tried again");
  assert.deepEqual(page.problems, []);
});

test("p8 runs of reads and searches are one line that unfolds by click and by key", async () => {
  const page = await session();
  await say(page, "reads 5 && searches 2 && say Found it. && reads 1");
  await idle(page);
  const head = page.getByRole("button", { name: "Read 5 files, searched twice" });
  await head.waitFor();
  assert.equal(await page.locator(".tool:visible").count(), 1, "one alone stands as it is");
  await head.click();
  assert.equal(await page.locator(".tool:visible").count(), 8);
  await page.locator(".tool", { hasText: "module_3.rs" }).locator("summary").click();
  await page.locator(".tool", { hasText: "module_3.rs" }).getByText("path", { exact: true }).waitFor();
  await head.click();
  assert.equal(await page.locator(".tool:visible").count(), 1);

  await page.getByRole("region", { name: "Conversation" }).focus();
  for (let stops = 0; stops < 10 && !(await page.evaluate(() => document.activeElement.matches(".run"))); stops += 1) await page.keyboard.press("k");
  await page.keyboard.press("Enter");
  assert.equal(await page.locator(".tool:visible").count(), 8);
  await page.keyboard.press("j");
  assert.ok(await page.evaluate(() => document.activeElement.matches(".tool")));
  await page.reload();
  await head.waitFor();
  assert.equal(await page.locator(".tool:visible").count(), 1);
  assert.deepEqual(page.problems, []);
});

test("p8 a run grows as the agent looks on, and as older entries come", async () => {
  const page = await session();
  await say(page, "say begin && reads 60 && say end");
  await answer(page).getByText("end").waitFor();
  await idle(page);
  await page.getByRole("button", { name: "Read 60 files" }).waitFor();
  await page.reload();
  await page.getByRole("button", { name: "Read 60 files" }).waitFor();
  assert.equal(await page.locator(".run").count(), 1);
  await page.locator(".assistant", { hasText: "begin" }).waitFor();
  assert.deepEqual(page.problems, []);
});

test("p8 a failed command shows its exit code and the end of its output, in the colours of the terminal", async () => {
  const page = await session();
  const lines = Array.from({ length: 40 }, (_, number) => `   Compiling part ${number}`);
  const failed = { title: "cargo test", kind: "execute", status: "failed", rawInput: { command: "cargo test" }, content: [{ type: "content", content: { type: "text", text: `Exit code 101\n${lines.join("\n")}\n\u001b[1m\u001b[31merror\u001b[0m: test\u200f failed <b>` } }] };
  await say(page, `tool ${JSON.stringify(failed)}`);
  await idle(page);
  const tool = page.locator(".tool");
  assert.equal(await tool.locator(".tool-exit").textContent(), "exit 101");
  const end = tool.getByRole("group", { name: "End of the output" });
  assert.match(await end.textContent(), /Compiling part 39\nerror: test\ufffd failed <b>$/);
  assert.equal(await end.locator(".ansi-1.ansi-bold").textContent(), "error");
  const done = { title: "ls", kind: "execute", rawInput: { command: "ls --color" }, content: [{ type: "content", content: { type: "text", text: "\u001b[38;5;27mdir\u001b[0m\r\n\u001b[32mrun\u001b[0m  10%\r\u001b[32mrun\u001b[0m 100%" } }] };
  await say(page, `tool ${JSON.stringify(done)}`);
  await idle(page);
  const list = page.locator(".tool").nth(1);
  await list.locator("summary").click();
  const output = list.getByRole("group", { name: "Output" });
  assert.equal(await output.textContent(), "dir\nrun 100%");
  assert.equal(await output.locator(".ansi-12").textContent(), "dir");
  assert.deepEqual(page.problems, []);
});

test("p8 what is read in a running call stays as it is when its output comes, and is copied as it is", async () => {
  const page = await session({ permissions: ["clipboard-read", "clipboard-write"] });
  const lines = Array.from({ length: 60 }, (_, number) => (number === 20 ? "turned \u202e around" : `line ${number}`));
  const call = (fields) => `tool ${JSON.stringify({ toolCallId: "grows", ...fields })}`;
  const began = call({ status: "in_progress", title: "make", kind: "other", rawInput: { text: lines.join("\n") } });
  const ended = call({ sessionUpdate: "tool_call_update", status: "completed", content: [{ type: "content", content: { type: "text", text: "made" } }] });
  await say(page, `${began} && gate && ${ended} && wait`);
  const tool = page.locator(".tool");
  await tool.locator("summary").click();
  await tool.getByRole("button", { name: "Show 48 more lines" }).click();
  const text = tool.getByRole("group", { name: "text" });
  await text.and(page.locator(":focus")).waitFor();
  const state = () => text.evaluate((it) => [it.scrollTop, String(getSelection()), document.activeElement === it]);
  await text.evaluate((it) => {
    it.scrollTop = 100;
    getSelection().setBaseAndExtent(it.firstChild, 0, it.firstChild, 13);
  });
  assert.deepEqual(await state(), [100, "line 0\nline 1", true]);
  writeFileSync(join(daemon.project, "gate"), "");
  await tool.getByRole("group", { name: "Output" }).getByText("made").waitFor();
  assert.deepEqual(await state(), [100, "line 0\nline 1", true]);
  assert.match(await text.textContent(), /turned \ufffd around/);
  await tool.getByRole("button", { name: "Copy text" }).click();
  await until(page, "it is copied", async () => (await page.evaluate(() => navigator.clipboard.readText())) === lines.join("\n"));
  assert.deepEqual(page.problems, []);
});

test("paths in answers lead to the editor when one is configured, and are words otherwise", async () => {
  const page = await session({ settings: '[editor]\nopen = "vscode"\n' });
  await say(page, "say Look at `src/upload.rs:12`, at lib/a.ts:3 and at `foo.bar`.");
  await idle(page);
  const links = await answer(page).locator("a").evaluateAll((all) => all.map((it) => [it.textContent, it.getAttribute("href"), it.target]));
  assert.deepEqual(links, [["src/upload.rs:12", `vscode://file${daemon.project}/src/upload.rs:12`, "_top"], ["lib/a.ts:3", `vscode://file${daemon.project}/lib/a.ts:3`, "_top"]]);
  assert.deepEqual(page.problems, []);
  await daemon.remove();
  const plain = await session();
  await say(plain, "say Look at `src/upload.rs:12`.");
  await idle(plain);
  assert.equal(await answer(plain).locator("a").count(), 0);
});

test("p7 a link opens the conversation at its message, marked and focused, and the newest messages are a button away", async () => {
  const page = await session();
  await say(page, "flood 40 && say the needle && flood 200 && say the end");
  await answer(page).getByText("the end").waitFor();
  await idle(page);
  const id = new URL(page.url()).pathname.split("/").at(-1);
  const messages = await daemon.api("GET", `/sessions/${id}/messages?limit=500`);
  const { seq } = messages.find(({ role, content }) => role === "agent" && content.text === "the needle");
  await page.goto(`${daemon.origin}/s/${id}?at=${seq}`);
  const found = page.locator(".found");
  await found.getByText("the needle").waitFor();
  assert.ok(await found.evaluate((it) => it === document.activeElement));
  assert.equal(await page.getByText("the end", { exact: true }).count(), 0);
  await page.getByRole("button", { name: "Newest messages" }).click();
  await answer(page).getByText("the end").waitFor();
  assert.equal(new URL(page.url()).search, "");
  await say(page, "say more");
  await answer(page).getByText("more").waitFor();
  assert.deepEqual(page.problems, []);
});

test("p4 what an agent did is seen when its end is on screen in a window that has the focus", async () => {
  const page = await session();
  const id = new URL(page.url()).pathname.split("/").at(-1);
  const unseen = async () => (await daemon.api("GET", `/sessions/${id}`)).unseen;
  await say(page, "say done");
  await answer(page).getByText("done").waitFor();
  await until(page, "it is seen", async () => (await unseen()) === false);
  // Where a window does not look at it, it stays unseen.
  await page.evaluate(() => Object.defineProperty(document, "hasFocus", { value: () => false, configurable: true }));
  await daemon.api("POST", `/sessions/${id}/prompt`, { text: "say again" });
  await answer(page).getByText("again").waitFor();
  await idle(page);
  await until(page, "the daemon has it", async () => (await unseen()) === true);
  await page.evaluate(() => delete document.hasFocus);
  await until(page, "it is seen", async () => (await unseen()) === false);
  assert.deepEqual(page.problems, []);
});

test("on a phone the pickers are one button, and on a desk they take the width of their value", async () => {
  const page = await session({ viewport: { width: 390, height: 844 } });
  await say(page, "hello");
  await idle(page);
  const one = page.getByRole("button", { name: /^Mode and settings/ });
  await one.click();
  await page.getByRole("dialog", { name: "Mode and settings" }).getByRole("combobox", { name: "Mode" }).selectOption("auto");
  await page.keyboard.press("Escape");
  await one.getByText("Auto").waitFor();
  assert.deepEqual(await findings(page, "phone"), []);
  await page.setViewportSize({ width: 1280, height: 800 });
  assert.equal(await one.isVisible(), false);
  assert.ok((await page.getByRole("combobox", { name: "Mode" }).evaluate((it) => it.offsetWidth)) < 90);
  assert.deepEqual(page.problems, []);
});

for (const colorScheme of ["light", "dark"]) {
  test(`p5 p8 axe finds nothing in queues, runs and failures, ${colorScheme}`, async () => {
    const page = await session({ colorScheme, reducedMotion: "reduce" });
    const colours = Array.from({ length: 16 }, (_, number) => `\u001b[38;5;${number}mcolour ${number}\u001b[0m \u001b[48;5;${number}mon ${number}\u001b[0m \u001b[7mback\u001b[0m`).join("\n");
    const output = { title: "colours", kind: "execute", status: "completed", rawInput: { command: "colours" }, content: [{ type: "content", content: { type: "text", text: colours } }] };
    await say(page, `reads 3 && tool ${JSON.stringify({ ...output, status: "failed" })} && tool ${JSON.stringify(output)} && say words`);
    await idle(page);
    await page.locator(".run-head").click();
    for (const summary of await page.locator(".tool summary:visible").all()) await summary.click();
    await answer(page).hover();
    const found = await findings(page, "entries");
    await busy(page, "say one", "say two");
    await page.locator(".queue li").first().hover();
    found.push(...(await findings(page, "queue")));
    await page.locator(".queue li").first().getByRole("button", { name: "Edit" }).click();
    found.push(...(await findings(page, "queue, edited")));
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Stop the agent" }).click();
    found.push(...(await findings(page, "stop")));
    await page.getByRole("button", { name: /discard/ }).click();
    await idle(page);
    await say(page, "crash oh no");
    await page.locator(".notice.failure:visible").waitFor();
    found.push(...(await findings(page, "crash")));
    assert.deepEqual(found, []);
    assert.deepEqual(page.problems, []);
  });
}
