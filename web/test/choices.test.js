import assert from "node:assert/strict";
import { test } from "node:test";
import { choicesOf, verdictOf } from "../assets/lib/choices.js";

const option = (kind, name = kind) => ({ optionId: `o-${name}`, name, kind });
const rules = [{ label: "`cargo test …` in harbour", matcher: {} }, { label: "`cargo …` in harbour", matcher: {} }];

test("p2 agents are answered once, and Convoke's rules stand in for their own “always”", () => {
  const options = [option("allow_once", "Yes"), option("allow_always", "Yes, always"), option("reject_once", "No"), option("reject_always", "Never")];
  const { allow, deny, always, never } = choicesOf({ options, rules });
  assert.deepEqual([allow, deny], [[{ optionId: "o-Yes", label: "Allow once", name: "Yes" }], [{ optionId: "o-No", label: "Deny", name: "No" }]]);
  assert.deepEqual(always, [
    { optionId: "o-Yes", rule: 0, label: "Always allow `cargo test …` in harbour" },
    { optionId: "o-Yes", rule: 1, label: "Always allow `cargo …` in harbour" },
  ]);
  assert.deepEqual(never.map(({ optionId, rule, label }) => [optionId, rule, label]), [["o-No", 0, "Always deny `cargo test …` in harbour"], ["o-No", 1, "Always deny `cargo …` in harbour"]]);
});

test("p1 several options of a kind keep the agent's names, and without one of a kind its “always” is all there is", () => {
  const plans = choicesOf({ options: [option("allow_once", "Yes, edit alone"), option("allow_once", "Yes, ask me"), option("reject_once", "Keep planning")] });
  assert.deepEqual([plans.allow.map(({ label }) => label), plans.always], [["Yes, edit alone", "Yes, ask me"], []]);
  const only = choicesOf({ options: [option("allow_always", "Trust it"), option("reject_always", "Never")], rules });
  assert.deepEqual([only.allow.map(({ label }) => label), only.deny.map(({ label }) => label), only.always, only.never], [["Trust it"], ["Never"], [], []]);
});

test("p1 what became of a request, in a word or two", () => {
  const options = [option("allow_once", "Yes"), option("reject_once", "No"), option("reject_once", "Stop")];
  const of = (status, optionId) => verdictOf({ options, status, optionId });
  assert.deepEqual(of("answered", "o-Yes"), { isRefused: false, text: "Allowed" });
  // As the command line says it.
  assert.deepEqual(of("answered", "o-gone"), { isRefused: false, text: "Answered" });
  assert.deepEqual(of("answered", "o-No"), { isRefused: true, text: "Denied: No" });
  assert.deepEqual(["rejected", "timed_out", "abandoned"].map((status) => of(status).text), ["Denied", "Not answered in time", "No longer needed"]);
});

test("p1 names of options and rules show what would turn them around", () => {
  const options = [option("allow_once", "Yes\u202e"), option("allow_once", "Sure\u200f"), option("reject_once", "No\n")];
  const { allow, deny, always } = choicesOf({ options, rules: [{ label: "`rm \u202ex` in harbour", matcher: {} }] });
  assert.deepEqual(allow.map(({ label }) => label), ["Yes\ufffd", "Sure\ufffd"]);
  assert.deepEqual([deny[0].name, always[0].label], ["No\u240a", "Always allow `rm \ufffdx` in harbour"]);
  assert.equal(verdictOf({ options, status: "answered", optionId: options[1].optionId }).text, "Allowed: Sure\ufffd");
});
