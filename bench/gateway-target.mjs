import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BUILT_SERVICE } from '../scripts/ensure-built.mjs';
import { PROJECT_ROOT } from '../scripts/project-root.mjs';
import { PRICING } from './answers.mjs';
import { addGuardrail } from './guardrail.mjs';
import { InvoiceCheck } from './invoice-check.mjs';
import { startServer } from './server-process.mjs';
import { PROVIDERS } from './workloads.mjs';

const CREDITS = 1_000_000_000_000;
/** The most that a key can have, and more than any run needs. */
const RATE_LIMIT_PER_MINUTE = 1_000_000;

/**
 * The built service as an operator runs it, everything on: embedded PostgreSQL, ledger, request
 * log, one guardrail, rate limit, access log. It lives in a folder of its own inside `folder`.
 */
export async function startGatewayTarget({ servers, folder, upstreamUrl, models, inspect }) {
  const home = join(folder, 'gateway');
  mkdirSync(home);
  // As root the service runs PostgreSQL as another user, who has to pass through.
  chmodSync(folder, 0o711);
  chmodSync(home, 0o711);
  const apiKey = `sk-bench-${randomBytes(16).toString('hex')}`;
  const environment = {
    PATH: process.env.PATH ?? '',
    HOST: '127.0.0.1',
    PORT: '0',
    GATEWAY_DATA_DIR: join(home, 'data'),
    GATEWAY_BOOTSTRAP_API_KEY: apiKey,
    GATEWAY_BOOTSTRAP_CREDITS: String(CREDITS),
    GATEWAY_BOOTSTRAP_RATE_LIMIT_PER_MINUTE: String(RATE_LIMIT_PER_MINUTE),
    GATEWAY_PROVIDERS: writeJson(home, 'providers.json', [
      {
        id: PROVIDERS.openai,
        name: 'Bench',
        base_url: `${upstreamUrl}/v1`,
        api_key_env: 'UPSTREAM_KEY',
        settings: { responses: 'true' },
      },
      {
        id: PROVIDERS.anthropic,
        name: 'Bench, messages',
        adapter: 'anthropic',
        type: 'anthropic',
        base_url: upstreamUrl,
        api_key_env: 'UPSTREAM_KEY',
      },
    ]),
    GATEWAY_CATALOGUE: writeJson(home, 'catalogue.json', {
      models: models.map((id) => ({ id, pricing: PRICING })),
    }),
    UPSTREAM_KEY: 'upstream-key',
  };
  mkdirSync(environment.GATEWAY_DATA_DIR);
  chmodSync(environment.GATEWAY_DATA_DIR, 0o711);

  const options = inspect ? ['--inspect=127.0.0.1:0'] : [];
  const server = await startServer([...options, join(PROJECT_ROOT, BUILT_SERVICE)], {
    servers,
    logFile: join(home, 'gateway.log'),
    environment,
  });
  await addGuardrail(server.url, apiKey);
  const check = new InvoiceCheck(server.url, apiKey);
  return {
    name: 'gateway',
    origin: server.url,
    apiKey,
    server,
    /** Answers carry their cost. */
    bills: true,
    modelInAnswer: ({ alias }) => alias,
    recordAnswer: (alias, reader) => check.expect(alias, reader),
    beginRow: () => check.begin(),
    findBillingFaults: (alias) => check.findFaults(alias),
  };
}

function writeJson(folder, name, value) {
  const file = join(folder, name);
  writeFileSync(file, JSON.stringify(value));
  return file;
}
