import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import { usageOf } from './answers.mjs';
import { startServer } from './server-process.mjs';

const PROGRAM = fileURLToPath(new URL('./bare-proxy.mjs', import.meta.url));

/** The bare proxy as a target. It bills nothing, but must read every usage correctly. */
export async function startYardstickTarget(options) {
  const { servers, folder, upstreamUrl, nodeOptions = [], command, startLimitMs } = options;
  const apiKey = `sk-bench-${randomBytes(16).toString('hex')}`;
  const server = await startServer([...nodeOptions, PROGRAM, upstreamUrl, apiKey], {
    servers,
    logFile: join(folder, 'yardstick.log'),
    command,
    startLimitMs,
  });
  const expected = { requests: 0, promptTokens: 0, completionTokens: 0 };
  return {
    name: 'yardstick',
    origin: server.url,
    apiKey,
    server,
    bills: false,
    /** It passes the upstream's bytes through, including the upstream's model name. */
    modelInAnswer: ({ model }) => `${model}-2026-01-31`,
    recordAnswer(_alias, reader) {
      const usage = usageOf(reader.request.user);
      expected.requests++;
      expected.promptTokens += usage.promptTokens;
      expected.completionTokens += usage.completionTokens;
    },
    async beginRow() {},
    async findBillingFaults() {
      const answer = await request(`${server.url}/usage`);
      const read = await answer.body.json();
      return JSON.stringify(read) === JSON.stringify(expected)
        ? []
        : [`the yardstick read ${JSON.stringify(read)}, not ${JSON.stringify(expected)}`];
    },
  };
}
