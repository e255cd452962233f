// What the page's files promise as a whole.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const web = join(dirname(fileURLToPath(import.meta.url)), "..");
const read = (path) => readFileSync(join(web, path), "utf8");
const files = [
  ...readdirSync(web).filter((name) => name.endsWith(".html")),
  ...readdirSync(join(web, "assets"), { recursive: true }).map((name) => join("assets", name)).filter((name) => /\.(js|css)$/.test(name)),
];

/** Without comments, and without the white space that only people need. */
function code(path) {
  const text = read(path);
  if (path.endsWith(".html")) return text.replace(/<!--.*?-->/gs, "");
  return text.replace(/\/\*.*?\*\//gs, "").replace(/^\s*\/\/.*$/gm, "").replace(/^\s*\n/gm, "");
}

/** Everything that a page loads at once; with `lazy` also what it loads when it is first needed. */
function loads(page, lazy = false) {
  const found = new Set();
  const imports = lazy ? /^import .*?from "(.*?)";$|\bimport\("(.*?)"\)/gm : /^import .*?from "(.*?)";$/gm;
  const add = (path) => {
    if (found.has(path)) return;
    found.add(path);
    if (lazy) for (const [, name] of read(path).matchAll(/\bstyles\("(\w+)"\)/g)) add(`assets/style/${name}.css`);
    if (path.endsWith(".js")) for (const [, next, later] of read(path).matchAll(imports)) add(relative(web, join(web, dirname(path), next ?? later)));
  };
  for (const [, path] of read(page).replace(/<link rel="modulepreload".*/g, "").matchAll(/(?:src|href)="\/(assets\/[^"]+\.(?:js|css))"/g)) add(path);
  return [page, ...found];
}

/** What one page may load. */
const LIMIT = 200_000;
/** What all files of all pages may have, comments included: where they stand, so that they do not grow unnoticed. */
const ALL = 570_000;
const size = (texts) => texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);

const pages = files.filter((path) => path.endsWith(".html"));

test("everything that one page loads stays under 200 kB", () => {
  for (const page of pages) {
    const loaded = size(loads(page).map(code));
    assert.ok(loaded < LIMIT, `${page} loads ${loaded} bytes`);
  }
  const all = size(files.map(read));
  assert.ok(all < ALL, `${all} bytes in all files`);
});

// The other pages show their frame before any module is there, and must not wait for all of them.
test("a session's page names every module that it needs, so that none waits until another asks for it", () => {
  const page = "session.html";
  const named = [...read(page).matchAll(/<link rel="modulepreload" href="\/(.*?)"/g)].map(([, path]) => path);
  const needed = loads(page).filter((path) => path.endsWith(".js") && !["assets/session.js", "assets/early.js"].includes(path));
  assert.deepEqual(named, needed.sort());
});

test("every file is loaded by a page, and every file that is loaded is there", () => {
  assert.deepEqual([...new Set(pages.flatMap((page) => loads(page, true)))].sort(), files.toSorted());
});

test("nothing is inline, nothing comes from elsewhere, and markup is parsed in one place", () => {
  for (const path of files) {
    const text = code(path);
    assert.doesNotMatch(text, /https?:\/\/(?!www\.w3\.org)|\beval\(|new Function|document\.write/, path);
    if (path.endsWith(".html")) assert.doesNotMatch(text, /<script>|<script type="module">|<style|\sstyle=|\son\w+=/, path);
    if (path !== "assets/ui/markdown.js") assert.doesNotMatch(text, /innerHTML|outerHTML|insertAdjacentHTML|DOMParser|createContextualFragment/, path);
  }
});

test("files are short enough to be read in one sitting", () => {
  for (const path of files) assert.ok(read(path).split("\n").length <= 500, path);
});

test("every class of highlighted code has a colour", () => {
  const css = read("assets/style/markdown.css");
  const classes = "comment string number keyword function type constant punctuation operator tag attribute inserted deleted heading";
  for (const name of classes.split(" ")) assert.ok(css.includes(`.hl-${name}`), name);
});

test("p8 every class of terminal output has a style", () => {
  const css = read("assets/style/markdown.css");
  for (let number = 0; number < 16; number += 1) for (const name of [`.ansi-${number}`, `.ansi-on-${number}`]) assert.match(css, new RegExp(`\\${name}\\b`), name);
  for (const name of "bold faint italic underline strike inverse".split(" ")) assert.ok(css.includes(`.ansi-${name}`), name);
});
