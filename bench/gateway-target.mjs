import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { BUILT_SERVICE } from '../scripts/ensure-built.mjs';
import { PROJECT_ROOT } from '../scripts/project-root.mjs';
import { PRICING } from './answers.mjs';
import { gatewayEnvironment } from './gateway-home.mjs';
import { addGuardrail } from './guardrail.mjs';
import { InvoiceCheck } from './invoice-check.mjs';
import { startServer } from './server-process.mjs';
import { PROVIDERS } from './workloads.mjs';

/**
 * The built service as an operator runs it, everything on: embedded PostgreSQL, ledger, request
 * log, one guardrail, rate limit, access log. It lives in a folder of its own inside `folder`.
 */
export async function startGatewayTarget({ servers, folder, upstreamUrl, models, inspect }) {
  const home = join(folder, 'gateway');
  mkdirSync(home);
  // As root the service runs PostgreSQL as another user, who has to pass through.
  chmodSync(folder, 0o711);
  const { apiKey, environment } = gatewayEnvironment({
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
  });

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
