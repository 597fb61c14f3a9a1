import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { request } from 'undici';
import { BUILT_SERVICE } from '../scripts/ensure-built.mjs';
import { PROJECT_ROOT } from '../scripts/project-root.mjs';
import { PRICING } from './answers.mjs';
import { gatewayEnvironment } from './gateway-home.mjs';
import { addGuardrail } from './guardrail.mjs';
import { InvoiceCheck } from './invoice-check.mjs';
import { startServer } from './server-process.mjs';
import { PROVIDERS } from './workloads.mjs';

const SERVICE = join(PROJECT_ROOT, BUILT_SERVICE);

/**
 * The built service with everything on, as operators run it: embedded PostgreSQL, ledger, request log,
 * one guardrail, rate limit and access log. It uses a separate folder inside `folder`.
 *
 * @param nodeOptions Node options before the program
 * @param command a program that runs Node, if any
 */
export async function startGatewayTarget(options) {
  const { servers, folder, nodeOptions = [], command, startLimitMs } = options;
  const home = makeHome(folder);
  const { apiKey, environment } = benchEnvironment(home, options);
  const server = await startServer([...nodeOptions, SERVICE], {
    servers,
    logFile: join(home, 'gateway.log'),
    environment,
    command,
    startLimitMs,
  });
  await addGuardrail(server.url, apiKey);
  const check = new InvoiceCheck(server.url, apiKey);
  return {
    name: 'gateway',
    origin: server.url,
    apiKey,
    server,
    /** Responses include their cost. */
    bills: true,
    modelInAnswer: ({ alias }) => alias,
    recordAnswer: (alias, reader) => check.expect(alias, reader),
    beginRow: () => check.begin(),
    findBillingFaults: (alias) => check.findFaults(alias),
  };
}

/**
 * Starts the built service three times in sequence and stops it each time.
 *
 * @returns milliseconds until `/readyz` succeeds: `firstMs` with an empty data folder, `embeddedMs`
 *   with a used one, `atHandMs` with that folder's database as an external one
 */
export async function measureStarts({ servers, folder, ...options }) {
  const home = makeHome(folder);
  const { environment, dataDirectory } = benchEnvironment(home, { servers, folder, ...options });
  const start = async (further) => {
    const startedMs = performance.now();
    const server = await startServer([SERVICE], {
      servers,
      logFile: join(home, `start-${servers.length}.log`),
      environment: { ...environment, ...further },
    });
    await untilReady(server.url);
    const takenMs = performance.now() - startedMs;
    await server.stop();
    return takenMs;
  };
  const firstMs = await start({});
  const embeddedMs = await start({});
  const { startEmbeddedPostgres } =
    await import('../dist/src/platform/database/embedded-postgres.js');
  const postgres = await startEmbeddedPostgres({ dataDirectory });
  try {
    return {
      firstMs,
      embeddedMs,
      atHandMs: await start({
        DATABASE_URL: postgres.url,
        GATEWAY_SECRET_FILE: join(dataDirectory, 'secret'),
      }),
    };
  } finally {
    await postgres.stop();
  }
}

function makeHome(folder) {
  const home = join(folder, 'gateway');
  mkdirSync(home);
  // As root, the service runs PostgreSQL as another user, who needs access to the folder.
  chmodSync(folder, 0o711);
  return home;
}

function benchEnvironment(home, { upstreamUrl, models, environment }) {
  return gatewayEnvironment({
    folder: home,
    keyPrefix: 'sk-bench-',
    providers: [
      {
        id: PROVIDERS.openai,
        name: 'Bench',
        base_url: `${upstreamUrl}/v1`,
        settings: { responses: 'true' },
      },
      {
        id: PROVIDERS.anthropic,
        name: 'Bench, messages',
        adapter: 'anthropic',
        type: 'anthropic',
        base_url: upstreamUrl,
      },
    ],
    models: models.map((id) => ({ id, pricing: PRICING })),
    further: environment,
  });
}

async function untilReady(url) {
  for (;;) {
    const { statusCode, body } = await request(`${url}/readyz`);
    await body.dump();
    if (statusCode === 200) return;
    await wait(10);
  }
}
