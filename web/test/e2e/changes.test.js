// What a session changed: the panel with its files and lines, and going back.

import assert from "node:assert/strict";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { captured, Daemon, idle, openBrowser, openPage, say, until, writing as write } from "./harness.js";
import { ATTACK, attackless, findings } from "./judges.js";

const MAIN = `use std::io;

/// Greets somebody.
fn greet(name: &str) -> String {
    format!("Hello, {name}!")
}

fn main() -> io::Result<()> {
    println!("{}", greet("world"));
    Ok(())
}
`;

let daemon;
let browser;
let repo;

before(async () => {
  daemon = await new Daemon().start();
  browser = await openBrowser();
  mkdirSync(join(daemon.project, "src/parser"), { recursive: true });
  writeFileSync(join(daemon.project, "src/main.rs"), MAIN);
  writeFileSync(join(daemon.project, "src/old_name.rs"), "fn one() {}\n".repeat(20));
  writeFileSync(join(daemon.project, "src/gone.rs"), "fn gone() {}\n");
  writeFileSync(join(daemon.project, "tool.sh"), "#!/bin/sh\necho tool\n");
  chmodSync(join(daemon.project, "tool.sh"), 0o644);
  writeFileSync(join(daemon.project, "logo.bin"), Buffer.from([0, 1, 2, 3, 0, 255]));
  repo = await daemon.addProject();
});
after(async () => {
  await browser?.close();
  await daemon?.remove();
});


/** A session's own page, with prompts that were carried out. */
async function talk(prompts, options = {}) {
  const { id } = await daemon.createSession(repo, "scripted");
  const page = await openPage(browser, daemon, { path: `/s/${id}`, viewport: { width: 1300, height: 860 }, ...options });
  await page.getByRole("textbox", { name: "Message" }).waitFor();
  for (const prompt of prompts) {
    await say(page, prompt);
    await idle(page);
  }
  if (prompts.length) await captured(daemon, id);
  return { page, id };
}

const panel = (page) => page.locator("convoke-changes");
const fileOf = (page, path) => panel(page).locator(`.file[data-path="${path}"]`);
const button = (page) => page.getByRole("button", { name: /^Changes/ });
const counted = (page, text) => button(page).filter({ hasText: text }).waitFor();

