import assert from "node:assert/strict";
import { test } from "node:test";
import { answers } from "../assets/lib/answers.js";

const one = { prompt: "Which?", title: "", options: [{ label: "A (recommended)" }, { label: "B" }], multiSelect: false };
const many = { prompt: "Which ones?", title: "", options: [{ label: "X" }, { label: "Y" }, { label: "Z" }], multiSelect: true };

test("what is recommended is chosen before the human does anything", () => {
  assert.deepEqual(answers.drafts([one, many], undefined), [{ chosen: ["A (recommended)"], text: "", none: false }, { chosen: [], text: "", none: false }]);
  assert.deepEqual(["A (Recommended)", "[recommended] B", "C", "(recommended)"].map((label) => Object.values(answers.labelOf(label)).join()), ["A,true", "B,true", "C,false", "(recommended),false"]);
});

test("drafts are restored as far as they still match the questions", () => {
  const kept = [{ chosen: ["B", "gone"], text: "words", none: false }, "broken"];
  assert.deepEqual(answers.drafts([one, many], kept), [{ chosen: ["B"], text: "words", none: false }, { chosen: [], text: "", none: false }]);
});

test("one option takes the other's place, several stand beside each other in their order", () => {
  const [first, second] = answers.drafts([one, many]);
  assert.deepEqual(answers.toggle(one, first, "B").chosen, ["B"]);
  assert.deepEqual(answers.toggle(one, answers.toggle(one, first, "B"), "B").chosen, []);
  const both = answers.toggle(many, answers.toggle(many, second, "Z"), "X");
  assert.deepEqual(both.chosen, ["X", "Z"]);
  assert.deepEqual(answers.toggle(many, both, "Z").chosen, ["X"]);
});

test("q15 a question is answered by a choice, by words, or by choosing none on purpose", () => {
  const draft = { chosen: [], text: "", none: false };
  assert.deepEqual([draft, { ...draft, text: " \n" }, { ...draft, text: "x" }, { ...draft, chosen: ["X"] }, { ...draft, none: true }].map((it) => answers.isAnswered(many, it)), [false, false, true, true, true]);
  assert.equal(answers.isAnswered(one, { ...draft, none: true }), false);
});

test("q15 answers have the form that the server takes", () => {
  assert.deepEqual(answers.given([one, many, many, one], [
    { chosen: ["B"], text: " mine ", none: false }, { chosen: ["X", "Z"], text: "", none: false }, { chosen: [], text: "", none: true }, { chosen: [], text: "words", none: false },
  ]), { 0: { selectedOption: "B", customText: "mine" }, 1: { selectedOptions: ["X", "Z"] }, 2: { selectedOptions: [] }, 3: { customText: "words" } });
});

test("q14 what was said reads as lines", () => {
  const set = { questions: [one, many, many], answers: [{ questionIndex: 0, selectedOption: "A (recommended)", customText: "but" }, { questionIndex: 1, selectedOptions: ["X", "Y"] }, { questionIndex: 2, selectedOptions: [] }] };
  assert.deepEqual(answers.said(set), [["A", "“but”"], ["X", "Y"], ["No selection"]]);
});
