// Pictures of the page with some life in it: `node screenshots.js FOLDER` draws those of the documentation, and with
// `--all` also every view in both themes and at three widths, for review.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chat, Daemon, openBrowser, openPage, openSession, until } from "./e2e/harness.js";

const here = dirname(fileURLToPath(import.meta.url));
const agent = join(here, "e2e/agent.js");
const settings = ["claude-code", "codex"].map((name) => `
[agents.${name}]
protocol = "acp"
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(agent)}]
sandbox = "off"
`).join("");

const text = (words) => [{ type: "content", content: { type: "text", text: words } }];
const tool = (fields) => `tool ${JSON.stringify(fields)}`;
const BEFORE = `pub async fn upload(&self, part: Part) -> Result<()> {
    let url = self.url(&part);
    self.client.put(url).body(part.bytes).send().await?;
    Ok(())
}
`;
const AFTER = `pub async fn upload(&self, part: Part) -> Result<()> {
    let url = self.url(&part);
    let mut pauses = Backoff::new(FIRST_PAUSE, ATTEMPTS_MAX);
    loop {
        match self.put(&url, &part).await {
            Err(error) if error.is_transient() => pauses.wait(error).await?,
            done => return done,
        }
    }
}
`;

/** What people say in each project, and what agents then do. */
const STORIES = {
  harbour: {
    "Retry uploads that fail half-way": [
      "think The uploader sends each part once. Transient failures should be retried with growing pauses, and a limit.",
      `plan ${JSON.stringify([{ content: "Find where parts are sent", status: "completed" }, { content: "Retry what is transient, with growing pauses", status: "in_progress" }, { content: "Test it against a server that fails twice", status: "pending" }])}`,
      tool({ title: "Search for the uploader", kind: "search", rawInput: { pattern: "fn upload" }, content: text("src/upload.rs:41:pub async fn upload(&self, part: Part) -> Result<()> {") }),
      "say Parts are sent in `src/upload.rs`, once each. I will retry **transient** failures only:\\n\\n| failure | retried |\\n|---|---|\\n| connection lost, `429`, `5xx` | yes, up to 5 times |\\n| other `4xx` | no |",
      tool({ title: "Edit src/upload.rs", kind: "edit", content: [{ type: "diff", path: "src/upload.rs", oldText: BEFORE, newText: AFTER }] }),
      `use ${JSON.stringify({ used: 48_200, size: 200_000, cost: { amount: 0.42, currency: "USD" } })}`,
      "say The change is in. May I run the tests?",
      `demand ${JSON.stringify({ title: "cargo test --package harbour upload", kind: "execute", rawInput: { command: "cargo test --package harbour upload" } })}`,
    ],
    "Why is the first page slow?": ["say Because every tile asks for its own picture. One request for all of them takes **40 ms** instead of **900 ms**."],
    "Move the settings to TOML": ["say Reading the old format first…", "wait"],
  },
  lighthouse: {
    "Draft the notes for 2.4": ["say Here is a draft of the notes.\\n\\n- Uploads survive a lost connection.\\n- The map opens at once."],
    "Tidy the storybook": ["say Done: 14 stories that nobody used are gone."],
  },
};

const [folder] = process.argv.slice(2).filter((word) => !word.startsWith("--"));
mkdirSync(folder, { recursive: true });
const daemon = new Daemon({ settings });
for (const [name, story] of Object.entries(STORIES)) {
  mkdirSync(join(daemon.root, name));
  writeFileSync(join(daemon.root, name, "story.json"), JSON.stringify(story));
}
const teams = { harbour: { path: join(daemon.root, "harbour"), description: "The service that takes uploads", agent: "claude-code" }, lighthouse: { path: join(daemon.root, "lighthouse"), description: "The page people see", agent: "codex", color: "#e0a340" } };
writeFileSync(join(daemon.home, "teams.json"), JSON.stringify({ teams }), { mode: 0o600 });
await daemon.start();
const browser = await openBrowser();

async function begin(name, words, cliType) {
  // Every team's folder is a project.
  const { repos } = await daemon.api("GET", "/repos");
  const { id } = await daemon.createSession(repos.find((repo) => repo.name === name), cliType);
  await daemon.api("POST", `/sessions/${id}/prompt`, { text: words });
  return id;
}

/** The workbench in a window: the long conversation in front of two others. */
async function workbench(options) {
  const page = await openPage(browser, daemon, { reducedMotion: "reduce", ...options });
  const isNarrow = options.viewport?.width < 720;
  for (const title of ["Draft the notes", "Why is the first", "Retry uploads"]) {
    if (isNarrow) await page.getByRole("button", { name: "Show the sidebar" }).click();
    await openSession(page, title);
  }
  await chat(page).locator("convoke-permission").waitFor();
  await page.mouse.move(2, 2);
  return page;
}

try {
  for (const words of Object.keys(STORIES.lighthouse)) await begin("lighthouse", words, "codex");
  for (const words of Object.keys(STORIES.harbour).reverse()) await begin("harbour", words, "claude-code");
  const asked = await begin("lighthouse", "/ask", "demo");
  await daemon.api("PATCH", `/sessions/${asked}`, { title: "Choose how stories are named" });
  const waiting = async () => (await daemon.api("GET", "/inbox")).items.length === 2;
  const first = await openPage(browser, daemon);
  await until(first, "two things wait", waiting);

  const page = await workbench({ colorScheme: "light", viewport: { width: 1280, height: 800 } });
  await page.screenshot({ path: join(folder, "workbench.png") });
  if (process.argv.includes("--all")) {
    for (const from of ["harbour", null]) await daemon.api("POST", "/teams/lighthouse/ask", { question: "Tidy the storybook", ...(from && { fromTeam: from }), timeout: 20_000 });
    for (const colorScheme of ["light", "dark"]) for (const width of [390, 800, 1440]) {
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
  }
} finally {
  await browser.close();
  await daemon.remove();
}
