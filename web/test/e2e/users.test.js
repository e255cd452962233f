// Several people at one daemon: what the page shows them, and what it offers them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { findingsInBoth } from "./judges.js";
import { chat, Daemon, idle, openPage, openPageOf, openSession, say, search } from "./harness.js";
import { daemonPerTest } from "./stage.js";

let browser;
let daemon;
daemonPerTest((opened) => (browser = opened));

const message = (conversation) => conversation.getByRole("textbox", { name: "Message" });
const READS = "You are signed in as grace, who can read here.";

test("n7 a viewer signs in with a link of the command line, reads everything, and is offered nothing to do", async () => {
  daemon = await new Daemon().start();
  const repo = await daemon.addProject();
  await daemon.createSession(repo, "scripted");
  const owner = await openPage(browser, daemon, { reducedMotion: "reduce" });
  const asking = await openSession(owner, "New Session");
  await say(asking, "say Look at this.");
  await idle(asking);
  await say(asking, "permit Write a file");
  await asking.locator("convoke-permission").waitFor();

  const page = await openPageOf(browser, daemon, "grace", "viewer", { reducedMotion: "reduce" });
  const sent = [];
  page.on("websocket", (socket) => socket.on("framesent", ({ payload }) => sent.push(JSON.parse(payload).type)));
  await page.reload();
  await page.getByText("grace · viewer").waitFor();
  await page.locator("#home").getByText(READS).waitFor();
  await page.locator("#home convoke-permission").getByText("Waits for someone who can answer.").waitFor();
  for (const name of ["New session", "Add a project", "Settings", "Allow once", "Deny"]) assert.equal(await page.getByRole("button", { name, exact: true }).count(), 0, name);
  assert.equal(await page.getByRole("textbox", { name: "What should be done?" }).count(), 0);
  const found = await findingsInBoth(page, "home of a viewer");
  await search(page, "a");
  for (const name of ["Add a project", "Settings", "New session", "Compare several agents"]) assert.equal(await page.getByRole("option", { name }).count(), 0, name);
  await page.keyboard.press("Escape");

  await page.locator(".session a").first().click();
  const conversation = chat(page);
  await conversation.getByText("Look at this.", { exact: true }).waitFor();
  await conversation.getByText(READS).waitFor();
  await conversation.locator("convoke-permission").getByText("Waits for someone who can answer.").waitFor();
  await conversation.getByRole("article", { name: "the owner" }).first().waitFor();
  assert.equal(await message(conversation).count(), 0);
  assert.equal(await conversation.getByRole("button", { name: /Allow|Deny|Decline|Stop|Resume/ }).count(), 0);
  await conversation.getByRole("button", { name: "Session menu" }).click();
  assert.deepEqual(await conversation.getByRole("menuitem").allInnerTexts(), ["Copy id", "Copy link", "Open in a new page", "Close tab"]);
  await page.keyboard.press("Escape");
  // The changes close with Escape although nothing can be written there.
  await page.keyboard.press("Alt+c");
  await conversation.locator("convoke-changes").waitFor();
  await page.keyboard.press("Escape");
  await conversation.locator("convoke-changes").waitFor({ state: "hidden" });
  // Neither keys nor looking at it do anything.
  for (const key of ["1", "Escape", "Escape", "Alt+n"]) await page.keyboard.press(key);
  found.push(...(await findingsInBoth(page, "conversation of a viewer")));
  assert.deepEqual(found, []);
  assert.deepEqual(sent.filter((type) => !/list|open|page|close|auth|ping|search/.test(type)), []);

  // Another role holds at once, and a reload is enough to see it.
  daemon.command("user", "role", "grace", "member", "--project", "alpha");
  await page.reload();
  await message(chat(page)).waitFor();
  assert.equal(await page.getByRole("button", { name: "Settings", exact: true }).count(), 0);
  daemon.command("user", "role", "grace", "--project", "alpha", "--clear");
  await message(chat(page)).fill("one more thing");
  await message(chat(page)).press("Enter");
  await chat(page).getByText("grace is a viewer here, and this needs a member").waitFor();
  await chat(page).getByText(READS).waitFor();
  await message(chat(page)).waitFor({ state: "hidden" });
  assert.deepEqual(page.problems, []);
});

