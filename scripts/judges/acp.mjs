// Holds every line that the ACP driver sent in its tests against the protocol's own schema: acp.mjs FOLDER.
// FOLDER has NAME.sent and NAME.received of every scene, and node_modules with the schema and ajv.

import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';

const [folder, modules] = process.argv.slice(2);
const require = createRequire(path.join(path.resolve(modules), 'here.js'));
const Ajv = require('ajv/dist/2020').default;
const read = (name) => JSON.parse(fs.readFileSync(path.join(modules, 'node_modules/@agentclientprotocol/sdk/schema/v1', name)));

// The stable schema, then the one with what is still being tried out: agents speak both.
const books = ['schema.json', 'schema.unstable.json'].map((name) => {
  const schema = read(name);
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
  ajv.addSchema(schema, 'acp');
  const byMethod = { Request: {}, Response: {}, Notification: {} };
  for (const [title, definition] of Object.entries(schema.$defs)) {
    const kind = Object.keys(byMethod).find((it) => title.endsWith(it));
    const method = definition['x-method'];
    if (kind && method) byMethod[kind][method] = ajv.getSchema(`acp#/$defs/${title}`);
  }
  return { name, byMethod, error: ajv.getSchema('acp#/$defs/Error') };
});

const lines = (file) => fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split('\n').filter((it) => it.trim()) : [];
const parsed = (file) => lines(file).flatMap((line) => { try { return [JSON.parse(line)]; } catch { return []; } });

const judged = {};
const wrong = [];
const note = (what, where) => { (judged[what] ??= { stable: 0, unstable: 0 })[where] += 1; };

// Holds a value against the first schema that knows such a thing.
function hold(what, find, value, line) {
  for (const [index, book] of books.entries()) {
    const validate = find(book);
    if (!validate) continue;
    if (validate(value)) return note(what, index === 0 ? 'stable' : 'unstable');
    wrong.push(`${what} (${book.name}): ${validate.errors.map((it) => `${it.instancePath} ${it.message}`).join('; ')}\n    ${line}`);
    return undefined;
  }
  wrong.push(`${what}: neither schema knows it\n    ${line}`);
  return undefined;
}

for (const file of fs.readdirSync(folder).filter((name) => name.endsWith('.sent'))) {
  const asked = new Map();
  for (const message of parsed(path.join(folder, file.replace(/sent$/, 'received')))) {
    if (typeof message?.method === 'string' && 'id' in message) asked.set(JSON.stringify(message.id), message.method);
  }
  for (const line of lines(path.join(folder, file))) {
    let message;
    try { message = JSON.parse(line); } catch { wrong.push(`not JSON: ${line}`); continue; }
    if (message.jsonrpc !== '2.0') wrong.push(`no jsonrpc 2.0: ${line}`);
    const { id, method, params, result, error } = message;
    if (method !== undefined) {
      const kind = id === undefined ? 'Notification' : 'Request';
      hold(`${method} ${kind.toLowerCase()}`, (book) => book.byMethod[kind][method], params, line);
    } else if (error !== undefined) {
      hold('error', (book) => book.error, error, line);
    } else {
      const method = asked.get(JSON.stringify(id));
      hold(`${method} response`, (book) => book.byMethod.Response[method], result, line);
    }
  }
}

for (const [what, { stable, unstable }] of Object.entries(judged).sort()) {
  console.log(`${String(stable + unstable).padStart(5)} ${what}${unstable ? ' (by the unstable schema)' : ''}`);
}
const kinds = Object.keys(judged).length;
if (wrong.length > 0) {
  console.error(`${wrong.length} lines do not fit:\n${[...new Set(wrong)].slice(0, 20).join('\n')}`);
  process.exit(1);
}
if (kinds < 10) {
  console.error(`only ${kinds} kinds of lines were recorded: is anything recorded at all?`);
  process.exit(1);
}
console.log(`every line of ${kinds} kinds fits`);
