import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Driver } from '../driver.mjs';
import { streamedChat } from '../workloads.mjs';
import { readConnections } from './connections.mjs';
import { modelRow } from './gateway-process.mjs';
import { atMost, none, seconds } from './table.mjs';

const STREAMS = 30;
const MODEL = 'paced-frozen';
const CHUNKS = 60;
const DRAIN_SECONDS = 5;
const STOP_LIMIT_SECONDS = DRAIN_SECONDS + 10;
const BEGIN_LIMIT_MS = 30_000;

/** Freezes PostgreSQL while streams run, then stops the service: every stream must be charged. */
export async function runFrozen(soak) {
  const vendor = await soak.startVendor();
  const gateway = await soak.startGateway({
    providers: { bench: vendor.url },
    models: [modelRow(MODEL)],
    environment: { GATEWAY_DRAIN_SECONDS: String(DRAIN_SECONDS) },
  });
  await soak.warmUp(gateway);
  const driver = new Driver(gateway.target, streamedChat(MODEL, CHUNKS), { connections: STREAMS });
  const answers = driver.parallelStreams({ streams: STREAMS, rampMs: 100 });
  const limitMs = Date.now() + BEGIN_LIMIT_MS;
  while (readConnections(gateway).counts.vendors < STREAMS && Date.now() < limitMs) await wait(50);
  for (const pid of postgresOf(gateway)) process.kill(pid, 'SIGSTOP');
  await answers;

  process.kill(gateway.pid, 'SIGTERM');
  const stoppedAtMs = Date.now();
  const { code } = await gateway.exited;
  const pastSeconds = (Date.now() - stoppedAtMs) / 1000;
  const journals = journalsOf(gateway);
  const told = gateway
    .printed()
    .split('\n')
    .filter((line) => /^\d+ settlements could/.test(line));
  await soak.startService(gateway.environment);
  const failures = await soak.finish([driver]);
  const { faults, holds } = await gateway.books.findFaults();
  soak.addFaults(...faults.slice(0, 5));
  return {
    lines: [
      none(`of ${STREAMS} streams cut or wrong`, failures),
      atMost('the process ended after', pastSeconds, STOP_LIMIT_SECONDS, seconds),
      { what: 'exit status', figure: String(code), bound: '1', isMet: code === 1 },
      { what: 'its output', figure: told.join(' '), bound: 'one line', isMet: told.length === 1 },
      { what: 'journals', figure: String(journals), bound: '1', isMet: journals === 1 },
      none('journals after the next start', journalsOf(gateway)),
      none(`of ${gateway.books.size} invoices: wrong, missing or too many`, faults.length),
      none('open holds', holds),
    ],
  };
}

function journalsOf({ dataDirectory }) {
  const folder = join(dataDirectory, 'settlements');
  if (!existsSync(folder)) return 0;
  return readdirSync(folder).filter((name) => name.endsWith('.jsonl')).length;
}

/** Returns the server and its children. */
function postgresOf({ dataDirectory }) {
  const file = join(dataDirectory, 'postgres/cluster/postmaster.pid');
  const [first] = readFileSync(file, 'utf8').split('\n');
  const children = readFileSync(`/proc/${first}/task/${first}/children`, 'utf8');
  return [first, ...children.trim().split(/\s+/)].filter(Boolean).map(Number);
}
