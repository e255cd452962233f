// Judges of whole pages: axe for accessibility, and a look-out for words that became markup.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core"), "utf8");

/** What axe finds, one line a finding; `where` names the step of the test. */
export async function findings(page, where) {
  const found = [];
  for (const frame of page.frames()) {
    if (!(await frame.evaluate(() => "axe" in window))) await frame.evaluate(axe);
    // What fades in has its colours at the end.
    await frame.evaluate(() => Promise.allSettled(document.getAnimations().filter((one) => Number(one.effect?.getComputedTiming().endTime) < 2000).map((one) => one.finished)));
    // Frames are looked at one by one; the page's policy keeps axe from talking between them.
    const { violations } = await frame.evaluate(() => window.axe.run(document, { iframes: false, resultTypes: ["violations"] }));
    found.push(...violations.flatMap(({ id, nodes }) => nodes.map((node) => `${where}: ${id}: ${node.html.slice(0, 160)} ${node.any.map((check) => check.message).join("; ").slice(0, 200)}`)));
  }
  return found;
}

/** What axe finds in the light and in the dark; the page is then as it was in the light. */
export async function findingsInBoth(page, where) {
  const found = [];
  for (const colorScheme of ["dark", "light"]) {
    await page.emulateMedia({ colorScheme });
    found.push(...(await findings(page, `${where} ${colorScheme}`)));
  }
  return found;
}

/** Every attempt sets `pwned`, or leaves an element that no page of ours has. */
export const ATTACK = [
  `<img src=x onerror="top.pwned=1;parent.pwned=1;pwned=1">`,
  `<script>top.pwned=1</script>`,
  `<svg onload="top.pwned=1"><animate onbegin="top.pwned=1" attributeName=x></svg>`,
  `<iframe src="javascript:top.pwned=1"></iframe>`,
  `<a href="javascript:top.pwned=1">click</a>`,
  `<style>*{display:none}</style>`,
].join("");

/** What of an attack came onto the page; nothing, when all is well. */
export async function attackless(page) {
  const found = [];
  for (const frame of page.frames()) {
    found.push(...(await frame.evaluate(() => {
      const all = [...document.querySelectorAll("body script, body style, [onerror], [onload], [onbegin], a[href^='javascript:'], object, embed, form[action], iframe")];
      const foreign = all.filter((element) => !element.matches(".panel > iframe"));
      const images = [...document.querySelectorAll("img")].filter((image) => !image.src.endsWith("/assets/icon.svg"));
      return [...foreign, ...images].map((element) => element.outerHTML).concat(window.pwned ? ["pwned"] : []);
    })));
  }
  return found;
}
