import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeName, nodeText, waitsText } from "../assets/lib/nodes.js";
import { people } from "../assets/lib/people.js";

const grace = { name: "grace", role: "viewer", projects: [{ repoId: "p1", project: "web", role: "member" }, { repoId: "p2", project: "api", role: "owner" }] };

test("n7 a role holds in all projects, unless one of them has its own", () => {
  assert.equal(people.may(grace, "viewer"), true);
  assert.equal(people.may(grace, "member"), false);
  assert.equal(people.may(grace, "member", "p1"), true);
  assert.equal(people.may(grace, "owner", "p1"), false);
  assert.equal(people.may(grace, "owner", "p2"), true);
  assert.equal(people.may(grace, "member", "p3"), false);
  // Less than elsewhere, too.
  assert.equal(people.may({ name: "ada", role: "owner", projects: [{ repoId: "p1", project: "web", role: "viewer" }] }, "member", "p1"), false);
  assert.equal(people.maySomewhere(grace, "member"), true);
  assert.equal(people.maySomewhere({ ...grace, projects: [] }, "member"), false);
  assert.equal(people.may(people.owner, "owner", "p1"), true);
});

test("n7 people are named to others, not to themselves", () => {
  assert.equal(people.who(people.owner, undefined), "");
  assert.equal(people.who(people.owner, "ada"), "ada");
  assert.equal(people.who(grace, "grace"), "");
  assert.equal(people.who(grace, undefined), "the owner");
  assert.equal(people.by(people.owner, "Allowed", "ada"), "Allowed by ada");
  assert.equal(people.by(people.owner, "Allowed", undefined), "Allowed");
});

test("n4 a machine is named, and said to be away", () => {
  const node = { id: "n", name: "workstation", version: "1", startedAt: "2026-11-15T10:00:00Z", seenAt: "2026-11-15T10:00:00Z", away: false, own: false };
  const now = Date.parse("2026-11-15T10:03:10Z");
  assert.equal(nodeText(node, now), "On workstation");
  assert.equal(nodeText({ ...node, away: true }, now), "On workstation, which was last seen 3m ago. Prompts wait for it.");
  assert.equal(nodeName({ ...node, away: true }), "workstation · away");
  assert.equal(nodeName(undefined), "");
  assert.equal(waitsText("workstation"), "workstation is away; your prompt waits for it");
});
