// What goes with a message: attachments, and files of the project that it mentions.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { findings } from "./judges.js";
import { chat, Daemon, idle, openNewSession, openPage, say, until } from "./harness.js";
import { daemonPerTest } from "./stage.js";

let browser;
let daemon;
daemonPerTest((opened) => (browser = opened));

/** A picture of 2 × 2 pixels. */
const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAFklEQVR4nGP8z8DAwMDAxMDAwMDAAAANHQEDasKb6QAAAABJRU5ErkJggg==", "base64");
const shot = { name: "my shot.png", mimeType: "image/png", buffer: PNG };
const notes = { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("Buy bread.\n") };

/** A session as a separate page. */
async function session(options = {}) {
  daemon = await new Daemon().start();
  mkdirSync(join(daemon.project, "src/store"), { recursive: true });
  for (const name of ["src/main.rs", "src/store/maintain.rs", "src/<i>x.rs"]) writeFileSync(join(daemon.project, name), "");
  return openNewSession(browser, daemon, options);
}

const box = (page) => page.getByRole("textbox", { name: "Message", exact: true });
const send = (page) => page.getByRole("button", { name: "Send", exact: true });
const chips = (page) => page.locator(".tray .chip-file");
const chip = (page, name) => chips(page).filter({ hasText: name });
const names = (page) => page.locator(".tray .title").allTextContents();
const answer = (page) => page.locator(".assistant").last();
const enabled = (page) => send(page).and(page.locator(":enabled")).waitFor();

async function pick(page, ...files) {
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Attach files" }).click();
  await (await chooser).setFiles(files);
}

/** Pastes or drops what a test has in its hands. */
function bring(page, how, target, ...files) {
  const given = files.map(({ name, mimeType, buffer }) => ({ name, mimeType, text: buffer.toString("base64") }));
  return page.locator(target).evaluate((element, { how, given }) => {
    const data = new DataTransfer();
    for (const { name, mimeType, text } of given) data.items.add(new File([Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))], name, { type: mimeType }));
    if (how === "paste") return element.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    for (const type of ["dragover", "drop"]) element.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
  }, { how, given });
}

test("l3 files are picked, pasted and dropped, go with the prompt, and are shown in the message", async () => {
  const page = await session();
  await pick(page, shot);
  await chip(page, "my shot.png").locator("canvas").waitFor();
  await bring(page, "paste", ".composer textarea", notes);
  await bring(page, "drop", "convoke-log", { ...notes, name: "dropped.md" });
  await until(page, "all are there", async () => (await names(page)).join() === "my shot.png,notes.txt,dropped.md");
  assert.match(await chip(page, "notes.txt").textContent(), /11 bytes/);
  await enabled(page);
  assert.deepEqual(await findings(page, "chips"), []);

  await box(page).fill("parts");
  await box(page).press("Enter");
  await answer(page).getByText("text, image, resource notes.txt, resource dropped.md").waitFor();
  assert.equal(await page.locator(".tray").isVisible(), false);
  const message = page.locator(".user").last();
  await message.locator(".picture canvas").waitFor();

  await message.getByRole("button", { name: "Show my shot.png" }).click();
  const dialog = page.getByRole("dialog", { name: "my shot.png" });
  await until(page, "the picture is shown", () => dialog.locator("img").evaluate((image) => image.complete && image.naturalWidth === 2));
  assert.deepEqual(await findings(page, "a picture"), []);
  await page.keyboard.press("Escape");
  const download = page.waitForEvent("download");
  await message.getByRole("button", { name: "Download notes.txt" }).click();
  assert.equal((await download).suggestedFilename(), "notes.txt");

  // They are in the message after a reload, and go along when it is sent again.
  await page.reload();
  await page.locator(".user .picture canvas").waitFor();
  await page.locator(".user").hover();
  await page.getByRole("button", { name: "Send again" }).click();
  await until(page, "it was sent with them", async () => (await page.locator(".user .picture canvas").count()) === 2);
  await idle(page);
  assert.deepEqual(page.problems, []);
});

test("l3 chips are removed by mouse and keyboard, stay over a reload, and are enough for a message", async () => {
  const page = await session();
  await pick(page, shot, notes, { ...notes, name: "more.txt" });
  await enabled(page);
  await page.getByRole("button", { name: "Remove notes.txt" }).click();
  await until(page, "two are left", async () => (await names(page)).join() === "my shot.png,more.txt");
  await page.reload();
  await chip(page, "my shot.png").locator("canvas").waitFor();
  await page.getByRole("button", { name: "Remove more.txt" }).focus();
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Delete");
  await until(page, "one is left", async () => (await names(page)).join() === "more.txt");
  assert.equal(await page.evaluate(() => document.activeElement?.ariaLabel), "Remove more.txt");
  await enabled(page);
  await send(page).click();
  await page.locator(".user").getByRole("button", { name: "Download more.txt" }).waitFor();
  assert.equal(await page.locator(".user .md").isVisible(), false);
  await idle(page);
  assert.deepEqual(page.problems, []);
});

