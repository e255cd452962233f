// An agent that does what a prompt says, speaking ACP on its standard input and output.
//
// `say TEXT` answers with TEXT (`\n` is a line break) · `gate` says one half, waits for the file `gate` in the
// workspace, and says the other · `tool JSON` calls a tool with these fields · `permit TITLE`, `allow TITLE` ask for permission ·
// `demand JSON` makes a call with these fields that needs permission, and does it or not; `together [JSON…]` makes several at once · `reads N`, `searches N` look N
// times · `crash TEXT` prints TEXT to stderr and ends the process · `flood N` makes N calls, each a separate entry · `plan TEXT` makes a plan with that step ·
// `write JSON` writes these texts to files of the workspace, and removes those with `null` · `edit JSON` writes them and shows each as a diff ·
// `run TEXT` runs a shell command there ·
// `parts` says what the prompt consists of ·
// `wait` does nothing until it is stopped · `clock N` says N times what time it is ·
// `die FILE` ends the process with a last word on standard error, unless the file is in the workspace
//
// A file `story.json` in the workspace says what to do for a prompt: a list of the above for the words of a person,
// or for those that they begin with, followed by `…`.

import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, watch, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";

const sessions = new Map();
const asked = new Map();
let requests = 0;

const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const update = (sessionId, update) => write({ method: "session/update", params: { sessionId, update } });
const text = (words) => ({ type: "text", text: words });

function request(method, params) {
  const id = `r${(requests += 1)}`;
  write({ id, method, params });
  return new Promise((resolve) => asked.set(id, resolve));
}

function untilThere(folder, name) {
  return new Promise((resolve) => {
    const watcher = watch(folder, look);
    function look() {
      if (!existsSync(join(folder, name))) return;
      watcher.close();
      resolve();
    }
    look();
  });
}

/** What each first word of a prompt makes it do. */
const deeds = {
  say: async (id, rest) => update(id, { sessionUpdate: "agent_message_chunk", content: text(rest.replaceAll("\\n", "\n")) }),
  think: async (id, rest) => update(id, { sessionUpdate: "agent_thought_chunk", content: text(rest) }),
  gate: async (id, rest, session) => {
    update(id, { sessionUpdate: "agent_message_chunk", content: text("The first half, ") });
    await untilThere(session.cwd, "gate");
    update(id, { sessionUpdate: "agent_message_chunk", content: text("and the second half.") });
  },
  tool: async (id, rest) => update(id, { sessionUpdate: "tool_call", toolCallId: randomUUID(), status: "completed", ...JSON.parse(rest) }),
  permit: async (id, rest) => {
    await deeds.ask(id, rest, [
      { optionId: "yes", name: `Yes ${rest}`, kind: "allow_once" },
      { optionId: "no", name: "No", kind: "reject_once" },
    ]);
  },
  allow: (id, rest) => deeds.ask(id, rest, [
    { optionId: "once", name: "Allow", kind: "allow_once" },
    { optionId: "always", name: "Always allow", kind: "allow_always" },
    { optionId: "no", name: "Reject", kind: "reject_once" },
  ]),
  ask: async (id, rest, options) => {
    const { outcome } = await request("session/request_permission", { sessionId: id, options, toolCall: { toolCallId: "p", title: rest, kind: "execute" } });
    await deeds.say(id, `Outcome: ${outcome.optionId ?? outcome.outcome}`);
  },
  demand: async (id, rest) => {
    const call = { toolCallId: randomUUID(), status: "pending", ...JSON.parse(rest) };
    const { output = "done", ...fields } = call;
    update(id, { sessionUpdate: "tool_call", ...fields });
    const options = [
      { optionId: "once", name: "Yes", kind: "allow_once" },
      { optionId: "always", name: "Yes, and do not ask again", kind: "allow_always" },
      { optionId: "no", name: "No", kind: "reject_once" },
    ];
    const { outcome } = await request("session/request_permission", { sessionId: id, options, toolCall: fields });
    const isDone = outcome.optionId === "once" || outcome.optionId === "always";
    const content = isDone && !fields.content ? [{ type: "content", content: text(output) }] : undefined;
    update(id, { sessionUpdate: "tool_call_update", toolCallId: call.toolCallId, status: isDone ? "completed" : "failed", ...(content && { content }) });
    await deeds.say(id, `Outcome: ${outcome.optionId ?? outcome.outcome}`);
  },
  together: (id, rest) => Promise.all(JSON.parse(rest).map((fields) => deeds.demand(id, JSON.stringify(fields)))),
  reads: async (id, rest) => {
    for (let number = 1; number <= Number(rest); number += 1) await deeds.tool(id, JSON.stringify({ title: `Read src/module_${number}.rs`, kind: "read", rawInput: { path: `src/module_${number}.rs` } }));
  },
  searches: async (id, rest) => {
    for (let number = 1; number <= Number(rest); number += 1) await deeds.tool(id, JSON.stringify({ title: `Search for word ${number}`, kind: "search", rawInput: { pattern: `word ${number}` } }));
  },
  crash: async (id, rest) => {
    process.stderr.write(`${rest.replaceAll("\\n", "\n")}\n`, () => process.exit(3));
    await new Promise(() => {});
  },
  plan: async (id, rest) => {
    const entries = rest.startsWith("[") ? JSON.parse(rest) : [{ content: rest, status: "in_progress" }];
    update(id, { sessionUpdate: "plan", entries: entries.map((entry) => ({ priority: "high", ...entry })) });
  },
  use: async (id, rest) => update(id, { sessionUpdate: "usage_update", ...JSON.parse(rest) }),
  flood: async (id, rest) => {
    for (let number = 1; number <= Number(rest); number += 1) {
      const call = { toolCallId: `flood-${number}`, title: `Step ${number}`, kind: "other", rawInput: { number } };
      update(id, { sessionUpdate: "tool_call", status: "completed", ...call });
    }
  },
  clock: async (id, rest) => {
    for (let number = 0; number < Number(rest); number += 1) {
      await new Promise((resolve) => setTimeout(resolve, 60));
      await deeds.say(id, `@${(performance.timeOrigin + performance.now()).toFixed(3)}; `);
    }
  },
  write: async (id, rest, session) => {
    for (const [path, words] of Object.entries(JSON.parse(rest))) {
      const file = join(session.cwd, path);
      mkdirSync(dirname(file), { recursive: true });
      if (words === null) rmSync(file);
      else writeFileSync(file, words);
    }
    await deeds.say(id, "Written.");
  },
  edit: async (id, rest, session) => {
    for (const [path, newText] of Object.entries(JSON.parse(rest))) {
      const file = join(session.cwd, path);
      const oldText = existsSync(file) ? readFileSync(file, "utf8") : null;
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, newText);
      await deeds.tool(id, JSON.stringify({ title: `${oldText === null ? "Write" : "Edit"} ${path}`, kind: "edit", content: [{ type: "diff", path, oldText, newText }] }));
    }
  },
  run: async (id, rest, session) => {
    execFileSync("sh", ["-c", rest], { cwd: session.cwd });
    await deeds.say(id, "Done.");
  },
  parts: (id, rest, session) => deeds.say(id, session.prompt.map(({ type, name, resource }) => `${type} ${name ?? resource?.uri.split("/").at(-1) ?? ""}`.trim()).join(", ")),
  wait: (id, rest, session) => new Promise((resolve) => (session.stop = resolve)),
  die: async (id, rest, session) => {
    if (existsSync(join(session.cwd, rest))) return deeds.say(id, "It works now.");
    process.stderr.write("it broke for a reason\n", () => process.exit(3));
    return new Promise(() => {});
  },
  offer: async (id, rest) => update(id, { sessionUpdate: "available_commands_update", availableCommands: JSON.parse(rest) }),
};

