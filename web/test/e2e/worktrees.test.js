// Sessions in work trees of their own: chosen on Home, finished in a dialog, listed, removed and restored.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { captured, chat, Daemon, git, idle, openBrowser, openPage, repository, say, search, startSession, writing as write } from "./harness.js";
import { findings, findingsInBoth } from "./judges.js";

/** A program that speaks the command line of `gh`, and writes its arguments to a file. */
const GH = `#!/bin/sh
printf '%s\\n' "$@" > "$HOME/gh-said"
echo 'https://github.com/ann/app/pull/7'
`;

/** A program that speaks the command line of `ssh`, to a host with one repository. */
const SSH = `#!/bin/sh
for last; do :; done
[ "$last" = "git-receive-pack '/ann/app.git'" ] && exec git receive-pack "$HOME/origin.git"
echo "no such command: $last" >&2
exit 1
`;

let daemon;
let browser;
let made = 0;

before(async () => {
  daemon = new Daemon();
  const tools = join(daemon.folder, "tools");
  mkdirSync(tools);
  for (const [name, program] of Object.entries({ gh: GH, ssh: SSH })) writeFileSync(join(tools, name), program, { mode: 0o755 });
  // Work trees lie in the data folder of the user, of which the test has its own.
  await daemon.start({ env: { XDG_DATA_HOME: join(daemon.folder, "data"), HOME: daemon.folder, PATH: `${tools}:${process.env.PATH}` } });
  browser = await openBrowser();
});
after(async () => {
  await browser?.close();
  await daemon?.remove();
});

/** Refusals are logged by the browser, and are what some tests are about. */
const problems = (page) => page.problems.filter((text) => !/status of 409/.test(text));

/** A project that is a repository. */
async function project(files = { "notes.txt": "old\n" }) {
  const name = `trees-${(made += 1)}`;
  const folder = join(daemon.root, name);
  repository(folder, files);
  return { name, folder, repo: await daemon.addProject(folder) };
}

/** A session in a work tree, with its page after some prompts. */
async function session(prompts, { files, branch, ...options } = {}) {
  const { folder, repo, name } = await project(files);
  const { id, worktree } = await daemon.api("POST", "/sessions", { repoId: repo.id, agent: "scripted", worktree: { branch } });
  const page = await openPage(browser, daemon, { path: `/s/${id}`, viewport: { width: 1440, height: 900 }, reducedMotion: "reduce", ...options });
  await page.getByRole("textbox", { name: "Message" }).waitFor();
  for (const prompt of prompts) {
    await say(page, prompt);
    await idle(page);
  }
  if (prompts.length) await captured(daemon, id);
  return { page, id, folder, repo, name, worktree, tree: worktree.path };
}

const start = (page) => page.locator("convoke-start");
const chip = (page) => start(page).getByRole("button", { name: /^Work tree: / });
const chipIs = (page, text) => start(page).getByRole("button", { name: `Work tree: ${text}`, exact: true }).waitFor();
const dialog = (page, name = "Finish the work tree") => page.getByRole("dialog", { name });

async function chooseTree(page, item) {
  await chip(page).click();
  await start(page).getByRole("menuitem", { name: item }).click();
}

/** Opens the dialog and chooses how the work tree ends. */
async function choose(page, how) {
  await page.getByRole("button", { name: "Finish…" }).click();
  await dialog(page).getByRole("radio", { name: new RegExp(`^${how}`) }).check();
}

test("c6 a new session is given a work tree by a chip, which is remembered for the project, with a branch of its own", async () => {
  const { name, folder } = await project();
  const page = await openPage(browser, daemon);
  await start(page).getByRole("button", { name: "Project: " }).click();
  await start(page).getByRole("menuitem", { name, exact: true }).click();
  await chipIs(page, "off");
  await chooseTree(page, "with a named branch");
  const ask = dialog(page, "Branch of the work tree");
  await ask.getByRole("textbox", { name: "Branch" }).fill("fix-notes/work");
  assert.deepEqual(await findingsInBoth(page, "branch"), []);
  await page.keyboard.press("Enter");
  await chipIs(page, "fix-notes/work");
  const conversation = await startSession(page, write({ "notes.txt": "new\n" }), { agent: "Scripted <b>Agent</b>" });
  await conversation.locator(".branch", { hasText: "fix-notes" }).waitFor();
  await idle(conversation);
  await conversation.locator(".changes-button .plus").waitFor();
  assert.equal(readFileSync(join(folder, "notes.txt"), "utf8"), "old\n", "the project's folder is as it was");
  assert.match(git(folder, "worktree", "list"), /fix-notes/);
  // The choice stays, the branch is used up.
  await page.keyboard.press("Alt+0");
  await chipIs(page, "on");
  await page.reload();
  await chipIs(page, "on");
  await chooseTree(page, "Off");
  await chipIs(page, "off");
  assert.deepEqual(problems(page), []);
  await page.context().close();
});

