// Pictures of the page with some life in it: `node screenshots.js FOLDER` draws those of the documentation, and with
// `--all` also every view in both themes and at three widths, for review.

import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { changedFile, chat, Daemon, openBrowser, openPage, openSession, until } from "./e2e/harness.js";
import { ASKING, PROJECTS, REVIEWED } from "./stories.js";

const here = dirname(fileURLToPath(import.meta.url));
const agent = join(here, "e2e/agent.js");
const settings = ["claude-code", "codex", "gemini"].map((name) => `
[agents.${name}]
protocol = "acp"
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(agent)}]
sandbox = "off"
`).join("");
/** Which agent has which session; the others are Claude Code's. */
const AGENTS = { [ASKING]: "codex", "Upgrade to React 20": "codex", "Lazy-load the pictures of the gallery": "gemini", "Rotate the certificates of staging": "codex" };
const WIDE = { width: 1440, height: 900 };
/** How long ago everything happened, by the page's clock. */
const LATER_MS = 7 * 60_000;

const [folder] = process.argv.slice(2).filter((word) => !word.startsWith("--"));
mkdirSync(folder, { recursive: true });
const daemon = new Daemon({ settings });
for (const [name, { files, story }] of Object.entries(PROJECTS)) {
  for (const [path, text] of Object.entries({ ...files, "story.json": JSON.stringify(story), ".gitignore": "story.json\n" })) {
    mkdirSync(join(daemon.root, name, dirname(path)), { recursive: true });
    writeFileSync(join(daemon.root, name, path), text);
  }
}
const teams = { payments: { path: join(daemon.root, "payments"), description: "Takes the money of customers", agent: "claude-code" }, storefront: { path: join(daemon.root, "storefront"), description: "The shop that people see", agent: "codex", color: "#e0a340" } };
writeFileSync(join(daemon.home, "teams.json"), JSON.stringify({ teams }), { mode: 0o600 });
await daemon.start();
const browser = await openBrowser();

/** A conversation of some hours ago. */
async function remember(repo, [title, answer, hours]) {
  const at = (minutes) => new Date(Date.now() - hours * 3_600_000 + minutes * 60_000).toISOString();
  const turns = [["user", title, 0], ["assistant", answer, 2]].map(([role, content, minutes]) => ({ role, content, timestamp: at(minutes), tokens: 0 }));
  const { session } = await daemon.api("POST", "/imports", { repoId: repo.id, transcript: randomUUID(), agent: "claude-code", createdAt: at(0), turns });
  await daemon.api("POST", `/sessions/${session.id}/seen`);
}

async function session(title) {
  return (await daemon.api("GET", "/sessions?limit=50")).sessions.find((one) => one.title === title);
}

async function begin(repo, title) {
  const { id } = await daemon.createSession(repo, AGENTS[title] ?? "claude-code");
  await daemon.api("POST", `/sessions/${id}/prompt`, { text: title });
  await daemon.api("PATCH", `/sessions/${id}`, { title });
  return id;
}

/** Every project with its sessions: some ended, one asks, two work, one failed. */
async function fill(page) {
  for (const [name, { story, earlier }] of Object.entries(PROJECTS).reverse()) {
    // Every team's folder is a project already.
    const repos = (await daemon.api("GET", "/repos")).repos;
    const repo = repos.find((one) => one.name === name) ?? (await daemon.addProject(join(daemon.root, name)));
    for (const one of earlier) await remember(repo, one);
    for (const title of Object.keys(story).reverse()) await begin(repo, title);
  }
  await until(page, "the reviewed session has changes", async () => (await session(REVIEWED.title))?.changes?.files === 4);
  await until(page, "each session is where it should be", async () => {
    const home = await daemon.api("GET", "/home");
    return home.needsYou.length === 1 && home.working.length === 2 && home.failed.length === 1 && home.finished.length === 3;
  });
  // Of those that finished, one has been looked at.
  await daemon.api("POST", `/sessions/${(await session("Rotate the certificates of staging")).id}/seen`);
}

/** Home: the box for the first prompt, and what needs a look. */
async function home(page) {
  await page.locator("#home convoke-permission").waitFor();
  await page.keyboard.press("Alt+n");
  await page.locator('#home [data-group="failed"] article').first().waitFor();
  await page.mouse.move(2, 2);
}