test("l3 what cannot be attached says why, and nothing is sent until it is removed", async () => {
  const page = await session();
  await box(page).fill("say hello");
  await page.locator(".composer textarea").evaluate((element) => {
    const data = new DataTransfer();
    data.items.add(new File([new Uint8Array((32 << 20) + 1)], "large.bin"));
    data.items.add(new File([], "empty.txt"));
    element.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  });
  await chip(page, "large.bin").getByText("Larger than 32 MiB: 34 MB.").waitFor();
  await chip(page, "empty.txt").getByText("The file is empty.").waitFor();
  assert.equal(await send(page).isEnabled(), false);
  assert.deepEqual(await findings(page, "refused"), []);
  await page.route("**/api/blobs?*", (route) => route.fulfill({ status: 422, json: { detail: "the attachment notes.txt is of a kind that is not taken" } }));
  await pick(page, notes);
  await chip(page, "notes.txt").getByText("The attachment notes.txt is of a kind that is not taken.").waitFor();
  for (const name of ["large.bin", "empty.txt", "notes.txt"]) await page.getByRole("button", { name: `Remove ${name}` }).click();
  await enabled(page);
  assert.equal(await box(page).inputValue(), "say hello");
});

test("l3 without a connection chips and draft stay, and are uploaded when it is back", async () => {
  const page = await session();
  const { host } = new URL(daemon.origin);
  await pick(page, shot);
  await enabled(page);
  await box(page).fill("parts");
  await daemon.stop();
  await pick(page, notes);
  await chip(page, "notes.txt").getByText("Not uploaded: Convoke cannot be reached.").waitFor();
  assert.equal(await send(page).isEnabled(), false);
  await daemon.start({ listen: host });
  await enabled(page);
  assert.deepEqual([await names(page), await box(page).inputValue()], [["my shot.png", "notes.txt"], "parts"]);
  await send(page).click();
  await answer(page).getByText("text, image, resource notes.txt").waitFor();
  assert.deepEqual(page.problems, []);
});

test("l3 attachments show in the queue, and an upload shows how far it is", async () => {
  const page = await session();
  await say(page, "wait");
  let go;
  await page.route("**/api/blobs?*", async (route) => (await new Promise((resolve) => (go = resolve)), route.continue()));
  await pick(page, notes);
  await page.getByRole("progressbar", { name: "Uploading notes.txt" }).waitFor();
  await until(page, "it is on its way", async () => go !== undefined);
  go();
  await page.getByRole("progressbar", { name: "Uploading notes.txt" }).waitFor({ state: "hidden" });
  await box(page).fill("parts");
  await enabled(page);
  await box(page).press("Enter");
  await page.locator(".queue li").getByText("notes.txt").waitFor();
  await page.getByRole("button", { name: "Stop the agent" }).click();
  await page.getByRole("button", { name: "Send the next" }).click();
  await answer(page).getByText("text, resource notes.txt").waitFor();
  assert.deepEqual(page.problems, []);
});