/** With `--models` on the command line. */
const configOptions = (currentValue) => [{ id: "llm", name: "Model", category: "model", type: "select", currentValue, options: [{ value: "small", name: "Small" }, { value: "large", name: "Large" }] }];
const models = process.argv.includes("--models") ? { configOptions: configOptions("small") } : {};

const answers = {
  "session/set_config_option": ({ value }) => ({ configOptions: configOptions(value) }),
  initialize: () => ({ protocolVersion: 1, agentCapabilities: { loadSession: true, promptCapabilities: { image: true, embeddedContext: true } }, authMethods: [] }),
  "session/new": ({ cwd }) => {
    const sessionId = randomUUID();
    sessions.set(sessionId, { cwd });
    const availableModes = [{ id: "ask", name: "Ask" }, { id: "auto", name: "Auto" }];
    return { sessionId, modes: { currentModeId: "ask", availableModes }, ...models };
  },
  "session/load": ({ sessionId, cwd }) => {
    sessions.set(sessionId, { cwd });
    return {};
  },
  "session/set_mode": ({ sessionId, modeId }) => {
    update(sessionId, { sessionUpdate: "current_mode_update", currentModeId: modeId });
    return {};
  },
  "session/prompt": async ({ sessionId, prompt }) => {
    const session = sessions.get(sessionId);
    session.stopped = false;
    const words = prompt.filter(({ type }) => type === "text").map((block) => block.text).join("\n");
    session.prompt = prompt;
    const file = join(session.cwd, "story.json");
    const stories = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
    const story = stories[words] ?? Object.entries(stories).find(([start]) => start.endsWith("…") && words.startsWith(start.slice(0, -1)))?.[1];
    for (const deed of story ?? words.split(" && ")) {
      const [name, ...rest] = deed.trim().split(" ");
      await (deeds[name] ?? deeds.say)(sessionId, deeds[name] ? rest.join(" ") : `You said: ${deed}`, session);
    }
    return { stopReason: session.stopped ? "cancelled" : "end_turn" };
  },
};

for await (const line of createInterface(process.stdin)) {
  const { id, method, params, result } = JSON.parse(line);
  if (method === "session/cancel") {
    const session = sessions.get(params.sessionId);
    session.stopped = true;
    session.stop?.();
  } else if (method) {
    Promise.resolve(answers[method]?.(params ?? {})).then((answer) => {
      if (id === undefined) return;
      write(answer === undefined ? { id, error: { code: -32601, message: `unknown: ${method}` } } : { id, result: answer });
    });
  } else {
    asked.get(id)?.(result ?? { outcome: { outcome: "cancelled" } });
  }
}