test("n7 what a member says and decides carries her name, in the owner's browser too", async () => {
  daemon = await new Daemon().start();
  const repo = await daemon.addProject();
  await daemon.createSession(repo, "scripted");
  const owner = await openPage(browser, daemon, { reducedMotion: "reduce" });
  const watching = await openSession(owner, "New Session");
  const page = await openPageOf(browser, daemon, "ada", "member", { reducedMotion: "reduce" });
  await page.getByText("ada · member").waitFor();
  const conversation = await openSession(page, "New Session");

  // A permission that is asked for a call, decided and made a rule by her.
  const call = { title: "Run the tests", kind: "execute", rawInput: { command: "cargo test" } };
  await say(conversation, `demand ${JSON.stringify(call)}`);
  await conversation.getByRole("button", { name: /^Always allow/ }).first().click();
  await watching.locator(".tool-verdict", { hasText: "Allowed by ada" }).waitFor();
  await conversation.locator(".tool-verdict", { hasText: /^Allowed$/ }).waitFor();
  await idle(conversation);
  const prompt = watching.getByRole("article", { name: "ada" });
  assert.equal(await prompt.first().locator(".who").innerText(), "ada");
  // To herself she is “you”, as ever.
  await conversation.getByRole("article", { name: "You" }).first().waitFor();

  // What she decides for the owner, and what waits, has her name too.
  await say(watching, "permit Write a file");
  await watching.locator("convoke-permission[data-status=pending]").waitFor();
  await say(conversation, "say And then this.");
  await watching.locator(".queue-who", { hasText: "ada" }).waitFor();
  await conversation.getByRole("button", { name: "Allow once" }).click();
  await watching.locator(".tool", { hasText: "Write a file" }).locator(".tool-verdict", { hasText: "Allowed by ada" }).waitFor();
  await conversation.getByRole("article", { name: "the owner" }).waitFor();
  await idle(watching);

  // What is an owner's is not offered to her.
  await conversation.getByRole("button", { name: "Session menu" }).click();
  await conversation.getByRole("menuitem", { name: "Rename" }).waitFor();
  assert.equal(await conversation.getByRole("menuitem", { name: "Delete…" }).count(), 0);
  await page.keyboard.press("Escape");
  for (const name of ["Add a project", "Settings"]) assert.equal(await page.getByRole("button", { name, exact: true }).count(), 0, name);

  // The owner sees for whom the rule holds, and nothing about being signed in.
  await owner.getByRole("button", { name: "Settings", exact: true }).click();
  await owner.locator(".rules li", { hasText: "when ada prompts" }).waitFor();

  // Her role and her devices are in the owner's hands.
  const people = owner.getByRole("region", { name: "People" });
  await people.getByText("Chrome on Linux").waitFor();
  await people.getByText("Activity").click();
  await people.locator(".acts li", { hasText: "ada" }).first().waitFor();
  assert.deepEqual(await findingsInBoth(owner, "people"), []);
  await people.getByRole("combobox", { name: "Role of ada" }).selectOption("viewer");
  await owner.getByText("ada is a viewer now.").waitFor();
  await page.reload();
  await page.getByText("ada · viewer").waitFor();
  await people.getByRole("button", { name: "Sign out Chrome on Linux of ada" }).click();
  await owner.getByRole("dialog").getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "This browser is not signed in" }).waitFor();
  await people.getByRole("button", { name: "Remove ada" }).click();
  await owner.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await people.getByText("Only you, so far.").waitFor();
  assert.equal(await owner.locator("#me").isVisible(), false);
  assert.deepEqual([...page.problems, ...owner.problems], []);
});
