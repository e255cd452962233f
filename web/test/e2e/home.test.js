// Home: the first prompt, what needs a look, and how that shows in every window.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { anotherWindow, chat, Daemon, idle, openPage, openSession, startSession, until } from "./harness.js";
import { daemonPerTest } from "./stage.js";

let browser;
let daemon;
daemonPerTest((opened) => (browser = opened));

const AGENT = "Scripted <b>Agent</b>";
const group = (page, name) => page.locator(`#home [data-group="${name}"]`);
const item = (page, name, title) => group(page, name).locator("article").filter({ hasText: title });
const mark = (page, title) => page.locator(".session", { hasText: title }).locator(".dot").getAttribute("data-mark");

/** A daemon with a session for each of these prompts, by title; the page is at Home. */
async function home(prompts, options) {
  daemon = await new Daemon().start();
  const repo = await daemon.addProject();
  for (const [title, text] of Object.entries(prompts)) {
    const { id } = await daemon.createSession(repo, "scripted");
    await daemon.api("PATCH", `/sessions/${id}`, { title });
    await daemon.api("POST", `/sessions/${id}/prompt`, { text });
  }
  return openPage(browser, daemon, options);
}

test("p3 a prompt on Home starts a session in one step, with project and agent as chosen last time", async () => {
  const page = await home({});
  await daemon.addProject(join(daemon.root, "beta"));
  const start = page.locator("convoke-start");
  const box = start.getByRole("textbox", { name: "What should be done?" });
  await start.getByRole("button", { name: "Project: alpha" }).waitFor();
  const conversation = await startSession(page, "say the first answer", { agent: AGENT, project: "beta" });
  await conversation.getByText("the first answer", { exact: true }).waitFor();
  assert.equal((await daemon.api("GET", "/sessions")).sessions[0].agent, "scripted");

  // Remembered, also after a reload, and with what was written.
  await page.keyboard.press("Alt+0");
  await box.fill("half a thought");
  await page.reload();
  await start.getByRole("button", { name: "Project: beta" }).waitFor();
  await start.getByRole("button", { name: `Agent: ${AGENT}` }).waitFor();
  assert.equal(await box.inputValue(), "half a thought");

  // Another one, with the keyboard alone; a line break does not send.
  await page.keyboard.press("Alt+n");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("say two");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type("lines");
  await page.keyboard.press("Enter");
  await until(page, "a second session", async () => (await daemon.api("GET", "/sessions")).total === 2);
  await chat(page).locator(".user").getByText("lines").waitFor();
  await page.keyboard.press("Alt+0");
  assert.equal(await box.inputValue(), "");
  assert.deepEqual(page.problems, []);
});

test("p3 at the limit of active sessions the one that was idle longest is completed, and the new one starts", async () => {
  daemon = await new Daemon({ maxActive: 2 }).start();
  const page = await openPage(browser, daemon);
  const repo = await daemon.addProject();
  const [oldest] = [await daemon.createSession(repo, "scripted"), await daemon.createSession(repo, "scripted")];
  await daemon.api("PATCH", `/sessions/${oldest.id}`, { title: "long ago" });
  await page.locator(".session a", { hasText: "long ago" }).waitFor();
  const box = page.getByRole("textbox", { name: "What should be done?" });
  await box.fill("say there is room");
  await box.press("Enter");
  await page.getByText("It is idle, and resumes with its next prompt.").waitFor();
  await page.getByRole("button", { name: "Complete “long ago” and start" }).click();
  await chat(page).locator(".assistant", { hasText: "there is room" }).waitFor();
  const completed = (await daemon.api("GET", "/sessions?status=completed")).sessions;
  assert.deepEqual(completed.map(({ id }) => id), [oldest.id]);
  assert.deepEqual(page.problems, []);
});

test("p3 a prompt is kept when its project goes away, and is there when it is back", async () => {
  const page = await home({});
  await page.locator("convoke-start").getByRole("button", { name: "Project: alpha" }).waitFor();
  // The project goes away while the prompt is written.
  const [{ id }] = (await daemon.api("GET", "/repos")).repos;
  const box = page.getByRole("textbox", { name: "What should be done?" });
  await box.fill("say anything");
  await daemon.api("DELETE", `/repos/${id}`);
  await page.getByRole("heading", { name: "Welcome to Convoke" }).waitFor();
  await daemon.addProject();
  await until(page, "the prompt is back", async () => (await box.isVisible()) && (await box.inputValue()) === "say anything");
  assert.deepEqual(page.problems, []);
});

