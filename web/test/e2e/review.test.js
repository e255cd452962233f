// Comments on lines: written in the diff, kept until they are sent, and shown in the conversation and in place.

import assert from "node:assert/strict";
import { test } from "node:test";
import { changedFile as fileOf, idle, say, until, workedOn, writing as write } from "./harness.js";
import { findings } from "./judges.js";
import { daemonForAll } from "./stage.js";

let daemon;
let browser;
let made = 0;

daemonForAll((opened, started) => ([browser, daemon] = [opened, started]));

const CODE = "fn one() {}\nfn two() {}\nfn three() {}\nfn four() {}\n";

/** A session whose agent changed a file, with the changes open. */
async function review(files, options = {}) {
  const { page, id } = await workedOn(browser, daemon, `review-${(made += 1)}`, { "lib.rs": CODE }, [write(files)], options);
  await page.locator(".changes-button").click();
  await fileOf(page, "lib.rs").locator(".row").first().waitFor();
  return { page, id };
}

const number = (page, path, side, line) => fileOf(page, path).locator(`.no[data-side="${side}"][data-n="${line}"]`);
const box = (page) => page.getByRole("textbox", { name: /^Comment on/ });
const tray = (page) => page.getByRole("region", { name: "Review" });

async function comment(page, text) {
  await box(page).fill(text);
  await page.getByRole("button", { name: "Add comment" }).click();
  await page.locator(".comment-text", { hasText: text }).waitFor();
}

