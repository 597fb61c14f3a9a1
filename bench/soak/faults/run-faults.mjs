import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Books } from '../books.mjs';
import { Callers } from './callers.mjs';
import { makePlan } from './plan.mjs';
import { judge, judgeUnknown } from './verdicts.mjs';
import { FaultEnvironment } from './fault-environment.mjs';

const USAGE = `npm run test:faults -- [options]
  --seed N       determines what happens when; a failing run prints its seed (random)
  --requests N   number of requests (2000)
  --faults N     number of faults that hit requests or processes (200)
  --seconds N    over which both are spread (90)
  --tenants N    (50)
  --gateways N   instances (3)
  --workers N    1, or 0 to leave background work to the gateways (1)
  --settle N     seconds to wait in the end for holds of killed processes; 0 leaves them to the sweep (60)
  --keep         keeps the logs in a folder and prints its name`;

const POLL_MS = 250;
/** Without a heartbeat for this long, a process's holds are released by the sweep. */
const DEAD_AFTER_SECONDS = 7;
/** A background response of a killed worker is restarted by another one after a while. */
const LEAST_SETTLE_SECONDS = 60;
const TOLD = 20;

function readOptions(words) {
  const number = { type: 'string' };
  const { values } = parseArgs({
    args: words,
    options: {
      seed: number,
      requests: number,
      faults: number,
      seconds: number,
      tenants: number,
      gateways: number,
      workers: number,
      settle: number,
      keep: { type: 'boolean' },
    },
  });
  const read = (name, otherwise) => {
    const value = Number(values[name] ?? otherwise);
    if (!(value >= 0)) throw new TypeError(`--${name} must be a number.`);
    return value;
  };
  return {
    seed: read('seed', Math.floor(Math.random() * 1e9)),
    requests: read('requests', 2_000),
    faults: read('faults', 200),
    seconds: read('seconds', 90),
    tenants: read('tenants', 50),
    gateways: read('gateways', 3),
    workers: read('workers', 1),
    settleSeconds: read('settle', 60),
    keepsLogs: values.keep === true,
  };
}

/** @returns the exit status */
export async function runFaults(words, say) {
  let options;
  try {
    options = readOptions(words);
  } catch (error) {
    say(`${error.message}\n\n${USAGE}`);
    return 1;
  }
  const folder = mkdtempSync(join(tmpdir(), 'gateway-faults-'));
  const world = new FaultEnvironment(folder);
  let stopping;
  const stopAll = () =>
    (stopping ??= world.stop().finally(() => {
      if (!options.keepsLogs) rmSync(folder, { recursive: true, force: true });
    }));
  const leave = () => stopAll().finally(() => process.exit(1));
  process.once('exit', () => world.killAll());
  process.once('SIGINT', leave);
  process.once('SIGTERM', leave);
  try {
    return await run(world, options, say);
  } finally {
    await stopAll();
    if (options.keepsLogs) say(`The logs are in ${folder}`);
  }
}

async function run(world, options, say) {
  const { seed, seconds, settleSeconds } = options;
  const plan = makePlan(options);
  await world.start(options);
  say(`Everything runs; seed ${seed}`);
  const callers = new Callers(world.gateways, world.keys);
  await Promise.all([
    callers.send(plan.calls, seconds),
    ...plan.lanes.map((lane) => runLane(world, lane, say)),
  ]);
  world.setClocksRight();
  await Promise.all(world.gateways.map(untilReady));
  const openHolds = await untilSettled(world, callers, settleSeconds);

  const books = new Books(world.postgres.url);
  const { violations, unwritten } = await findViolations(world, callers, books);
  if (openHolds > 0) violations.push(`${openHolds} holds of living processes are open`);
  violations.push(...world.deaths, ...(await books.findImbalances()).faults);
  await callers.close();
  report({ options, plan, callers, world, violations, unwritten });
  return violations.length === 0 ? 0 : 1;
}

async function runLane(world, { lane, faults }, say) {
  const startedMs = Date.now();
  for (const fault of faults) {
    await wait(Math.max(0, startedMs + fault.atSeconds * 1_000 - Date.now()));
    await world.hit(fault).catch((error) => {
      throw new Error(`${lane}: ${fault.kind} went wrong`, { cause: error });
    });
    say(`${((Date.now() - startedMs) / 1_000).toFixed(1)} s: ${fault.kind} is over`);
  }
}