test("p3 p10 Home shows what needs you, works, has finished and has failed, and each is dealt with in place", async () => {
  const page = await home({
    "Asks for something": "permit Write a file",
    "Works on it": "plan Read the code && wait",
    "Is done": "say One line.\\n\\nThe last line of it.",
    "Broke down": "die mended",
  });
  await item(page, "needsYou", "Asks for something").locator("convoke-permission").waitFor();
  await item(page, "working", "Works on it").getByText("Read the code").waitFor();
  await item(page, "finished", "Is done").getByText("The last line of it.").waitFor();
  const broken = item(page, "failed", "Broke down");
  await broken.getByText("The agent's process ended: exit code 3", { exact: true }).waitFor();
  await broken.getByText("it broke for a reason", { exact: true }).waitFor();
  assert.equal(await page.locator("#home article").filter({ hasText: "Is done" }).count(), 1, "a session is in one group");

  // Answered in place: it goes on, and finishes.
  await item(page, "needsYou", "Asks for something").locator("[data-choice]").first().click();
  await group(page, "needsYou").waitFor({ state: "hidden" });
  await item(page, "finished", "Asks for something").getByText("Outcome: yes").waitFor();

  // Retried: the last prompt again, which works now.
  writeFileSync(join(daemon.project, "mended"), "");
  await broken.getByRole("button", { name: "Retry" }).click();
  await item(page, "finished", "Broke down").getByText("It works now.").waitFor();
  await group(page, "failed").waitFor({ state: "hidden" });

  // Seen without opening it.
  await page.getByRole("button", { name: "Mark Is done as seen" }).click();
  await item(page, "recent", "Is done").waitFor();
  await item(page, "finished", "Broke down").getByRole("link").click();
  await chat(page).getByText("It works now.").waitFor();
  assert.deepEqual(page.problems, []);
});

test("p10 the inbox beside a conversation is the same list, and what was settled elsewhere leaves both", async () => {
  const page = await home({ "First asks": "permit One", "Second asks": "permit Two" });
  await until(page, "both are there", async () => (await group(page, "needsYou").locator("article").count()) === 2);
  const conversation = await openSession(page, "First asks");
  await page.keyboard.press("Alt+i");
  const panel = page.getByRole("complementary", { name: "Inbox" });
  await until(page, "the panel has both", async () => (await panel.locator("[data-group=needsYou] article").count()) === 2);
  const { items } = await daemon.api("GET", "/inbox");
  await daemon.api("POST", `/inbox/${items[1].id}/answer`, { optionId: "no" });
  await until(page, "one is left", async () => (await panel.locator("[data-group=needsYou] article").count()) === 1);
  await conversation.locator("convoke-permission").locator("[data-choice]").first().click();
  await panel.locator("[data-group=needsYou]").waitFor({ state: "hidden" });
  await page.keyboard.press("Alt+0");
  await item(page, "finished", "Second asks").waitFor();
  assert.equal(await panel.isVisible(), false, "Home has it all");
  assert.deepEqual(page.problems, []);
});

test("p3 a daemon that dies while Home is open and comes back is found again, with what happened meanwhile", async () => {
  const page = await home({ "Works on it": "wait", "Is done": "say Done." });
  await item(page, "working", "Works on it").waitFor();
  const { host } = new URL(daemon.origin);
  await daemon.kill();
  await page.getByText("Not connected to Convoke.").waitFor();
  const box = page.getByRole("textbox", { name: "What should be done?" });
  await box.fill("say written meanwhile");
  assert.equal(await page.getByRole("button", { name: "Start the session (Enter)" }).isEnabled(), false);
  await box.press("Enter");
  assert.equal(await box.inputValue(), "say written meanwhile");

  await daemon.start({ listen: host });
  await page.getByText("Not connected to Convoke.").waitFor({ state: "hidden" });
  await item(page, "failed", "Works on it").getByText("Convoke was restarted while the agent worked").waitFor();
  await item(page, "finished", "Is done").waitFor();
  const start = page.getByRole("button", { name: "Start the session (Enter)" });
  await start.and(page.locator(":enabled")).waitFor();
  await start.click();
  await chat(page).locator(".assistant, .user").first().waitFor();
  await until(page, "it was started once", async () => (await daemon.api("GET", "/sessions")).total === 3);
  assert.deepEqual(page.problems, []);
});