test("c4 comments on lines become one prompt, shown as comments in the conversation and where they were made", async () => {
  const { page, id } = await review({ "lib.rs": CODE.replace("two", "zwei").replace("four", "vier"), "new.txt": "a\nb\nc\n" });
  // One line.
  await number(page, "lib.rs", "new", 2).click();
  await comment(page, "English names, please");
  // A line of the old version, and several lines by dragging over their numbers.
  await number(page, "lib.rs", "old", 4).click();
  await comment(page, "This one was better");
  await number(page, "new.txt", "new", 1).hover();
  await page.mouse.down();
  await number(page, "new.txt", "new", 3).hover();
  await page.mouse.up();
  await comment(page, "Is this needed?");
  await tray(page).getByText("3 comments").waitFor();
  assert.deepEqual(await findings(page, "comments"), []);

  // They are kept over a reload.
  await page.reload();
  await page.locator(".changes-button").click();
  await tray(page).getByText("3 comments").click();
  await page.locator(".comment-text", { hasText: "English names" }).waitFor();
  await tray(page).getByRole("textbox", { name: "Message with the comments" }).fill("say thanks");
  await tray(page).getByRole("button", { name: "Send to the agent" }).click();
  await tray(page).waitFor({ state: "hidden" });
  const shown = page.locator("main .reviewed");
  await shown.getByText("Review: 3 comments").waitFor();
  assert.deepEqual(await shown.locator(".reviewed-place").allInnerTexts(), ["lib.rs\nline 2", "lib.rs\nline 4 before the change", "new.txt\nlines 1–3"]);
  assert.deepEqual((await shown.locator("pre").allInnerTexts()).map((text) => text.trim()), ["fn zwei() {}", "fn four() {}", "a\nb\nc"]);
  await idle(page);
  await page.locator(".comment.is-sent", { hasText: "English names" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Edit the comment" }).count(), 0, "what was sent is not edited");
  assert.deepEqual(await findings(page, "sent"), []);
  const messages = await daemon.api("GET", `/sessions/${id}/messages`);
  const { review: sent, text } = messages.findLast(({ role }) => role === "user").content;
  assert.equal(text, "say thanks");
  assert.deepEqual(sent.map(({ path, side, startLine, endLine, quote }) => [path, side, startLine, endLine, quote]), [["lib.rs", "new", 2, 2, "fn zwei() {}"], ["lib.rs", "old", 4, 4, "fn four() {}"], ["new.txt", "new", 1, 3, "a\nb\nc"]]);
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test("c4 three comments on two files are sent, the agent answers them, and the diff is renewed", async () => {
  const story = { "please…": [write({ "lib.rs": CODE.replace("two", "second"), "new.txt": "a\n" }), "say All three are done."] };
  const { page } = await review({ "lib.rs": CODE.replace("two", "zwei").replace("four", "vier"), "new.txt": "a\nb\nc\n", "story.json": JSON.stringify(story) });
  for (const [path, line, text] of [["lib.rs", 2, "In English"], ["lib.rs", 4, "As it was"], ["new.txt", 2, "One line is enough"]]) {
    await number(page, path, "new", line).click();
    await comment(page, text);
  }
  await tray(page).getByText("3 comments").click();
  await tray(page).getByRole("textbox", { name: "Message with the comments" }).fill("please");
  await tray(page).getByRole("button", { name: "Send to the agent" }).click();
  await page.locator(".assistant", { hasText: "All three are done." }).waitFor();
  await fileOf(page, "lib.rs").getByText("fn second() {}").waitFor();
  await until(page, "what was put right is gone", async () => (await fileOf(page, "lib.rs").getByText(/zwei|vier/).and(page.locator(".src, .src *")).count()) === 0);
  await until(page, "one line is left", async () => (await fileOf(page, "new.txt").locator(".row").count()) === 1);
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test("c4 a turn of comments alone is named by the first of them", async () => {
  const { page } = await review({ "lib.rs": CODE.replace("two", "zwei") });
  await number(page, "lib.rs", "new", 2).click();
  await comment(page, "English names, please");
  await tray(page).getByText("1 comment").click();
  await tray(page).getByRole("button", { name: "Send to the agent" }).click();
  await page.getByRole("combobox", { name: "Changes of" }).locator("option", { hasText: "· English names, please" }).waitFor({ state: "attached" });
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test("c4 comments are written with the keyboard alone, edited, and removed", async () => {
  const { page } = await review({ "lib.rs": CODE.replaceAll("fn", "pub fn") });
  await page.locator(".changes-scroller").focus();
  await page.keyboard.press("j");
  await page.keyboard.press("n");
  for (let press = 0; press < 4; press += 1) await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Shift+ArrowDown");
  await page.keyboard.press("Enter");
  await box(page).and(page.locator(":focus")).waitFor();
  assert.equal(await box(page).getAttribute("aria-label"), "Comment on lib.rs, lines 1–2");
  await page.keyboard.type("Why public?");
  await page.keyboard.press("Control+Enter");
  await tray(page).getByText("1 comment").waitFor();
  assert.match(await page.evaluate(() => document.activeElement.ariaLabel), /^Line 2/, "the focus is back on the line");
  await page.getByRole("button", { name: "Edit the comment" }).click();
  await page.keyboard.press("End");
  await page.keyboard.type(" Really?");
  await page.keyboard.press("Control+Enter");
  await page.locator(".comment-text", { hasText: "Why public? Really?" }).waitFor();
  await page.locator(".comment").getByRole("button", { name: "Remove the comment" }).click();
  await tray(page).waitFor({ state: "hidden" });
  // Escape leaves a form that is empty at once.
  await number(page, "lib.rs", "new", 3).click();
  await page.keyboard.press("Escape");
  await box(page).waitFor({ state: "detached" });
  await page.locator("convoke-changes").waitFor();
  await page.context().close();
});

test("c4 a comment is written undisturbed while the agent talks, and stays when it cannot be sent", async () => {
  const { page, id } = await review({ "lib.rs": CODE.replace("two", "zwei") });
  await say(page, "clock 30");
  await number(page, "lib.rs", "new", 2).click();
  await page.keyboard.type("Not a word of this is lost, whatever the agent says meanwhile.", { delay: 20 });
  await idle(page);
  assert.equal(await box(page).inputValue(), "Not a word of this is lost, whatever the agent says meanwhile.");
  await box(page).and(page.locator(":focus")).waitFor();
  await page.keyboard.press("Control+Enter");
  await tray(page).getByText("1 comment").waitFor();
  // Ended by someone else, the session takes nothing.
  await daemon.api("DELETE", `/sessions/${id}`);
  await tray(page).getByRole("button", { name: "Send to the agent" }).and(page.locator(":disabled")).waitFor();
  await page.context().close();
});

test("c4 the agent rewrites the file of a comment that is being written: text, caret and focus stay, also when its lines or the file are gone", async () => {
  const { page, id } = await review({ "lib.rs": CODE.replace("two", "zwei"), "new.txt": "a\n" });
  const rewrite = async (text) => {
    const prompts = page.locator(".user[data-key]");
    const said = await prompts.count();
    await daemon.api("POST", `/sessions/${id}/prompt`, { text: write({ "lib.rs": text }) });
    await prompts.nth(said).waitFor({ state: "attached" });
    await idle(page);
  };
  await number(page, "lib.rs", "new", 2).click();
  await page.keyboard.type("Half a comment");
  for (let press = 0; press < 10; press += 1) await page.keyboard.press("ArrowLeft");
  await rewrite(`fn zero() {}\n${CODE.replace("two", "zwei")}`);
  await number(page, "lib.rs", "new", 5).waitFor();
  await page.keyboard.type(" of");
  assert.equal(await box(page).inputValue(), "Half of a comment");
  assert.equal(await fileOf(page, "lib.rs").evaluate((it) => it.querySelector(".comment").previousElementSibling.querySelector('[data-side="new"]').dataset.n), "3", "it is below its line");

  await rewrite(CODE.replace("three", "drei"));
  await fileOf(page, "lib.rs").getByText("1 comment on lines that are no longer here").waitFor();
  await box(page).and(page.locator(":focus")).waitFor();
  await page.keyboard.type(" such");
  assert.equal(await box(page).inputValue(), "Half of such a comment");

  // Without the file, what was written is a comment of the review, and typing goes on there.
  await rewrite(CODE);
  await fileOf(page, "lib.rs").waitFor({ state: "detached" });
  await tray(page).getByText("Half of such a comment").waitFor();
  await page.keyboard.type("1");
  assert.equal(await tray(page).getByRole("textbox", { name: "Message with the comments" }).inputValue(), "1");
  // Another scope takes a form away, too; neither lines nor Escape wait for it.
  await number(page, "new.txt", "new", 1).click();
  await page.keyboard.type("Left behind");
  await page.getByRole("combobox", { name: "Changes of" }).selectOption({ index: 3 });
  await tray(page).getByText("Left behind").waitFor();
  await number(page, "lib.rs", "new", 2).click();
  await box(page).and(page.locator(":focus")).waitFor();
  await page.keyboard.press("Escape");
  await box(page).waitFor({ state: "detached" });
  await page.keyboard.press("Escape");
  await page.locator("convoke-changes").waitFor({ state: "hidden" });
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test("c4 a comment follows its lines, and says so when they are gone", async () => {
  const { page } = await review({ "lib.rs": CODE.replace("two", "zwei") });
  await number(page, "lib.rs", "new", 2).click();
  await comment(page, "Name it two");
  await say(page, write({ "lib.rs": `fn zero() {}\n${CODE.replace("two", "zwei")}` }));
  await idle(page);
  await number(page, "lib.rs", "new", 5).waitFor();
  await until(page, "it stands below the third line", () => fileOf(page, "lib.rs").evaluate((it) => it.querySelector(".comment")?.previousElementSibling?.querySelector('[data-side="new"]')?.dataset.n === "3"));
  await say(page, write({ "lib.rs": CODE }));
  await idle(page);
  await say(page, write({ "lib.rs": CODE.replace("three", "drei") }));
  await fileOf(page, "lib.rs").getByText("1 comment on lines that are no longer here").waitFor();
  await page.context().close();
});

test("c4 w9 comments and the tray are accessible on a phone in both themes", async () => {
  const found = [];
  for (const colorScheme of ["light", "dark"]) {
    const { page } = await review({ "lib.rs": CODE.replace("two", "zwei") }, { colorScheme, viewport: { width: 390, height: 844 } });
    await number(page, "lib.rs", "new", 2).click();
    found.push(...(await findings(page, `${colorScheme} form`)));
    await comment(page, "A comment on a phone");
    await tray(page).getByText("1 comment").click();
    found.push(...(await findings(page, `${colorScheme} tray`)));
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false);
    await page.context().close();
  }
  assert.deepEqual(found, []);
});
