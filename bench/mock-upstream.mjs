/**
 * Mock vendors on loopback in a separate process: three dialects by path, with generated responses.
 * Streams are written event by event: as fast as the socket accepts them, one every 50 ms when the
 * model's name begins with `paced`, or one every 500 ms with `slow`.
 */
import http from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { PacedWriter } from './paced-writer.mjs';
import { listen, readBody } from './serving.mjs';
import { chatVendor } from './vendors/chat-vendor.mjs';
import { messagesVendor } from './vendors/messages-vendor.mjs';
import { responsesVendor } from './vendors/responses-vendor.mjs';

const VENDORS = new Map([
  ['/v1/chat/completions', chatVendor],
  ['/v1/messages', messagesVendor],
  ['/v1/responses', responsesVendor],
]);

const paced = new PacedWriter(50);
const slow = new PacedWriter(500);

const server = http.createServer((request, response) => {
  answer(request, response).catch(() => response.destroy());
});
// Longer than any pause of a run: closing a connection here would look like a proxy failure.
server.keepAliveTimeout = 300_000;
await listen(server);

async function answer(request, response) {
  const body = JSON.parse(await readBody(request));
  const vendor = VENDORS.get(request.url);
  const call = vendor.readCall(body);
  if (body.stream !== true) return sendWhole(vendor.wholeAnswer(call), response);

  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  const events = vendor.events(call);
  if (body.model.startsWith('slow')) slow.add(events, response);
  else if (body.model.startsWith('paced')) paced.add(events, response);
  else await writeFast(events, response);
}

function sendWhole(answer, response) {
  const bytes = Buffer.from(JSON.stringify(answer));
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length });
  response.end(bytes);
}

/** Yields to the event loop between events: Node would combine those of one turn into one write. */
async function writeFast(events, response) {
  for (const event of events) {
    if (response.destroyed) return;
    const isTaken = response.write(event);
    if (isTaken) await nextTurn();
    else await new Promise((resolve) => response.once('drain', resolve).once('close', resolve));
  }
  response.end();
}
