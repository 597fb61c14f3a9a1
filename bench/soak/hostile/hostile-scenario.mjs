import { setTimeout as wait } from 'node:timers/promises';
import { megabytes } from '../../lines.mjs';
import { readMemory, watchMemory } from '../memory.mjs';
import { atMost, milliseconds, none, seconds, told } from '../table.mjs';
import { ask } from './callers.mjs';
import { makeBody } from './prompts.mjs';
import { Stronghold } from './target-gateway.mjs';

const QUIET_MS = 6_000;
const NEIGHBOURS_WARM_UP_MS = 2_000;
/** The neighbour counts as undisturbed below three times its quiet p99, to allow for noise. */
const PEACE_FACTOR = 3;
const PEACE_FLOOR_MS = 25;
const MEMORY_EVERY_MS = 200;
/** Shorter attacks would end before the neighbour has sent enough requests. */
const LEAST_ATTACK_MS = 6_000;
/** Pause between attacks, so that work left by one is not attributed to the next. */
const REST_MS = 500;
const STOP_SECONDS = 10;

/** Attackers, one after the other, next to a well-behaved tenant. */
export async function runHostile(soak) {
  const stronghold = new Stronghold(soak);
  await stronghold.start();
  await warmUp(stronghold);
  const lines = [];
  for (const attack of soak.settings.attacks) {
    soak.say(`  ${attack.id} …`);
    const startedMs = Date.now();
    for (const line of await runAttack(soak, stronghold, attack)) {
      const what = `${attack.id}: ${line.what}`;
      lines.push({ ...line, what, before: attack.before[line.what] });
    }
    soak.say(`  ${attack.id}: ${((Date.now() - startedMs) / 1000).toFixed(0)} s`);
    await wait(REST_MS);
  }
  return { lines: [...lines, ...(await checkBooks(soak, stronghold))] };
}

async function runAttack(soak, stronghold, attack) {
  await attack.prepare?.(stronghold);
  await warmUpNeighbour(stronghold, attack.neighbour);
  const quiet = await measureQuiet(stronghold, attack.neighbour);
  if (quiet.failures > 0) soak.addFaults(`${attack.id}: the neighbour was not served when quiet`);
  const atRest = readMemory(stronghold);
  const neighbour = attack.isQuiet ? undefined : stronghold.beginNeighbour(attack.neighbour);
  const watch = watchMemory(stronghold, MEMORY_EVERY_MS);
  let lines;
  try {
    [lines] = await Promise.all([
      stronghold.fromElsewhere(() => attack.run(stronghold)),
      wait(LEAST_ATTACK_MS),
    ]);
  } catch (error) {
    // The other attacks can still run; an exited process is reported below.
    if (!stronghold.hasEnded) soak.addFaults(`${attack.id} aborted: ${error.stack}`);
    lines = [];
  }
  const during = await neighbour?.end();
  const peak = Math.max(...watch.stop().map(({ bytes }) => bytes));
  const end = await stronghold.recover();
  if (end) await warmUp(stronghold);
  await attack.cleanUp?.(stronghold);
  return [
    ...lines,
    ...(during ? [attack.isLeftToProxy ? latencyLine(during) : peaceLine(quiet, during)] : []),
    {
      what: 'the process',
      figure: `${end ?? 'lives'} (${megabytes(atRest)} before, ${megabytes(peak)} at most)`,
      bound: 'lives',
      isMet: end === undefined,
    },
  ];
}

/** Excludes slow first requests, as after a restart, from both the attack's and the quiet figures. */
async function warmUpNeighbour(stronghold, body) {
  const neighbour = stronghold.beginNeighbour(body);
  await wait(NEIGHBOURS_WARM_UP_MS);
  await neighbour.end();
}

async function measureQuiet(stronghold, body) {
  const neighbour = stronghold.beginNeighbour(body);
  await wait(QUIET_MS);
  return neighbour.end();
}

function peaceLine(quiet, { p99Ms, asked, failures }) {
  const limitMs = Math.max(PEACE_FACTOR * quiet.p99Ms, quiet.p99Ms + PEACE_FLOOR_MS);
  const lost = failures > 0 ? `, ${failures} of ${asked} lost` : '';
  return {
    what: "the neighbour's p99",
    figure: `${milliseconds(p99Ms)}${lost}`,
    bound: `< ${milliseconds(limitMs)} (${milliseconds(quiet.p99Ms)} when quiet), none lost`,
    isMet: p99Ms < limitMs && failures === 0,
  };
}

/** Has no bound, because a reverse proxy keeps such floods away (SECURITY.md). */
function latencyLine({ p99Ms }) {
  return told("the neighbour's p99 (left to the proxy)", milliseconds(p99Ms));
}

/** Reads complete responses, from which the gateway measures the speed of each route. */
async function warmUp(stronghold) {
  // Long enough to average out the noise of the machine.
  const written = { text: 600, pace: 200 };
  const plans = [
    ['chat', 'bench/writer', written],
    ['responses', 'bench/writer', written],
    ['messages', 'bench-messages/writer', written],
    ['chat', 'bench/reasoner', { reasoning: 14_900, text: 100, pace: 5_000 }],
    ['chat', 'bench/timed', { text: 300, pace: 200 }],
    ['chat', 'bench/torrent', { text: 400_000, pace: 400_000 }],
    ['chat', 'bench/whole-near', written],
    ['chat', 'bench/whole-far', written],
  ];
  await Promise.all(
    plans.map(async ([dialect, model, plan]) => {
      const stream = !model.includes('whole');
      const body = makeBody(dialect, { model, plan, stream });
      await Promise.all([1, 2, 3].map(() => ask(stronghold, { dialect, body })));
    }),
  );
}

/** Checks the ledger after all attacks. */
async function checkBooks(soak, stronghold) {
  const { faults, holds } = await stronghold.findImbalances();
  soak.addFaults(...faults);
  const [{ twice }] = await stronghold.query(
    `SELECT count(*) AS twice FROM (
       SELECT request_id FROM ledger_entries WHERE kind = 'charge'
       GROUP BY request_id HAVING count(*) > 1
     ) AS repeated`,
  );
  const [{ short }] = await stronghold.query(
    `SELECT count(*) AS short FROM ledger_entries WHERE kind = 'shortfall'`,
  );
  return [
    none('in the end: statements of docs/ledger.md that do not hold', faults.length),
    none('in the end: open holds', holds),
    none('in the end: requests charged twice', twice),
    told('in the end: shortfall entries', short),
    none('in the end: times the process ended or fell silent', stronghold.deaths),
    told('in the end: memory', megabytes(readMemory(stronghold))),
    // No request is running, so the drain limit does not matter.
    atMost('in the end: a graceful stop takes', await stronghold.stop(), STOP_SECONDS, seconds),
  ];
}
