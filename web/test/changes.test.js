// The changes of a session: trees, rows, quotations, and where comments stand.

import assert from "node:assert/strict";
import { test } from "node:test";
import { colouring, digest, fingerprint, flush, leftOutWhy, linesText, notesOf, placeOf, quoteOf, rowsOf, treeOf } from "../assets/lib/changes.js";
import { colours } from "../assets/lib/lexer.js";
import { totalsText } from "../assets/lib/words.js";

const file = (path, fields = {}) => ({ path, status: "modified", added: 1, removed: 0, binary: false, oldMode: "regular", newMode: "regular", ...fields });

const hunk = (oldStart, newStart, ...lines) => {
  let [old, now] = [oldStart, newStart];
  const made = lines.map((line) => {
    const [sign, text] = [line[0], line.slice(1)];
    if (sign === "+") return { kind: "added", new: now++, text };
    if (sign === "-") return { kind: "removed", old: old++, text };
    return { kind: "context", old: old++, new: now++, text };
  });
  return { oldStart, oldLines: old - oldStart, newStart, newLines: now - newStart, heading: "", lines: made };
};

test("c3 files stand in a tree of folders, and a folder with one folder is one row with it", () => {
  const files = ["README.md", "src/a.rs", "src/deep/er/b.rs", "src/deep/er/c.rs", "web/only/x.js"].map((path) => file(path));
  const shown = (closed = []) => treeOf(files, new Set(closed)).map(({ depth, name, file }) => `${"  ".repeat(depth)}${name}${file ? "" : "/"}`);
  assert.deepEqual(shown(), ["src/", "  deep/er/", "    b.rs", "    c.rs", "  a.rs", "web/only/", "  x.js", "README.md"]);
  assert.deepEqual(shown(["src", "web/only"]), ["src/", "web/only/", "README.md"]);
});

test("c3 rows in one column keep the order of the lines; in two what replaces a line stands beside it", () => {
  const hunks = [hunk(3, 3, " same", "-old one", "-old two", "+new one", " end")];
  const text = (row) => (row.head ? row.head : `${row.before?.text ?? ""}|${row.after?.text ?? ""}`);
  assert.deepEqual(rowsOf(hunks).map(text), ["Lines 3–5", "same|same", "old one|", "old two|", "|new one", "end|end"]);
  assert.deepEqual(rowsOf(hunks, true).map(text), ["Lines 3–5", "same|same", "old one|new one", "old two|", "end|end"]);
});

test("c3 a hunk says where it is, also when all of its lines are gone", () => {
  const [head] = rowsOf([{ ...hunk(7, 6, "-gone"), heading: " fn main() {" }]);
  assert.equal(head.head, "Line 7 · fn main() {");
});

test("c3 lines are coloured in their own version, some hundred at a time", () => {
  const lines = Array.from({ length: 900 }, (_, at) => ` let x${at} = 1;`);
  const rows = rowsOf([hunk(1, 1, ...lines, "-/* a comment", "-let y */", "+let z = 2;")]);
  let lexed = 0;
  const of = colouring(rows, (text) => ((lexed += 1), colours("a.rs", text)));
  const names = (line, isOld) => of(line, isOld).map(([, , name]) => name);
  assert.deepEqual(names(rows[1].after, false), ["hl-keyword", "hl-number"]);
  assert.equal(lexed, 1, "only what is shown is lexed");
  assert.deepEqual(names(rows[902].before, true), ["hl-comment"], "the second line of a comment of the old version");
  assert.deepEqual(names(rows[903].after, false), ["hl-keyword", "hl-number"]);
});

test("c3 what else happened to a file is said in words", () => {
  assert.deepEqual(notesOf(file("a", { status: "renamed", from: "b" })), ["renamed from b"]);
  assert.deepEqual(notesOf(file("a", { newMode: "executable" })), ["now executable"]);
  assert.deepEqual(notesOf(file("a", { oldMode: "executable" })), ["no longer executable"]);
  assert.deepEqual(notesOf(file("a", { binary: true, newMode: "link" })), ["now a link", "binary"]);
  assert.deepEqual(notesOf(file("a", { status: "added", oldMode: undefined })), []);
  assert.equal(leftOutWhy({ path: "x", reason: "too_large", bytes: 3_000_000 }), "too large: 3 MB");
  assert.equal(totalsText({ files: 1, added: 2, removed: 1 }), "1 file, 2 lines added, 1 removed");
});

test("c3 a file that changed again is not the one that was viewed", () => {
  assert.equal(fingerprint(file("a")), fingerprint(file("a")));
  assert.notEqual(fingerprint(file("a")), fingerprint(file("a", { added: 2 })));
  assert.notEqual(digest("one"), digest("two"));
});

test("c4 a quotation has the lines of one side that stand together", () => {
  const hunks = [hunk(1, 1, " a", "-b", "+B", " c"), hunk(20, 20, " x", "+y")];
  assert.equal(quoteOf(hunks, "new", 1, 3), "a\nB\nc");
  assert.equal(quoteOf(hunks, "old", 2, 3), "b\nc");
  assert.equal(quoteOf(hunks, "new", 3, 20), undefined, "not across hunks");
  assert.equal(quoteOf(hunks, "old", 20, 21), undefined);
});

test("c4 a comment stands where its lines are now, or nowhere when they are gone", () => {
  const comment = { side: "new", startLine: 2, endLine: 3, quote: "B\nc" };
  assert.equal(placeOf([hunk(1, 1, " a", "+B", " c")], comment), 3);
  assert.equal(placeOf([hunk(1, 1, "+first", " a", "+B", " c")], comment), 4, "lines above it were added");
  assert.equal(placeOf([hunk(1, 1, " B", " c"), hunk(9, 9, " B", " c")], { ...comment, startLine: 10, endLine: 11 }), 10, "the nearest of several");
  assert.equal(placeOf([hunk(1, 1, " a", "+else")], comment), undefined);
  assert.equal(linesText({ side: "old", startLine: 4, endLine: 6 }), "lines 4–6 before the change");
  assert.equal(linesText({ side: "new", startLine: 4, endLine: 4 }), "line 4");
});

test("c4 a quotation is shown without the indentation that all of its lines have", () => {
  assert.deepEqual(flush(["    a", "", "      b"]), ["a", "", "  b"]);
  assert.deepEqual(flush(["\t\tx", "\ty"]), ["\tx", "y"]);
  assert.deepEqual(flush([""]), [""]);
});