async function untilReady({ url, name }) {
  const limitMs = Date.now() + 60_000;
  while (
    !(await fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (Date.now() > limitMs) throw new Error(`${name} is not ready a minute after the last fault`);
    await wait(POLL_MS);
  }
}

/** @returns the number of open holds that no process will release */
async function untilSettled(world, callers, settleSeconds) {
  const limitMs = Date.now() + Math.max(settleSeconds, LEAST_SETTLE_SECONDS) * 1_000;
  for (;;) {
    const [{ alive, dead }] = await world.postgres.query(
      `SELECT count(*) FILTER (WHERE heartbeat_at > now() - interval '${DEAD_AFTER_SECONDS} s')::int AS alive,
              count(*) FILTER (WHERE heartbeat_at <= now() - interval '${DEAD_AFTER_SECONDS} s'
                OR heartbeat_at IS NULL)::int AS dead
         FROM holds LEFT JOIN instances ON instances.id = instance_id`,
    );
    const going = await callers.findEndings();
    const waitsForSweep = settleSeconds > 0 && dead > 0;
    if (alive + going === 0 && !waitsForSweep) return 0;
    if (Date.now() > limitMs) return settleSeconds > 0 ? alive + dead : alive;
    await wait(POLL_MS);
  }
}

async function findViolations(world, callers, books) {
  const rows = await books.query(
    `SELECT request_id, tenants.name AS tenant, model, outcome, usage_source, cost, shortfall
       FROM request_logs JOIN tenants ON tenants.id = tenant_id`,
  );
  const violations = [];
  const byId = new Map();
  for (const row of rows) {
    if (byId.has(row.request_id)) violations.push(`${row.request_id} is in the log twice`);
    byId.set(row.request_id, row);
  }
  const twice = await books.query(
    `SELECT request_id, count(*) AS charges FROM ledger_entries WHERE kind = 'charge'
      GROUP BY request_id HAVING count(*) > 1`,
  );
  violations.push(...twice.map((row) => `${row.request_id} was charged ${row.charges} times`));

  const killsByName = new Map(world.gateways.map(({ name, killedAtMs }) => [name, killedAtMs]));
  const history = { killsOf: (name) => killsByName.get(name), outages: world.outages };
  const unwritten = [];
  const groupOf = (tenant, model) => `${tenant} ${model}`;
  const withoutId = new Map();
  for (const seen of callers.seen) {
    if (seen.requestId === undefined) {
      if (seen.verdict === 'wrong') violations.push(judge(seen, undefined, history).violation);
      const key = groupOf(`tenant ${seen.tenant}`, seen.alias);
      withoutId.set(key, [...(withoutId.get(key) ?? []), seen]);
      continue;
    }
    const row = byId.get(seen.requestId);
    byId.delete(seen.requestId);
    const { violation, unwritten: isUnwritten } = judge(seen, row, history);
    if (violation) violations.push(violation);
    if (isUnwritten) unwritten.push(seen);
  }
  const unknown = new Map();
  for (const row of byId.values()) {
    const key = groupOf(row.tenant, row.model);
    unknown.set(key, [...(unknown.get(key) ?? []), row]);
  }
  for (const [key, group] of unknown) {
    violations.push(...judgeUnknown(group, withoutId.get(key) ?? []));
  }
  return { violations, unwritten };
}

function report({ options, plan, callers, world, violations, unwritten }) {
  const processFaults = plan.lanes.flatMap(({ faults }) => faults.map(({ kind }) => kind));
  const requestFaults = plan.calls.flatMap(({ kind, trouble }) =>
    trouble ? [`vendor ${trouble}`] : kind.startsWith('leaves-') ? [`caller ${kind}`] : [],
  );
  const kills = world.gateways.reduce((sum, { killedAtMs }) => sum + killedAtMs.length, 0);
  const all = [...processFaults, ...requestFaults];
  console.log(`requests: ${plan.calls.length} of ${options.tenants} tenants`);
  const seen = callers.seen.map(({ verdict, status }) =>
    verdict === 'background' ? `background ${status}` : verdict,
  );
  const refusals = callers.seen.filter(({ verdict }) => verdict === 'refused');
  console.log(`  ${tally(seen)}, found no gateway ${callers.unsent}`);
  console.log(`  refused with: ${tally(refusals.map(({ fault }) => statusIn(fault)))}`);
  console.log(`faults: ${all.length}, gateways killed ${kills} times`);
  console.log(`  ${tally(all)}`);
  if (unwritten.length > 0) {
    console.log(
      `charges lost as documented, because the process was killed during a database outage: ${unwritten.length}`,
    );
  }
  console.log(`violations: ${violations.length}`);
  for (const violation of violations.slice(0, TOLD)) console.log(`  ${violation}`);
  const { seed, requests, faults, seconds, tenants, gateways, workers } = options;
  if (violations.length > 0) {
    const words = Object.entries({ seed, requests, faults, seconds, tenants, gateways, workers });
    const again = words.map(([name, value]) => `--${name} ${value}`).join(' ');
    console.log(`To repeat this run: npm run test:faults -- ${again}`);
  }
}

/** Extracts the error, e.g. `503 provider_error`, from a caller's fault. */
function statusIn(fault) {
  const type = /"type": ?"(\w+)"/.exec(fault)?.[1] ?? '';
  return `${/\d{3}/.exec(fault)?.[0] ?? 'no status'} ${type}`.trim();
}

function tally(words) {
  const counts = new Map();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  const sorted = [...counts].sort(([one], [other]) => one.localeCompare(other));
  return sorted.map(([word, count]) => `${word} ${count}`).join(', ');
}
