// The palette: finding sessions, messages, projects and commands by typing.

import assert from "node:assert/strict";
import { test } from "node:test";
import { chat, Daemon, idle, openPage, openSession, search, until } from "./harness.js";
import { daemonPerTest } from "./stage.js";

let browser;
let daemon;
daemonPerTest((opened) => (browser = opened));

/** A daemon with sessions that have said something; returns their ids by title. */
async function talked(sessions) {
  daemon = await new Daemon().start();
  const repo = await daemon.addProject();
  const ids = {};
  for (const [title, { agent = "scripted", prompts }] of Object.entries(sessions)) {
    const { id } = await daemon.createSession(repo, agent);
    await daemon.api("PATCH", `/sessions/${id}`, { title });
    for (const text of prompts) await daemon.api("POST", `/sessions/${id}/prompt`, { text });
    ids[title] = id;
  }
  const page = await openPage(browser, daemon);
  await until(page, "all turns have ended", async () => (await daemon.api("GET", "/sessions")).sessions.every(({ activity }) => activity === "idle"));
  return { page, ids };
}

const palette = (page) => page.getByRole("dialog", { name: "Search" });
const rows = (page, group) => palette(page).getByRole("group", { name: group }).getByRole("option");
const selected = (page) => palette(page).locator('[aria-selected="true"]');

test("p7 messages are found by their words, and Enter opens the session at the message, with the keyboard alone", async () => {
  const { page, ids } = await talked({ "Long talk": { prompts: ["say a lighthouse keeper", ...Array.from({ length: 40 }, (_, at) => `flood 3 && say number ${at}`)] }, Other: { prompts: ["say something else"] } });
  // The last word may not be typed to its end.
  await search(page, "lighthouse kee");
  await until(page, "both messages are found", async () => (await rows(page, "Messages").count()) === 2);
  assert.deepEqual(await rows(page, "Messages").first().locator("mark").allTextContents(), ["lighthouse", "keeper"]);
  await page.keyboard.press("ArrowUp");
  assert.match(await selected(page).textContent(), /You · Long talk|Agent · Long talk/);
  await page.keyboard.press("Enter");
  await palette(page).waitFor({ state: "detached" });
  await chat(page).locator(".entry", { hasText: "a lighthouse keeper" }).first().waitFor();
  await until(page, "the message is in sight", () => chat(page).locator(".entry", { hasText: "a lighthouse keeper" }).first().evaluate((it) => {
    const { top, bottom } = it.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  }));

  // The same as a link.
  const other = await page.context().newPage();
  const { hits } = await daemon.api("GET", "/search?q=lighthouse");
  await other.goto(`${daemon.origin}/?open=${ids["Long talk"]}&at=${hits.at(-1).seq}`);
  await chat(other).locator(".entry", { hasText: "a lighthouse keeper" }).first().waitFor();
  assert.equal(new URL(other.url()).search, "", "it is followed once");
  assert.deepEqual(page.problems, []);
});

test("p7 filters narrow the search, and a wrong one says so", async () => {
  const { page } = await talked({ One: { prompts: ["say the harbour is open"] }, Two: { agent: "demo", prompts: ["the harbour is closed"] } });
  await page.keyboard.press("Control+k");
  const field = page.getByRole("combobox", { name: "Search" });
  const found = async (text, count) => {
    await field.fill(text);
    await until(page, `${text} finds ${count}`, async () => (await rows(page, "Messages").count()) === count && !(await palette(page).getByText("Searching messages…").isVisible()));
  };
  await found("harbour role:user", 2);
  await found("harbour role:user agent:demo", 1);
  assert.match(await rows(page, "Messages").textContent(), /harbour is closed.*You · Two · alpha/);
  await found("harbour project:alpha agent:scripted", 2);
  await found("harbour until:2000-01-01", 0);
  await palette(page).getByText("Nothing found.").waitFor();
  await field.fill("harbour role:captain");
  await palette(page).getByRole("status").getByText("captain").waitFor();

  // A filter is also put in by a press.
  await field.fill("harbour");
  await palette(page).getByRole("button", { name: "role:user" }).click();
  assert.equal(await field.inputValue(), "harbour role:user ");

  // The best come first while the button is pressed.
  const best = palette(page).getByRole("button", { name: "Best first" });
  await best.click();
  assert.equal(await field.inputValue(), "harbour role:user order:best ");
  assert.equal(await best.getAttribute("aria-pressed"), "true");
  await until(page, "both prompts are found", async () => (await rows(page, "Messages").count()) === 2);
  await best.click();
  assert.equal(await field.inputValue(), "harbour role:user ");
  assert.equal(await best.getAttribute("aria-pressed"), "false");
  await until(page, "it is applied", async () => (await rows(page, "Messages").count()) === 2);
  assert.deepEqual(page.problems, []);
});

test("p7 commands of the agent in the open tab are found too, and written into its message box", async () => {
  const { page } = await talked({ "With commands": { agent: "demo", prompts: ["hello"] }, Other: { prompts: ["say nothing"] } });
  await openSession(page, "With commands");
  const box = chat(page).getByRole("textbox", { name: "Message" });
  await box.fill("slowly");
  await search(page, "/pla");
  await until(page, "it is the first", async () => (await selected(page).textContent()).startsWith("/plan"));
  await page.keyboard.press("Enter");
  await until(page, "the box has it before what was written", async () => (await box.inputValue()) === "/plan slowly");
  await chat(page).locator("textarea:focus").waitFor();
  // Another agent has others.
  await box.fill("");
  await openSession(page, "Other");
  await search(page, "/pla");
  await palette(page).getByText("Nothing found.").waitFor();
  assert.deepEqual(page.problems, []);
});

test("p7 sessions, projects and commands are found by name; what is archived is found by its words", async () => {
  const { page, ids } = await talked({ "Tidy the storybook": { prompts: ["say nothing of note"] }, "Old plans": { prompts: ["say the ancient treasure"] } });
  await daemon.api("PATCH", `/sessions/${ids["Old plans"]}`, { archived: true });
  await search(page, "story TIDY");
  await until(page, "the session is found", async () => (await rows(page, "Sessions").allTextContents()).join().startsWith("Tidy the storybook"));
  await page.keyboard.press("Enter");
  await chat(page).getByText("nothing of note", { exact: true }).waitFor();

  // From inside the conversation, too.
  await idle(chat(page));
  await search(page, "sett");
  await page.keyboard.press("Enter");
  await page.getByRole("tab", { name: "Settings", selected: true }).waitFor();
  await search(page, "alpha");
  await rows(page, "Projects").getByText("New session in alpha").click();
  await page.locator("convoke-start textarea:focus").waitFor();

  await search(page, "ancient treasure");
  await rows(page, "Messages").filter({ hasText: "archived" }).first().click();
  await chat(page).getByText("This session is archived.").waitFor();
  await page.getByRole("tab", { name: "Old plans", selected: true }).waitFor();

  // Escape gives the focus back.
  await page.keyboard.press("Alt+0");
  await page.keyboard.press("Control+k");
  await palette(page).waitFor();
  await page.keyboard.press("Escape");
  await palette(page).waitFor({ state: "detached" });
  assert.equal(await page.evaluate(() => document.activeElement.id), "tab-home");
  assert.deepEqual(page.problems, []);
});