/** What a session changed, beside its conversation, with a comment that is being written on one line. */
async function changes(page) {
  const conversation = await openSession(page, REVIEWED.title);
  await conversation.locator(".changes-button").click();
  const file = changedFile(conversation, REVIEWED.path);
  await file.locator(".row").first().waitFor();
  await file.locator(`.no[data-side="new"][data-n="${REVIEWED.line}"]`).click();
  await conversation.getByRole("textbox", { name: /^Comment on/ }).fill(REVIEWED.comment);
  await conversation.getByRole("button", { name: "Add comment" }).click();
  await conversation.locator(".comment-text").waitFor();
  await page.mouse.move(2, 2);
}

/** The workbench in a window: the conversation that asks, in front of two others. */
async function workbench(options) {
  const page = await openPage(browser, daemon, { reducedMotion: "reduce", ...options });
  const isNarrow = options.viewport?.width < 720;
  for (const title of ["Lazy-load the pictures", REVIEWED.title, ASKING]) {
    if (isNarrow) await page.getByRole("button", { name: "Show the sidebar" }).click();
    await openSession(page, title);
  }
  await chat(page).locator("convoke-permission").waitFor();
  await page.mouse.move(2, 2);
  return page;
}

/** Every view of the page in one theme and at one width. */
async function everyView(colorScheme, width) {
  const [isNarrow, viewport] = [width === 390, { width, height: width === 390 ? 844 : 900 }];
  const view = await workbench({ colorScheme, viewport });
  const shot = (name) => view.screenshot({ path: join(folder, `${name}-${colorScheme}-${width}.png`) });
  await shot("chat");
  await chat(view).locator(".scroller").evaluate((it) => (it.scrollTop = 0));
  await shot("chat-top");
  if (isNarrow) {
    // On a phone Home is the inbox.
    await view.getByRole("button", { name: "Show the sidebar" }).click();
    await shot("sidebar");
    await view.locator("#cover").click({ position: { x: 200, y: 60 } });
  } else {
    await view.keyboard.press("Alt+i");
    await view.locator("convoke-inbox convoke-question").waitFor();
    await shot("inbox");
    await view.keyboard.press("Alt+i");
  }
  await view.keyboard.press("Alt+n");
  await view.locator("#home convoke-question").waitFor();
  await shot("home");
  await view.keyboard.press("Control+k");
  await view.getByRole("combobox", { name: "Search" }).fill("page");
  await view.locator("mark").first().waitFor();
  await shot("palette");
  await view.keyboard.press("Escape");
  if (isNarrow) await view.getByRole("button", { name: "Show the sidebar" }).click();
  await view.getByRole("button", { name: "Settings", exact: true }).click();
  await view.locator(".setting").first().waitFor();
  await shot("settings");
  await view.goto(`${daemon.origin}/teams`);
  await view.locator(".card").first().waitFor();
  await view.screenshot({ path: join(folder, `teams-${colorScheme}-${width}.png`), fullPage: true });
  const stranger = await browser.newPage({ colorScheme, viewport });
  await stranger.goto(daemon.origin);
  await stranger.getByRole("heading", { name: "This browser is not signed in" }).waitFor();
  await stranger.screenshot({ path: join(folder, `denied-${colorScheme}-${width}.png`) });
  await stranger.close();
  await view.context().close();
}

try {
  const page = await openPage(browser, daemon, { colorScheme: "light", reducedMotion: "reduce", viewport: WIDE });
  await fill(page);
  await page.clock.setFixedTime(Date.now() + LATER_MS);
  await page.reload();
  await page.setViewportSize({ ...WIDE, height: 1064 });
  await home(page);
  await page.screenshot({ path: join(folder, "home.png") });
  await page.setViewportSize(WIDE);
  await changes(page);
  await page.screenshot({ path: join(folder, "changes.png") });
  if (process.argv.includes("--all")) {
    const { repos } = await daemon.api("GET", "/repos");
    const { id } = await daemon.createSession(repos[0], "demo");
    await daemon.api("POST", `/sessions/${id}/prompt`, { text: "/ask" });
    await until(page, "a question is asked", async () => (await daemon.api("GET", "/inbox")).items.length === 2);
    for (const from of ["payments", null]) await daemon.api("POST", "/teams/storefront/ask", { question: "Lazy-load the pictures of the gallery", ...(from && { fromTeam: from }), timeout: 20_000 });
    for (const colorScheme of ["light", "dark"]) for (const width of [390, 800, 1440]) await everyView(colorScheme, width);
  }
} finally {
  await browser.close();
  await daemon.remove();
}