test("p4 what was not seen shows in sidebar, tabs, title and icon, and seeing it in one window is seeing it in all", async () => {
  const page = await home({ "Is done": "say Done.", "Broke down": "die mended", "Asks for something": "permit One", "Works on it": "wait" });
  const other = await anotherWindow(page, daemon);
  for (const window of [page, other]) {
    await until(window, "all marks are there", async () =>
      (await Promise.all(["Is done", "Broke down", "Asks for something", "Works on it"].map((title) => mark(window, title)))).join() === "finished,failed,needs_you,working");
    await until(window, "the title counts", async () => (await window.title()) === "(1) ✕1 ●1 Convoke");
  }
  const icon = (window) => window.locator("link[rel=icon]").getAttribute("href");
  const shapes = [await icon(page)];
  assert.match(shapes[0], /^data:image\/svg/);
  assert.equal(await page.locator(".session", { hasText: "Is done" }).getByRole("img").getAttribute("aria-label"), "finished, not seen yet");

  await page.getByRole("button", { name: "Mark Is done as seen" }).click();
  for (const window of [page, other]) {
    await until(window, "it is seen", async () => (await mark(window, "Is done")) === "idle");
    await until(window, "the title has it", async () => (await window.title()) === "(1) ✕1 Convoke");
  }
  await item(page, "needsYou", "Asks").locator("[data-choice]").first().click();
  await until(other, "what failed is the gravest", async () => (await icon(other)) !== shapes[0]);
  shapes.push(await icon(other));
  await page.getByRole("button", { name: "Mark Broke down as seen" }).click();
  await until(other, "what has finished is left", async () => !shapes.includes(await icon(other)));
  shapes.push(await icon(other));
  await page.getByRole("button", { name: "Mark Asks for something as seen" }).click();
  for (const window of [page, other]) await until(window, "nothing is left", async () => (await icon(window)) === "/assets/icon.svg" && (await window.title()) === "Convoke");
  assert.equal(new Set(shapes).size, 3);
  assert.deepEqual([page.problems, other.problems], [[], []]);
});

test("p4 a turn that ends behind another tab marks its tab, and looking at it takes the mark away", async () => {
  const page = await home({ "Other": "say hello" });
  await startSession(page, "gate", { agent: AGENT });
  await chat(page).getByText("The first half,").waitFor();
  await openSession(page, "Other");
  const tab = page.getByRole("tab", { name: "gate" });
  assert.equal(await tab.locator(".dot").getAttribute("data-mark"), "working");
  writeFileSync(join(daemon.project, "gate"), "");
  await until(page, "the tab is marked", async () => (await tab.locator(".dot").getAttribute("data-mark")) === "finished");
  await tab.click();
  await until(page, "it was seen", async () => (await tab.locator(".dot").getAttribute("data-mark")) === "idle");
  await idle(chat(page));
  assert.deepEqual(page.problems, []);
});

test("p4 marks differ in shape, not in colour alone", async () => {
  const page = await home({});
  const shapes = await page.evaluate(() => ["needs_you", "failed", "working", "finished", "ended", "idle"].map((mark) => {
    const dot = document.body.appendChild(Object.assign(document.createElement("span"), { className: "dot" }));
    dot.dataset.mark = mark;
    const { borderRadius, rotate, clipPath, scale, borderTopWidth, borderTopStyle, backgroundColor, animationName } = getComputedStyle(dot);
    const isFilled = backgroundColor !== "rgba(0, 0, 0, 0)";
    dot.remove();
    return JSON.stringify([borderRadius, rotate, clipPath.slice(0, 7), scale, borderTopWidth, borderTopStyle, isFilled, animationName]);
  }));
  assert.equal(new Set(shapes).size, 6);
});