test("l3 a page or drawing of the user is shown or downloaded, and never run", async () => {
  const page = await session();
  await pick(page, { name: "x.svg", mimeType: "image/svg+xml", buffer: Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" onload="top.pwned=1"><script>top.pwned=1</script></svg>`) },
    { name: "x.html", mimeType: "text/html", buffer: Buffer.from("<script>top.pwned=1</script>") });
  await box(page).fill("say seen");
  await enabled(page);
  await box(page).press("Enter");
  await page.getByRole("button", { name: "Show x.svg" }).click();
  await until(page, "it is an image", () => page.locator("dialog img").evaluate((image) => image.complete && image.naturalWidth === 9));
  await page.keyboard.press("Escape");
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download x.html" }).click();
  await download;
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  assert.equal(page.context().pages().length, 1);
  await idle(page);
  assert.deepEqual(page.problems, []);
});

const list = (page) => page.getByRole("listbox", { name: "Files" });
const options = (page) => list(page).getByRole("option").allTextContents();

test("l2 an @ offers files and folders of the project, taken by keyboard and mouse and sent with the prompt", async () => {
  const page = await session();
  await box(page).pressSequentially("parts @");
  await until(page, "all are offered", async () => (await options(page)).join() === "README.md,src/,<i>x.rssrc/,main.rssrc/,store/src/,maintain.rssrc/store/");
  assert.deepEqual(await findings(page, "mentions"), []);
  assert.equal(await box(page).getAttribute("aria-activedescendant"), "completions-0");
  await box(page).pressSequentially("srmn");
  await until(page, "the best come first", async () => (await options(page))[0] === "main.rssrc/" && (await options(page)).length < 5);
  const [, second] = await options(page);
  await box(page).press("ArrowDown");
  assert.equal(await list(page).locator("[aria-selected=true]").textContent(), second);
  await box(page).press("ArrowUp");
  await box(page).press("Enter");
  assert.equal(await box(page).inputValue(), "parts @src/main.rs ");
  assert.equal(await list(page).isVisible(), false);

  await box(page).pressSequentially("@store");
  await list(page).getByRole("option").first().click();
  assert.equal(await box(page).inputValue(), "parts @src/main.rs @src/store/ ");
  await box(page).pressSequentially("me@home");
  assert.equal(await list(page).isVisible(), false);
  await enabled(page);
  await box(page).press("Enter");
  await answer(page).getByText("text, resource_link src/main.rs, resource_link src/store/").waitFor();
  await idle(page);
  assert.deepEqual(page.problems, []);
});

test("l2 a mention survives a reload, Escape closes the list, a path typed in full is sent at once, and one that is gone is not mentioned", async () => {
  const page = await session();
  await box(page).pressSequentially("parts @mainrs");
  await list(page).waitFor();
  await box(page).press("Tab");
  await box(page).pressSequentially("@src");
  await list(page).waitFor();
  await box(page).press("Escape");
  assert.equal(await list(page).isVisible(), false);
  await page.reload();
  await enabled(page);
  assert.equal(await box(page).inputValue(), "parts @src/main.rs @src");
  await box(page).press("Enter");
  await answer(page).getByText("text, resource_link src/main.rs", { exact: true }).waitFor();
  await idle(page);

  await box(page).pressSequentially("parts @README.md");
  await until(page, "it is found", async () => (await options(page)).join() === "README.md");
  await box(page).press("Enter");
  await answer(page).getByText("text, resource_link README.md").waitFor();
  await box(page).pressSequentially("parts @nobody");
  await list(page).waitFor({ state: "hidden" });
  await idle(page);
  await box(page).press("Enter");
  await until(page, "it is sent without", async () => (await answer(page).textContent()).trim() === "text");
  assert.deepEqual(page.problems, []);
});

/** Home, with an agent that was started once. */
async function home(options = {}) {
  const settings = `
[agents.choosy]
protocol = "acp"
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(join(import.meta.dirname, "agent.js"))}, "--models"]
title = "Choosy"
badge = "CH"
sandbox = "off"
`;
  daemon = await new Daemon({ settings }).start();
  writeFileSync(join(daemon.project, "main.rs"), "");
  const repo = await daemon.addProject();
  await daemon.createSession(repo, "choosy");
  return openPage(browser, daemon, options);
}

const start = (page) => page.locator("convoke-start");
const choose = async (page, kind, title) => {
  await start(page).getByRole("button", { name: `${kind}: ` }).click();
  await start(page).getByRole("menuitem", { name: title, exact: true }).click();
};

test("l1 Home offers models and modes of the agent, remembers them for it, and begins the session with them", async () => {
  const page = await home();
  await choose(page, "Agent", "Choosy");
  await start(page).getByRole("button", { name: "Model: Small" }).waitFor();
  await start(page).getByRole("button", { name: "Mode: Ask" }).waitFor();
  await choose(page, "Model", "Large");
  await choose(page, "Mode", "Auto");
  assert.deepEqual(await findings(page, "chips of Home"), []);
  await choose(page, "Agent", "Demo");
  assert.equal(await start(page).getByRole("button", { name: "Model: " }).isVisible(), false);
  await page.reload();
  await choose(page, "Agent", "Choosy");
  await start(page).getByRole("button", { name: "Model: Large" }).waitFor();
  await start(page).getByRole("button", { name: "Mode: Auto" }).waitFor();
  await start(page).getByRole("textbox").fill("say hello");
  await start(page).getByRole("textbox").press("Enter");
  await chat(page).locator(".assistant").getByText("hello").waitFor();
  await until(page, "they hold", async () => (await chat(page).locator(".picker select").evaluateAll((all) => all.map(({ value }) => value).sort())).join() === "auto,large");
  assert.deepEqual(page.problems, []);
});

test("l2 l3 Home attaches files and mentions those of the project, and keeps both until the session is there", async () => {
  const page = await home();
  await choose(page, "Agent", "Choosy");
  await pick(page, shot);
  await chip(page, "my shot.png").locator("canvas").waitFor();
  await start(page).getByRole("textbox").pressSequentially("parts @mai");
  await list(page).getByRole("option", { name: "main.rs" }).waitFor();
  assert.deepEqual(await findings(page, "mentions at Home"), []);
  await start(page).getByRole("textbox").press("Enter");
  await page.reload();
  await chip(page, "my shot.png").locator("canvas").waitFor();
  assert.equal(await start(page).getByRole("textbox").inputValue(), "parts @main.rs ");
  await page.getByRole("button", { name: "Start the session (Enter)" }).and(page.locator(":enabled")).click();
  await chat(page).locator(".assistant").getByText("text, image, resource_link main.rs").waitFor();
  await page.keyboard.press("Alt+0");
  await until(page, "Home is empty again", async () => (await chips(page).count()) === 0 && (await start(page).getByRole("textbox").inputValue()) === "");
  // A file is enough to begin with.
  await pick(page, notes);
  await page.getByRole("button", { name: "Start the session (Enter)" }).and(page.locator(":enabled")).click();
  await chat(page).getByRole("button", { name: "Download notes.txt" }).waitFor();
  assert.deepEqual(page.problems, []);
});
