import { join } from 'node:path';
import { BUILT_SERVICE } from '../../scripts/ensure-built.mjs';
import { PROJECT_ROOT } from '../../scripts/project-root.mjs';
import { PRICING } from '../answers.mjs';
import { gatewayEnvironment } from '../gateway-home.mjs';
import { addGuardrail } from '../guardrail.mjs';
import { startServer } from '../server-process.mjs';
import { PROVIDERS } from '../workloads.mjs';
import { Books } from './books.mjs';

/** The gateway cuts running requests after 30 s and then has a few seconds to exit. */
const STOP_LIMIT_MS = 45_000;

/** A row of the catalogue. By default its only route is the model of the same name at `bench`. */
export function modelRow(model, routes) {
  return { id: `${PROVIDERS.openai}/${model}`, pricing: PRICING, ...(routes && { routes }) };
}

/**
 * Starts the built service with everything on, as operators run it, with an inspector and an embedded
 * PostgreSQL in `folder`. Unlike the bench's, it can have several providers and reports how it exited.
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
    /** For a restart. */
    environment,
    printed,
    url,
    port: Number(new URL(url).port),
    inspectorUrl: /ws:\/\/\S+/.exec(printed())[0],
    vendorPorts: Object.values(providers).map((provider) => Number(new URL(provider).port)),
    books,
    /** Target of the bench's drivers. */
    target: {
      name: 'soak',
      origin: url,
      apiKey,
      bills: true,
      modelInAnswer: ({ alias }) => alias,
      recordAnswer: (alias, reader) => books.expectAnswer(alias, reader),
    },
    /** Resolves to the exit code or signal once the process has exited. */
    exited,
    findLoggedErrors: () => printed().split('\n').filter(isError),
  };
}

/** Starts only the process. */
export function startService({ servers, logFile, environment }) {
  return startServer(['--inspect=127.0.0.1:0', join(PROJECT_ROOT, BUILT_SERVICE)], {
    servers,
    logFile,
    environment,
    stopLimitMs: STOP_LIMIT_MS,
  });
}

/** Failing vendors are logged as warnings; errors are the gateway's own. */
function isError(line) {
  return /^\{"level":"(?:error|fatal)"/.test(line);
}