for (const width of [360, 390, 430]) {
  test(`p11 a phone of ${width} pixels starts at Home, with the count in sight and targets for fingers`, async () => {
    const page = await home({ "Asks for something": "permit Write a file", "Broke down": "die mended", "Is done": "say Done." }, { viewport: { width, height: 740 }, hasTouch: true, isMobile: true, reducedMotion: "reduce" });
    await item(page, "needsYou", "Asks for something").locator("convoke-permission").waitFor();
    await item(page, "failed", "Broke down").waitFor();
    const badge = page.locator("#bar-inbox .count");
    await badge.getByText("1").waitFor();

    const small = () => page.evaluate(() => {
      const all = [...document.querySelectorAll("button, a[href], input, select, textarea, [role=tab]")].filter((it) => it.checkVisibility() && !it.closest("[inert], .request"));
      return all.flatMap((it) => {
        const { width, height } = it.getBoundingClientRect();
        // A link in the row of a list is as large as the row.
        const box = it.matches(".item .name") ? it.closest(".item").getBoundingClientRect() : { width, height };
        return Math.round(box.height) < 44 || Math.round(box.width) < 44 ? [`${it.tagName} ${it.className} ${it.ariaLabel ?? it.textContent}: ${Math.round(width)}x${Math.round(height)}`] : [];
      });
    });
    const overflows = () => page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    assert.deepEqual(await small(), []);
    assert.equal(await overflows(), false);

    // The sidebar is a sheet; what it covers cannot be reached, and a tap beside it closes it.
    await page.getByRole("button", { name: "Show the sidebar" }).click();
    const sheet = await page.locator("#side").boundingBox();
    assert.deepEqual([sheet.x, sheet.width], [0, width]);
    assert.equal(Math.round(sheet.y + sheet.height), 740);
    assert.deepEqual(await small(), []);
    await page.locator("#cover").click({ position: { x: 20, y: 20 } });
    assert.equal(await page.locator("#side").isVisible(), false);

    // The count stays in sight in a conversation, and leads back to Home.
    await item(page, "finished", "Is done").getByRole("link").click();
    await chat(page).getByText("Done.", { exact: true }).waitFor();
    assert.equal(await badge.isVisible(), true);
    assert.equal(await overflows(), false);
    await page.locator("#bar-inbox").click();
    await item(page, "needsYou", "Asks for something").locator("[data-choice]").first().click();
    await group(page, "needsYou").waitFor({ state: "hidden" });
    for (const place of ["Settings", "Archive"]) {
      await page.getByRole("button", { name: "Show the sidebar" }).click();
      await page.getByRole("button", { name: place, exact: true }).click();
      await page.getByRole("heading", { name: place }).waitFor();
      assert.equal(await overflows(), false, place);
      await until(page, `the tab of ${place} is in sight`, () => page.evaluate(() => {
        const [tab, strip] = [".tab[aria-selected=true]", ".tabs"].map((selector) => document.querySelector(selector).getBoundingClientRect());
        return tab.left >= strip.left - 1 && tab.right <= strip.right + 1;
      }));
    }
    assert.deepEqual(page.problems, []);
  });
}

test("p11 the composer stays above the keyboard of a phone", async () => {
  const page = await home({ "Is done": "say Done." }, { viewport: { width: 390, height: 740 }, hasTouch: true, isMobile: true });
  await item(page, "finished", "Is done").getByRole("link").click();
  const box = chat(page).getByRole("textbox", { name: "Message" });
  await box.waitFor();
  // The keyboard takes its room from the visual viewport.
  await page.setViewportSize({ width: 390, height: 420 });
  await until(page, "the box is above it", async () => {
    const { y, height } = await box.boundingBox();
    return y + height <= 420 && y > 0;
  });
});

test("p11 at 1024 pixels the inbox covers the conversation, which keeps 560 pixels at least", async () => {
  const page = await home({ "Asks for something": "permit Write a file" }, { viewport: { width: 1024, height: 768 } });
  const conversation = await openSession(page, "Asks for something");
  await conversation.locator("convoke-permission").waitFor();
  for (const width of [1024, 1280, 1440, 1600]) {
    await page.setViewportSize({ width, height: 768 });
    if (!(await page.locator("convoke-inbox").isVisible())) await page.keyboard.press("Alt+i");
    await page.locator("convoke-inbox convoke-permission").waitFor();
    const wide = (await page.locator(".panel:not([hidden]) iframe").boundingBox()).width;
    assert.ok(wide >= 560, `${wide} at ${width}`);
    // Where there is room, nothing of the conversation is covered.
    assert.equal(await page.locator("convoke-inbox").evaluate((it) => getComputedStyle(it).position === "fixed"), width < 1232, String(width));
  }
  // With the widest sidebar, too.
  await page.locator("#grip").focus();
  for (let steps = 0; steps < 14; steps += 1) await page.keyboard.press("ArrowRight");
  assert.ok((await page.locator(".panel:not([hidden]) iframe").boundingBox()).width >= 560);
  assert.deepEqual(page.problems, []);
});
