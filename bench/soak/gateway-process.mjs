import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { addGuardrail } from '../guardrail.mjs';
import { BUILT_SERVICE } from '../../scripts/ensure-built.mjs';
import { PROJECT_ROOT } from '../../scripts/project-root.mjs';
import { PRICING } from '../answers.mjs';
import { PROVIDERS } from '../workloads.mjs';
import { Books } from './books.mjs';

const CREDITS = 1_000_000_000_000;
const RATE_LIMIT_PER_MINUTE = 1_000_000;
const START_LIMIT_MS = 60_000;
/** The gateway itself cuts what still runs after 30 s, and then has a few seconds to end. */
const STOP_LIMIT_MS = 45_000;
const POLL_MS = 50;

/** A row of the catalogue. Without routes it has one: the model of the same name at `bench`. */
export function modelRow(model, routes) {
  return { id: `${PROVIDERS.openai}/${model}`, pricing: PRICING, ...(routes && { routes }) };
}

/**
 * The built service as an operator runs it, everything on, with an inspector and with an embedded
 * PostgreSQL in `folder`. Unlike the bench's it may have several providers, and tells how it ended.
 */
export async function startGateway({ servers, folder, providers, models, environment: further }) {
  const dataDirectory = join(folder, 'data');
  mkdirSync(dataDirectory);
  chmodSync(dataDirectory, 0o711);
  const apiKey = `sk-soak-${randomBytes(16).toString('hex')}`;
  const environment = {
    PATH: process.env.PATH ?? '',
    HOST: '127.0.0.1',
    PORT: '0',
    GATEWAY_DATA_DIR: dataDirectory,
    GATEWAY_BOOTSTRAP_API_KEY: apiKey,
    GATEWAY_BOOTSTRAP_CREDITS: String(CREDITS),
    GATEWAY_BOOTSTRAP_RATE_LIMIT_PER_MINUTE: String(RATE_LIMIT_PER_MINUTE),
    GATEWAY_PROVIDERS: writeJson(folder, 'providers.json', providerEntries(providers)),
    GATEWAY_CATALOGUE: writeJson(folder, 'catalogue.json', {
      models: [...models, modelRow('warm-up'), modelRow('warm-up-stream')],
    }),
    UPSTREAM_KEY: 'upstream-key',
    ...further,
  };
  const logFile = join(folder, 'gateway.log');
  const log = openSync(logFile, 'a');
  const child = spawn(
    process.execPath,
    ['--inspect=127.0.0.1:0', join(PROJECT_ROOT, BUILT_SERVICE)],
    { env: environment, stdio: ['ignore', log, log] },
  );
  closeSync(log);
  const exited = once(child, 'exit').then(([code, signal]) => ({ code, signal }));
  const printed = () => readFileSync(logFile, 'utf8');
  servers.push({ stop: () => stop(child, exited) });

  const url = await findUrl(child, printed);
  await addGuardrail(url, apiKey);
  const books = new Books(dataDirectory);
  return {
    pid: child.pid,
    dataDirectory,
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

function providerEntries(providers) {
  return Object.entries(providers).map(([id, url]) => ({
    id,
    name: id,
    base_url: `${url}/v1`,
    api_key_env: 'UPSTREAM_KEY',
  }));
}

async function findUrl(child, printed) {
  const limitMs = Date.now() + START_LIMIT_MS;
  for (;;) {
    const url = /listens on (\S+)/.exec(printed())?.[1];
    if (url !== undefined) return url;
    if (hasEnded(child) || Date.now() > limitMs) {
      throw new Error(`The gateway did not start:\n${printed()}`);
    }
    await wait(POLL_MS);
  }
}

async function stop(child, exited) {
  if (hasEnded(child)) return;
  child.kill('SIGTERM');
  const force = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
  await exited;
  clearTimeout(force);
}

function hasEnded(child) {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Failing vendors are warnings; an error is the gateway's own. */
function isError(line) {
  return /^\{"level":"(?:error|fatal)"/.test(line);
}

function writeJson(folder, name, value) {
  const file = join(folder, name);
  writeFileSync(file, JSON.stringify(value));
  return file;
}