test("c6 where there can be no work tree, the composer says why and what to do", async () => {
  const repo = await daemon.addProject();
  const page = await openPage(browser, daemon);
  await page.evaluate((id) => localStorage.setItem("convoke.project", id), repo.id);
  await page.reload();
  await chooseTree(page, "with a new branch");
  const box = start(page).getByRole("textbox", { name: "What should be done?" });
  await box.fill("say hello");
  await box.press("Enter");
  const said = start(page).getByRole("alert");
  await said.locator("code", { hasText: "git init" }).waitFor();
  assert.equal(await box.inputValue(), "say hello", "the prompt is not lost");
  assert.deepEqual(await findingsInBoth(page, "no repository"), []);
  await page.context().close();
});

test("c6 the composer says that another session works in the same folder, and offers a work tree", async () => {
  const { name, repo } = await project();
  const { id } = await daemon.createSession(repo, "scripted");
  const page = await openPage(browser, daemon);
  await start(page).getByRole("button", { name: "Project: " }).click();
  await start(page).getByRole("menuitem", { name, exact: true }).click();
  const note = start(page).locator(".start-note[role=status]");
  assert.equal(await note.isVisible(), false, "it rests");
  await daemon.api("POST", `/sessions/${id}/prompt`, { text: "wait" });
  await note.getByText("is working in this folder").waitFor();
  assert.deepEqual(await findingsInBoth(page, "shared folder"), []);
  await note.getByRole("button", { name: "Use a work tree" }).click();
  await chipIs(page, "on");
  await note.waitFor({ state: "hidden" });
  // Without one, the conversation says it, too.
  await chooseTree(page, "Off");
  const conversation = await startSession(page, "say hello", { agent: "Scripted <b>Agent</b>" });
  await conversation.locator(".notice", { hasText: "Another session was working in the same folder" }).getByRole("button", { name: "Open it" }).click();
  await page.getByRole("tab", { selected: true, name: /wait/ }).waitFor();
  await daemon.api("POST", `/sessions/${id}/cancel`, {});
  assert.deepEqual(problems(page), []);
  await page.context().close();
});

test("c7 a conflict is listed and handed to the agent, which resolves it; then the work tree is merged, removed and restored", async () => {
  const story = { "The branch fix-notes/work cannot be combined…": ["run git merge main; echo both > notes.txt; git commit -qam resolved", "say Resolved."] };
  const { page, folder, tree } = await session([write({ "notes.txt": "theirs\n" })], { branch: "fix-notes/work", files: { "notes.txt": "old\n", "story.json": JSON.stringify(story) } });
  writeFileSync(join(folder, "notes.txt"), "ours\n");
  git(folder, "commit", "-qam", "ours");
  await page.locator(".branch", { hasText: "fix-notes" }).waitFor();
  await page.keyboard.press("Alt+m");
  await dialog(page).getByRole("radio", { name: /^Merge/ }).check();
  await dialog(page).getByRole("textbox", { name: "Commit message" }).fill("Better notes");
  await dialog(page).getByRole("button", { name: "Merge", exact: true }).click();
  const trouble = dialog(page).getByRole("alert");
  await trouble.getByText("1 file in conflict. Nothing was done.").waitFor();
  assert.equal((await trouble.getByRole("listitem").innerText()).replace(/\s+/g, " "), "notes.txt changed in both");
  assert.equal(readFileSync(join(tree, "notes.txt"), "utf8"), "theirs\n");
  await trouble.getByRole("button", { name: "Let the agent resolve them" }).click();
  await dialog(page).waitFor({ state: "detached" });
  await page.locator(".toast", { hasText: "asked to resolve the conflicts" }).waitFor();
  await page.locator(".assistant", { hasText: "Resolved." }).waitFor();
  await idle(page);

  await choose(page, "Merge");
  await dialog(page).getByRole("button", { name: "Merge", exact: true }).click();
  await page.locator(".toast", { hasText: "Merged into main. The work tree is removed." }).waitFor();
  assert.equal(readFileSync(join(folder, "notes.txt"), "utf8"), "both\n");
  assert.match(git(folder, "log", "--format=%s", "main"), /Better notes/);
  assert.equal(existsSync(tree), false);
  await page.locator(".branch.gone").waitFor();
  assert.equal(await page.getByRole("button", { name: "Finish…" }).count(), 0);
  assert.deepEqual(await findingsInBoth(page, "removed"), []);

  await page.getByRole("button", { name: "Restore work tree" }).click();
  await page.locator(".toast", { hasText: "The work tree is restored" }).waitFor();
  await page.getByRole("button", { name: "Finish…" }).waitFor();
  assert.equal(existsSync(join(tree, "notes.txt")), true);
  await page.locator(".ended").getByRole("button", { name: "Resume" }).click();
  await say(page, "say back");
  await idle(page);
  assert.deepEqual(problems(page), []);
  await page.context().close();
});

