/**
 * The yardstick: the minimum that a gateway on Node has to do, on `node:http` and undici, in one
 * process. It checks the key, parses the body, rewrites the model, forwards to the same path, passes
 * the response through and reads the usage, which all three dialects have at the end. No framework,
 * ledger, logs, limits, fallback or translation.
 *
 * Arguments: the upstream's base URL and the one API key. `GET /usage` returns the usage so far.
 */
import { hash } from 'node:crypto';
import http from 'node:http';
import { Pool } from 'undici';
import { listen, readBody } from './serving.mjs';

/** The usage and everything after it in a stream are smaller than this. */
const TAIL_BYTES = 1_024;
const USAGE_KEY = '"usage":';

const [upstream, apiKey] = process.argv.slice(2);
const keys = new Map([[sha256(apiKey), { tenant: 'bench' }]]);
const pool = new Pool(upstream, { pipelining: 1, keepAliveTimeout: 10_000 });
const used = { requests: 0, promptTokens: 0, completionTokens: 0 };

const server = http.createServer((request, response) => {
  serve(request, response).catch(() => response.destroy());
});
server.keepAliveTimeout = 75_000;
await listen(server);

async function serve(request, response) {
  if (request.url === '/usage') return sendJson(response, 200, used);
  const { authorization, 'x-api-key': apiKeyHeader } = request.headers;
  const presented = authorization?.slice('Bearer '.length) ?? apiKeyHeader ?? '';
  if (!keys.has(sha256(presented))) {
    return sendJson(response, 401, { error: { message: 'The API key is unknown.', code: 401 } });
  }
  const body = JSON.parse(await readBody(request));
  body.model = body.model.slice(body.model.indexOf('/') + 1);
  pool.dispatch(
    {
      method: 'POST',
      path: request.url,
      headers: { 'content-type': 'application/json', authorization: 'Bearer upstream-key' },
      body: JSON.stringify(body),
    },
    body.stream === true ? new StreamHandler(response) : new WholeHandler(response),
  );
}

class WholeHandler {
  #chunks = [];

  constructor(response) {
    this.response = response;
  }

  onRequestStart(controller) {
    abortWithCaller(controller, this.response);
  }

  onResponseStart(_controller, status) {
    this.status = status;
  }

  onResponseData(_controller, chunk) {
    this.#chunks.push(chunk);
  }

  onResponseEnd() {
    const bytes = this.#chunks.length === 1 ? this.#chunks[0] : Buffer.concat(this.#chunks);
    addUsage(JSON.parse(bytes.toString('utf8')).usage);
    this.response.writeHead(this.status, {
      'content-type': 'application/json',
      'content-length': bytes.length,
    });
    this.response.end(bytes);
  }

  onResponseError() {
    failed(this.response);
  }
}

class StreamHandler {
  #tail = Buffer.alloc(0);

  constructor(response) {
    this.response = response;
  }

  onRequestStart(controller) {
    abortWithCaller(controller, this.response);
    this.response.on('drain', () => controller.resume());
  }

  onResponseStart(_controller, status, headers) {
    this.response.writeHead(status, { 'content-type': headers['content-type'] });
  }

  onResponseData(controller, chunk) {
    this.#tail =
      chunk.length >= TAIL_BYTES ? chunk : Buffer.concat([this.#tail.subarray(-TAIL_BYTES), chunk]);
    if (!this.response.write(chunk)) controller.pause();
  }

  onResponseEnd() {
    const tail = this.#tail.subarray(-TAIL_BYTES).toString('latin1');
    const usageAt = tail.lastIndexOf(`${USAGE_KEY}{`);
    if (usageAt !== -1) addUsage(readObject(tail, usageAt + USAGE_KEY.length));
    this.response.end();
  }

  onResponseError() {
    failed(this.response);
  }
}

function abortWithCaller(controller, response) {
  response.once('close', () => {
    if (!response.writableFinished) controller.abort(new Error('The caller disconnected.'));
  });
}

/** Parses the JSON object that begins at `start`; no string in a usage contains a brace. */
function readObject(text, start) {
  let depth = 0;
  for (let index = start; index < text.length; index++) {
    if (text[index] === '{') depth++;
    else if (text[index] === '}' && --depth === 0) return JSON.parse(text.slice(start, index + 1));
  }
  throw new Error('An object is not closed.');
}

function addUsage(usage) {
  used.requests++;
  used.promptTokens += usage.prompt_tokens ?? usage.input_tokens;
  used.completionTokens += usage.completion_tokens ?? usage.output_tokens;
}

function failed(response) {
  if (response.headersSent) response.destroy();
  else sendJson(response, 502, { error: { message: 'The upstream failed.', code: 502 } });
}

function sendJson(response, status, value) {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

function sha256(text) {
  return hash('sha256', text, 'hex');
}
