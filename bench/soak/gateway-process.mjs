import { join } from 'node:path';
import { BUILT_SERVICE } from '../../scripts/ensure-built.mjs';
import { PROJECT_ROOT } from '../../scripts/project-root.mjs';
import { PRICING } from '../answers.mjs';
import { gatewayEnvironment } from '../gateway-home.mjs';
import { addGuardrail } from '../guardrail.mjs';
import { startServer } from '../server-process.mjs';
import { PROVIDERS } from '../workloads.mjs';
import { Books } from './books.mjs';

/** The gateway itself cuts what still runs after 30 s, and then has a few seconds to end. */
const STOP_LIMIT_MS = 45_000;

/** A row of the catalogue. Without routes it has one: the model of the same name at `bench`. */
export function modelRow(model, routes) {
  return { id: `${PROVIDERS.openai}/${model}`, pricing: PRICING, ...(routes && { routes }) };
}

/**
 * The built service as an operator runs it, everything on, with an inspector and with an embedded
 * PostgreSQL in `folder`. Unlike the bench's it may have several providers, and tells how it ended.
 */
export async function startGateway({ servers, folder, providers, models, environment: further }) {
  const { apiKey, dataDirectory, environment } = gatewayEnvironment({
    folder,
    keyPrefix: 'sk-soak-',
    providers: Object.entries(providers).map(([id, url]) => ({
      id,
      name: id,
      base_url: `${url}/v1`,
    })),
    models: [...models, modelRow('warm-up'), modelRow('warm-up-stream')],
    further,
  });
  const logFile = join(folder, 'gateway.log');
  const server = await startService({ servers, logFile, environment });
  const { pid, url, printed, exited } = server;
  await addGuardrail(url, apiKey);
  const books = new Books(dataDirectory);
  return {
    pid,
    dataDirectory,
    /** To start it once more. */
    environment,
    printed,
    url,
    port: Number(new URL(url).port),
    inspectorUrl: /ws:\/\/\S+/.exec(printed())[0],
    vendorPorts: Object.values(providers).map((provider) => Number(new URL(provider).port)),
    books,
    /** What the bench's drivers send to. */
    target: {
      name: 'soak',
      origin: url,
      apiKey,
      bills: true,
      modelInAnswer: ({ alias }) => alias,
      recordAnswer: (alias, reader) => books.expectAnswer(alias, reader),
    },
    /** Resolves to the exit code or the signal once the process has ended. */
    exited,
    findLoggedErrors: () => printed().split('\n').filter(isError),
  };
}

/** The process alone. */
export function startService({ servers, logFile, environment }) {
  return startServer(['--inspect=127.0.0.1:0', join(PROJECT_ROOT, BUILT_SERVICE)], {
    servers,
    logFile,
    environment,
    stopLimitMs: STOP_LIMIT_MS,
  });
}

/** Failing vendors are warnings; an error is the gateway's own. */
function isError(line) {
  return /^\{"level":"(?:error|fatal)"/.test(line);
}