test("c7 refusals name the files and the way out: uncommitted changes of the base, and an agent that works", async () => {
  const { page, folder, tree } = await session([write({ "notes.txt": "theirs\n" })]);
  writeFileSync(join(folder, "notes.txt"), "mine\n");
  await choose(page, "Squash");
  await dialog(page).getByRole("button", { name: "Squash", exact: true }).click();
  const trouble = dialog(page).getByRole("alert");
  await trouble.getByText("main has uncommitted changes. Nothing was done.").waitFor();
  assert.equal(await trouble.getByRole("listitem").innerText(), "notes.txt");
  assert.deepEqual(await findingsInBoth(page, "dirty base"), []);
  // Another choice is another question.
  await dialog(page).getByRole("radio", { name: /^Keep the branch/ }).check();
  assert.equal(await trouble.innerText(), "");
  await page.keyboard.press("Escape");
  await dialog(page).waitFor({ state: "detached" });
  await say(page, "wait");
  await choose(page, "Rebase");
  await dialog(page).getByRole("button", { name: "Rebase", exact: true }).click();
  await trouble.getByText("The agent is working; cancel the turn first").waitFor();
  assert.equal(existsSync(tree), true);
  assert.equal(readFileSync(join(folder, "notes.txt"), "utf8"), "mine\n");
  await page.context().close();
});

test("c7 files that no snapshot has are named, and deleted only after a yes; what is discarded can be restored", async () => {
  const { page, folder, tree } = await session([write({ "notes.txt": "theirs\n" }), "run head -c 3000000 /dev/zero > big.bin"]);
  await choose(page, "Discard");
  assert.equal(await dialog(page).getByRole("textbox").count(), 0, "nothing is committed");
  await dialog(page).getByRole("button", { name: "Discard", exact: true }).click();
  const trouble = dialog(page).getByRole("alert");
  await trouble.getByText("1 file would be lost. Nothing was done.").waitFor();
  assert.equal(await trouble.getByRole("listitem").innerText(), "big.bin");
  assert.equal(existsSync(join(tree, "big.bin")), true);
  assert.deepEqual(await findingsInBoth(page, "lost files"), []);
  await trouble.getByRole("button", { name: "Delete them and go on" }).click();
  const toast = page.locator(".toast", { hasText: "The work tree is discarded." });
  await toast.waitFor();
  assert.equal(git(folder, "branch", "--format=%(refname:short)"), "main");
  await toast.getByRole("button", { name: "Restore" }).click();
  await page.locator(".toast", { hasText: "The work tree is restored" }).waitFor();
  assert.equal(readFileSync(join(tree, "notes.txt"), "utf8"), "theirs\n");
  assert.equal(existsSync(join(tree, "big.bin")), false);
  await page.context().close();
});

test("c7 a folder that was deleted by hand is restored where it is missed", async () => {
  const { page, folder, tree } = await session([write({ "notes.txt": "theirs\n" })]);
  rmSync(tree, { recursive: true });
  await choose(page, "Merge");
  await dialog(page).getByRole("button", { name: "Merge", exact: true }).click();
  await dialog(page).getByRole("button", { name: "Restore work tree" }).click();
  await page.locator(".toast", { hasText: "The work tree is restored" }).waitFor();
  await dialog(page).getByRole("button", { name: "Merge", exact: true }).click();
  await page.locator(".toast", { hasText: "Merged into main." }).waitFor();
  assert.equal(readFileSync(join(folder, "notes.txt"), "utf8"), "theirs\n");
  await page.context().close();
});

