import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { megabytes } from '../lines.mjs';
import { PROVIDERS } from '../workloads.mjs';
import { collectGarbage } from './inspector.mjs';
import { inUseLine, readMemory, watchMemory } from './memory.mjs';
import { atMost, none } from './table.mjs';

const UPLOADS = 200;
const AT_ONCE = 8;
const FILE_BYTES = 20_000_000;
const PIECE_BYTES = 64_000;
/** 16,000 samples of two bytes a second. */
const BYTES_PER_SECOND = 32_000;
const HEADER_BYTES = 44;
/** Memory that the first uploads leave (compiled code, pools) does not count as growth. */
const UPLOADS_BEFORE = 24;
const MAX_GROWTH_BYTES = 30e6;
const MODEL = `${PROVIDERS.openai}/uploads`;
const SECONDS = 60;
/** 0.006 USD a minute. */
const PRICING = { audio_minute: '0.006' };
const COST = 6_000;

/** Large concurrent recordings: none may remain in memory or on disk. */
export async function runUploads(soak) {
  const vendor = await startVendor(soak);
  const gateway = await soak.startGateway({
    providers: { [PROVIDERS.openai]: vendor.url },
    models: [{ id: MODEL, kind: 'transcription', pricing: PRICING }],
  });
  let failures = await uploadAll(gateway, UPLOADS_BEFORE);
  await collectGarbage(gateway);
  const before = readMemory(gateway);
  const watch = watchMemory(gateway, 100);
  failures += await uploadAll(gateway, UPLOADS);
  const peak = Math.max(...watch.stop().map(({ bytes }) => bytes));
  const inUse = await collectGarbage(gateway);
  const after = readMemory(gateway);
  if (failures > 0) soak.addFaults(`${failures} uploads were answered wrongly`);
  return {
    lines: [
      none(`of ${UPLOADS} uploads of 20 MB, ${AT_ONCE} at a time, failed`, failures),
      atMost(
        'resident memory gained over them, after a collection',
        after - before,
        MAX_GROWTH_BYTES,
        megabytes,
      ),
      atMost('memory growth to the peak', peak - before, AT_ONCE * FILE_BYTES, megabytes),
      inUseLine('after them', inUse),
      none('files left in the folder of uploads', countFiles(gateway)),
      ...(await soak.checkBooks(gateway)),
    ],
  };
}

/** Accepts a recording and returns a transcript a minute long. */
async function startVendor(soak) {
  const server = http.createServer((request, response) => {
    request.resume().once('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(`{"text":"Hi","usage":{"type":"duration","seconds":${SECONDS}}}`);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  soak.addServer({
    async stop() {
      server.closeAllConnections();
      server.close();
    },
  });
  return { url: `http://127.0.0.1:${server.address().port}` };
}

/** @returns the number of failed uploads */
async function uploadAll(gateway, count) {
  let left = count;
  let failures = 0;
  const work = async () => {
    while (left-- > 0) {
      const answer = await upload(gateway);
      if (answer.status !== 200 || answer.cost !== COST) failures++;
      gateway.books.expect(answer.requestId, {
        model: MODEL,
        outcome: 'completed',
        source: 'upstream',
        cost: COST,
      });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return failures;
}

async function upload({ target }) {
  const request = http.request(`${target.origin}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${target.apiKey}`,
      'content-type': 'multipart/form-data; boundary=b',
    },
  });
  const answered = once(request, 'response');
  const write = async (bytes) => {
    if (!request.write(bytes)) await once(request, 'drain');
  };
  await write('--b\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\n\r\n');
  await write(waveHeader());
  const piece = Buffer.alloc(PIECE_BYTES);
  for (let sent = HEADER_BYTES; sent < FILE_BYTES; sent += PIECE_BYTES) {
    await write(piece.subarray(0, Math.min(PIECE_BYTES, FILE_BYTES - sent)));
  }
  request.end(
    `\r\n--b\r\ncontent-disposition: form-data; name="model"\r\n\r\n${MODEL}\r\n--b--\r\n`,
  );
  const [response] = await answered;
  response.resume();
  await once(response, 'end');
  return {
    status: response.statusCode,
    cost: Number(response.headers['x-gateway-cost']),
    requestId: response.headers['x-request-id'],
  };
}

/** One channel of 16-bit samples. */
function waveHeader() {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write('RIFF', 0);
  header.writeUInt32LE(FILE_BYTES - 8, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(BYTES_PER_SECOND / 2, 24);
  header.writeUInt32LE(BYTES_PER_SECOND, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(FILE_BYTES - HEADER_BYTES, 40);
  return header;
}

function countFiles({ dataDirectory }) {
  const root = join(dataDirectory, 'tmp', 'uploads');
  return readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  ).length;
}
