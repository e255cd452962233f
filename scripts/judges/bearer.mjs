// Passes requests on to the daemon with the token, for a judge that cannot say one: bearer.mjs URL TOKEN.
// Host and Origin keep their names, and name the daemon's port where they named this one's.

import http from 'node:http';

const [url, token] = process.argv.slice(2);
const to = new URL(url);

const server = http.createServer((request, response) => {
  const headers = { ...request.headers, authorization: `Bearer ${token}` };
  for (const name of ['host', 'origin']) {
    headers[name] = headers[name]?.replace(`:${server.address().port}`, `:${to.port}`);
    if (headers[name] === undefined) delete headers[name];
  }
  const { method, url: path } = request;
  const passed = http.request({ host: to.hostname, port: to.port, path, method, headers }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  passed.on('error', () => response.destroy());
  response.on('close', () => passed.destroy());
  request.pipe(passed);
});

server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