test("c7 a pull request is opened with gh after a remote is there, and the work tree stays for what reviewers say", async () => {
  const { page, folder, tree } = await session([write({ "notes.txt": "theirs\n" })], { branch: "pull/me" });
  await choose(page, "Pull request");
  await dialog(page).getByRole("textbox", { name: "Title and description" }).fill("Better notes\n\nThey were old.");
  const open = dialog(page).getByRole("button", { name: "Open a pull request" });
  await open.click();
  await dialog(page).getByRole("alert").getByText("git remote add origin").waitFor();
  assert.deepEqual(await findingsInBoth(page, "no remote"), []);
  const origin = join(daemon.folder, "origin.git");
  git(daemon.folder, "init", "-q", "--bare", origin);
  git(folder, "remote", "add", "origin", "ssh://git@github.test/ann/app.git");
  await open.click();
  const made = dialog(page, "The pull request is open");
  const link = made.getByRole("link");
  await link.waitFor();
  assert.equal(await link.getAttribute("href"), "https://github.com/ann/app/pull/7");
  assert.deepEqual(await findingsInBoth(page, "pull request"), []);
  assert.equal(readFileSync(join(daemon.folder, "gh-said"), "utf8"), "pr\ncreate\n--head\npull/me\n--base\nmain\n--title\nBetter notes\n--body\nThey were old.\n");
  assert.equal(git(origin, "show", "pull/me:notes.txt"), "theirs");
  await made.getByRole("button", { name: "Close" }).last().click();
  await page.getByRole("button", { name: "Finish…" }).waitFor();
  assert.equal(existsSync(tree), true);
  await say(page, "say back");
  await idle(page);
  assert.deepEqual(problems(page), []);
  await page.context().close();
});

test("c7 work trees are listed with their state, removed and restored, and found by the palette", async () => {
  const { page, id, folder, tree } = await session([write({ "notes.txt": "theirs\n" })], { branch: "listed/here" });
  await page.goto(daemon.origin);
  await search(page, "work trees");
  await page.getByRole("option", { name: "Work trees" }).click();
  const place = page.locator("convoke-worktrees");
  const row = place.getByRole("listitem").filter({ hasText: "listed/here" });
  await row.getByText("In use").waitFor();
  assert.deepEqual(await findingsInBoth(page, "work trees"), []);
  await row.getByRole("button", { name: /^Remove/ }).click();
  await dialog(page, "Remove the folder?").waitFor();
  assert.deepEqual(await findingsInBoth(page, "remove"), []);
  await dialog(page, "Remove the folder?").getByRole("button", { name: "Remove", exact: true }).click();
  await row.getByText("Folder removed").waitFor();
  assert.equal(existsSync(tree), false);
  assert.match(git(folder, "branch"), /listed\/here/);
  await row.getByRole("button", { name: /^Restore/ }).click();
  await row.getByText("In use").waitFor();
  await place.getByRole("searchbox").fill("no such branch");
  await place.getByText("No work tree matches.").waitFor();
  await place.getByRole("searchbox").fill("listed/here");
  await row.getByRole("button", { name: /^Finish/ }).click();
  await dialog(page).getByRole("radio", { name: /^Keep the branch/ }).check();
  await dialog(page).getByRole("button", { name: "Keep the branch", exact: true }).click();
  await row.getByText("Branch kept").waitFor();
  assert.equal((await daemon.api("GET", `/sessions/${id}`)).worktree.removed.how, "keep");
  // The palette finishes the work tree of the session that is open.
  await row.getByRole("button", { name: /^Restore/ }).click();
  await row.getByText("In use").waitFor();
  await row.locator(".name").click();
  await chat(page).getByRole("button", { name: "Finish…" }).waitFor();
  await search(page, "finish the work tree");
  await page.keyboard.press("Enter");
  await dialog(chat(page)).waitFor();
  assert.deepEqual(problems(page), []);
  await page.context().close();
});

test("c7 w9 the dialog is accessible in both themes and at all widths, and is used with the keyboard alone", async () => {
  const found = [];
  for (const colorScheme of ["light", "dark"]) for (const width of [1440, 1024, 390]) {
    const { page, folder } = await session([write({ "notes.txt": "theirs\n" })], { colorScheme, viewport: { width, height: 844 } });
    writeFileSync(join(folder, "notes.txt"), "ours\n");
    git(folder, "commit", "-qam", "ours");
    if (width === 390) {
      await page.getByRole("button", { name: "Session menu" }).click();
      await page.getByRole("menuitem", { name: "Finish the work tree…" }).click();
    } else await page.keyboard.press("Alt+m");
    await dialog(page).getByRole("radio", { checked: true }).and(page.locator(":focus")).waitFor();
    found.push(...(await findings(page, `dialog ${colorScheme} ${width}`)));
    while ((await dialog(page).getByRole("radio", { checked: true }).getAttribute("value")) !== "merge") await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    await dialog(page).getByText("in conflict").waitFor();
    found.push(...(await findings(page, `conflict ${colorScheme} ${width}`)));
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, `${width} px are enough`);
    await page.keyboard.press("Escape");
    await dialog(page).waitFor({ state: "detached" });
    await page.context().close();
  }
  assert.deepEqual(found, []);
});
