import assert from "node:assert/strict";
import { test } from "node:test";
import { editorLink, fileLink, pathsIn, placeOf, shortPath } from "../assets/lib/paths.js";

const link = (text, editor = "vscode") => editorLink(editor, "/home/me/a b", text);

test("paths in answers lead to the editor that is configured", () => {
  assert.equal(link("src/upload.rs:12"), "vscode://file/home/me/a%20b/src/upload.rs:12");
  assert.equal(link("src/upload.rs:12:5", "zed"), "zed://file/home/me/a%20b/src/upload.rs:12:5");
  assert.equal(link("./Cargo.toml:1", "cursor"), "cursor://file/home/me/a%20b/Cargo.toml:1");
  assert.equal(link("/etc/hosts"), "vscode://file/etc/hosts");
  assert.equal(link("src/../../b/c.rs"), "vscode://file/home/me/b/c.rs");
  assert.equal(fileLink("zed", "/r", "src/a#b?.rs"), "zed://file/r/src/a%23b%3F.rs");
});

test("an address of the user's own has the path, the line and the column in their places", () => {
  const own = "idea://open?file={path}&line={line}&column={column}";
  assert.equal(link("src/upload.rs:12", own), "idea://open?file=/home/me/a%20b/src/upload.rs&line=12&column=1");
  assert.equal(fileLink(own, "/r", "a.rs"), "idea://open?file=/r/a.rs&line=1&column=1");
});

test("an editor that is opened by a command has links that the daemon opens", () => {
  assert.equal(link("src/upload.rs:12:5", "command"), "open:/home/me/a%20b/src/upload.rs:12:5");
  assert.deepEqual(placeOf(link("src/upload.rs:12:5", "command")), { path: "/home/me/a b/src/upload.rs", line: 12, column: 5 });
  assert.deepEqual(placeOf(fileLink("command", "/r", "a:1#.rs")), { path: "/r/a:1#.rs" });
  for (const href of ["", "https://a.b/", "vscode://file/a.rs:1"]) assert.ok(!placeOf(href), href);
});

test("without an editor that has an address there is no link, nor for what is no path", () => {
  for (const editor of ["", "code -g", "javascript", "constructor", "javascript:alert({path})", "JavaScript:{path}", "data:text/html,{path}", "idea://open"]) assert.equal(link("src/upload.rs:12", editor), "", editor);
  for (const text of ["", "foo.bar", "upload", "a b/c.rs", "https://a.b/c", "javascript:alert(1)//a.rs", "std::fs::read", "1.5", "src/*.rs", "\"/a.rs"]) assert.equal(link(text), "", text);
});

test("in words only places with a line are found", () => {
  const found = (text) => pathsIn(text).map(([from, to]) => text.slice(from, to));
  assert.deepEqual(found("See src/a.rs:12, lib/b.ts:3:4 and (./c.py:1). Not d.rs, http://x.y:80/z.rs:1 or 12:30."), ["src/a.rs:12", "lib/b.ts:3:4", "./c.py:1"]);
});

test("a path inside the project is shown without the way to it", () => {
  assert.deepEqual([shortPath("/r/src/a", "/r"), shortPath("/rest/a", "/r"), shortPath("a", "")], ["src/a", "/rest/a", "a"]);
});