test("c3 the changes of a session stand beside it: a tree with states and counts, and lines with colours and marked words", async () => {
  const { page } = await talk([
    write({ "src/main.rs": MAIN.replace('greet("world")', 'greet("harbour")'), "src/parser/lexer.rs": "// new\nfn lex() {}\n", "src/gone.rs": null }),
    "run mv src/old_name.rs src/new_name.rs; printf '\\0\\1\\2\\7' > logo.bin; chmod +x tool.sh",
  ]);
  await page.locator(".changes-button .plus").waitFor();
  assert.equal(await panel(page).count(), 0, "what shows them is not loaded before");
  await page.keyboard.press("Alt+c");
  await panel(page).waitFor();
  await fileOf(page, "src/main.rs").locator(".row").first().waitFor();

  const tree = panel(page).getByRole("tree", { name: "Changed files" });
  const rows = await tree.getByRole("treeitem").evaluateAll((all) => all.map((row) => [...row.children].map((child) => child.textContent).filter(Boolean).join(" ")));
  assert.deepEqual(rows, ["src", "parser", "A lexer.rs +2 −0", "D gone.rs +0 −1", "M main.rs +1 −1", "R new_name.rs", "M logo.bin binary", "M tool.sh"]);

  const main = fileOf(page, "src/main.rs");
  assert.deepEqual(await main.locator(".row.removed mark, .row.added mark").allTextContents(), ['greet("world"));', 'greet("harbour"));']);
  assert.ok((await main.locator(".hl-keyword").count()) > 0, "code has colours");
  await fileOf(page, "src/new_name.rs").getByText("renamed from src/old_name.rs").waitFor();
  await fileOf(page, "tool.sh").getByText("now executable").waitFor();
  await fileOf(page, "logo.bin").getByText("A binary file").waitFor();
  assert.equal(await fileOf(page, "src/gone.rs").locator(".row").count(), 0, "what was deleted is folded");

  // Folding, and marks of what was viewed, which are still there after a reload.
  await main.getByRole("checkbox").check();
  await main.locator(".row").first().waitFor({ state: "hidden" });
  await panel(page).getByText("1 of 6 viewed").waitFor();
  await page.reload();
  await button(page).click();
  await panel(page).getByText("1 of 6 viewed").waitFor();
  assert.equal(await fileOf(page, "src/main.rs").getByRole("checkbox").isChecked(), true);

  // A turn of its own, and a file that changes again is not viewed any more.
  await panel(page).getByRole("combobox", { name: "Changes of" }).selectOption({ index: 1 });
  await until(page, "only the files of the second turn", async () => (await panel(page).locator(".file").count()) === 3);
  await panel(page).getByRole("combobox", { name: "Changes of" }).selectOption({ label: "Whole session" });
  await until(page, "all files", async () => (await panel(page).locator(".file").count()) === 6);
  await say(page, write({ "src/main.rs": MAIN.replace('greet("world")', 'greet("port")').replace("Hello", "Ahoy") }));
  await fileOf(page, "src/main.rs").getByRole("checkbox").and(page.locator(":not(:checked)")).waitFor();
  await fileOf(page, "src/main.rs").getByText("Ahoy").first().waitFor();
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test("c3 side by side or in one column, as chosen before", async () => {
  const { page } = await talk([write({ "notes.txt": "one\ntwo\nthree\n" }), write({ "notes.txt": "one\n2\nthree\nfour\n" })], { viewport: { width: 1700, height: 900 } });
  await page.keyboard.press("Alt+c");
  await panel(page).getByRole("combobox", { name: "Changes of" }).selectOption({ index: 1 });
  await fileOf(page, "notes.txt").locator(".row.removed").waitFor();
  await panel(page).getByRole("button", { name: "Show side by side" }).click();
  const pairs = fileOf(page, "notes.txt").locator(".row.pair");
  await pairs.first().waitFor();
  assert.deepEqual(await pairs.evaluateAll((all) => all.map((row) => [...row.querySelectorAll(".src")].map((cell) => cell.textContent).join("|"))), ["one|one", "two|2", "three|three", "|four"]);
  await page.reload();
  await button(page).click();
  await fileOf(page, "notes.txt").locator(".row.pair").first().waitFor();
  await panel(page).getByRole("button", { name: "Show in one column" }).click();
  await fileOf(page, "notes.txt").locator(".row.added").first().waitFor();
  await page.context().close();
});

test("c3 a diff of 20,000 lines is opened when it is asked for, and only what is near the window is on the page", async () => {
  const lines = Array.from({ length: 20_000 }, (_, at) => `let value_${at} = compute(${at}, "text");`);
  writeFileSync(join(daemon.folder, "big.rs"), `${lines.join("\n")}\n`);
  const { page } = await talk([`run cp ${join(daemon.folder, "big.rs")} big.rs`]);
  await counted(page, "+20000");
  await page.keyboard.press("Alt+c");
  const big = fileOf(page, "big.rs");
  await big.waitFor();
  assert.equal(await big.locator(".row").count(), 0, "not before it is asked for");
  await big.getByRole("button", { name: /^big.rs/ }).click();
  await big.locator(".row").first().waitFor();
  const scroller = panel(page).locator(".changes-scroller");
  for (const part of [0.1, 0.5, 0.9, 1, 0.3]) {
    await scroller.evaluate((it, part) => (it.scrollTop = it.scrollHeight * part), part);
    await until(page, `lines at ${part}`, () => scroller.evaluate((it) => {
      const { left, top, height } = it.getBoundingClientRect();
      return [0.2, 0.5, 0.8].every((at) => document.elementFromPoint(left + 120, top + height * at)?.closest(".row"));
    }));
    const count = await big.locator(".row").count();
    assert.ok(count < 500, `${count} rows at ${part}`);
  }
  await scroller.evaluate((it) => (it.scrollTop = it.scrollHeight));
  await big.getByText("value_19999").waitFor();
  assert.ok((await big.locator(".hl-keyword").count()) > 0);
  await page.context().close();
});

test("c3 where there is nothing to show, a sentence says why", async () => {
  const { page } = await talk([]);
  await page.keyboard.press("Alt+c");
  await panel(page).getByRole("heading", { name: "No changes to show" }).waitFor();
  assert.match(await panel(page).locator(".none p").innerText(), /checkpoint/);
  await page.keyboard.press("Escape");
  await panel(page).waitFor({ state: "hidden" });
  await say(page, "say nothing to write");
  await idle(page);
  await page.keyboard.press("Alt+c");
  await panel(page).getByRole("heading", { name: "No files have changed" }).waitFor();
  assert.deepEqual(page.problems.filter((text) => !/404/.test(text)), []);
  await page.context().close();
});

test("c3 files that are left out are named, and names of files are only ever text", async () => {
  const name = "<b onclick=top.pwned=1>x.txt";
  const turned = "safe/\u202etxt.exe";
  const { page } = await talk([`run head -c 3000000 /dev/zero > huge.bin`, write({ [name]: ATTACK, "evil.html": `${ATTACK}\n`, [turned]: "x\n" })]);
  await page.keyboard.press("Alt+c");
  await panel(page).getByText("1 file not watched").click();
  await panel(page).getByText("too large: 3 MB").waitFor();
  await fileOf(page, "evil.html").locator(".row").first().waitFor();
  assert.match(await fileOf(page, "evil.html").innerText(), /<script>top.pwned=1<\/script>/);
  assert.deepEqual(await attackless(page), []);
  // Nothing shows a name in another order: neither text nor titles nor labels, also where it is asked about.
  await fileOf(page, turned).getByRole("button", { name: /^Menu of/ }).click();
  await page.getByRole("menuitem", { name: "Revert this file…" }).click();
  await page.getByRole("dialog").getByText("safe/\ufffdtxt.exe").waitFor();
  const found = await page.evaluate(() => [...document.querySelectorAll("convoke-changes *, dialog *")].filter((it) => [it.title, it.ariaLabel, it.childElementCount ? "" : it.textContent].some((text) => text?.includes("\u202e"))).map((it) => it.className));
  assert.deepEqual(found, []);
  await page.context().close();
});

test("c3 a file that is read stays open when it grows, and the list of turns stays as it is when nothing is new", async () => {
  const { page } = await talk([write({ "grows.txt": "1\n2\n3\n" })]);
  await page.keyboard.press("Alt+c");
  await fileOf(page, "grows.txt").locator(".row").first().waitFor();
  await say(page, "run seq 1 900 > grows.txt");
  await fileOf(page, "grows.txt").locator(".plus", { hasText: "+900" }).waitFor();
  await fileOf(page, "grows.txt").getByText("20", { exact: true }).and(page.locator(".src")).waitFor();
  await idle(page);
  const scope = panel(page).getByRole("combobox", { name: "Changes of" });
  await until(page, "both turns are listed", async () => (await scope.locator("option").count()) === 3);
  await scope.evaluate((it) => (window.options = [...it.options]));
  const read = page.waitForResponse(/\/changes$/);
  await panel(page).getByRole("button", { name: "Menu of the changes" }).click();
  await page.getByRole("menuitem", { name: "Read again" }).click();
  await (await read).finished();
  await until(page, "it was read", () => page.evaluate(() => !document.querySelector(".menu")));
  assert.ok(await scope.evaluate((it) => window.options.every((option, at) => option === it.options[at])));
  await page.context().close();
});

test("c3 files that were changed between the turns are named, and not among the changes", async () => {
  const { page, id } = await talk([write({ "turn.txt": "a\n" })]);
  const name = "<i onclick=top.pwned=1>mine.txt";
  writeFileSync(join(daemon.project, name), "mine\n");
  await say(page, write({ "turn.txt": "b\n" }));
  await page.keyboard.press("Alt+c");
  await panel(page).getByText("1 file changed between the turns").click();
  await panel(page).getByRole("listitem").filter({ hasText: name }).waitFor();
  await fileOf(page, "turn.txt").waitFor();
  assert.equal(await panel(page).locator(".file").count(), 1);
  // The list stays open when there is more to list.
  await idle(page);
  await captured(daemon, id);
  writeFileSync(join(daemon.project, "more.txt"), "mine\n");
  await say(page, write({ "turn.txt": "c\n" }));
  await panel(page).getByText("2 files changed between the turns").waitFor();
  await panel(page).getByRole("listitem").filter({ hasText: "more.txt" }).waitFor();
  await idle(page);
  assert.deepEqual(await attackless(page), []);
  await page.context().close();
});

test("c3 Home and the sidebar say how much a session changed", async () => {
  const { page } = await talk([write({ "counted.txt": "a\nb\nc\n" })]);
  await counted(page, "+3");
  await page.goto(daemon.origin);
  await page.locator(".session .sums", { hasText: "+3" }).first().waitFor();
  await page.locator("convoke-home .item .sums", { hasText: "1 file" }).first().waitFor();
  assert.equal(await page.locator("convoke-home .item .sums", { hasText: "+3" }).first().getAttribute("title"), "1 file, 3 lines added, 0 removed");
  await page.context().close();
});

test("c3 the keyboard reaches everything in the panel", async () => {
  const { page } = await talk([write({ "k/one.txt": "1\n2\n3\n", "k/two.txt": "4\n" })]);
  await page.keyboard.press("Alt+c");
  // Each file is read by itself, and one without lines is passed over.
  for (const path of ["k/one.txt", "k/two.txt"]) await fileOf(page, path).locator(".row").first().waitFor();
  const focus = () => page.evaluate(() => document.activeElement?.ariaLabel ?? document.activeElement?.textContent);
  await panel(page).locator(".changes-scroller").focus();
  await page.keyboard.press("j");
  assert.match(await focus(), /k\/one.txt new/);
  await page.keyboard.press("n");
  assert.equal(await focus(), "Line 1, added: 1");
  await page.keyboard.press("ArrowDown");
  assert.equal(await focus(), "Line 2, added: 2");
  await page.keyboard.press("n");
  assert.equal(await focus(), "Line 1, added: 4");
  await page.keyboard.press("p");
  assert.equal(await focus(), "Line 1, added: 1");
  await page.keyboard.press("v");
  await panel(page).getByText("1 of 2 viewed").waitFor();
  await page.keyboard.press("Escape");
  await panel(page).waitFor({ state: "hidden" });
  assert.match(await focus(), /^Changes/, "the focus goes back to the button");
  await page.context().close();
});

test("c3 w9 the panel is accessible in both themes and at all widths, and covers a narrow window", async () => {
  const found = [];
  for (const colorScheme of ["light", "dark"]) for (const width of [1440, 1024, 390]) {
    const { page } = await talk([write({ "axe.rs": `// ${colorScheme} ${width}\n${MAIN}`, "src/main.rs": MAIN.replace("Hello", `${colorScheme} ${width}`) })], { colorScheme, viewport: { width, height: 844 }, reducedMotion: "reduce" });
    await button(page).click();
    await fileOf(page, "axe.rs").locator(".row").first().waitFor();
    if (width < 940) assert.equal(await page.locator("main").evaluate((it) => it.inert), true);
    found.push(...(await findings(page, `${colorScheme} ${width}`)));
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false, `${width} does not scroll sideways`);
    await page.context().close();
  }
  assert.deepEqual(found, []);
});
