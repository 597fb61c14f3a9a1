import { parseArgs } from 'node:util';
import { ATTACKS } from './hostile/attacks.mjs';
import { SCENARIOS } from './scenarios.mjs';

export const USAGE = `npm run soak -- [options]
  --only a,b       only these scenarios: ${SCENARIOS.map(({ id }) => id).join(', ')}
  --attacks a,b    only these attacks of \`hostile\`: ${ATTACKS.map(({ id }) => id).join(', ')}
  --balancer DIR   for \`rolling\`: where HAProxy's Debian packages were unpacked (else it is in PATH)
  --minutes N      how long \`mixed\` lasts (10)
  --json FILE      write all figures to a file`;

/** Vendors' idle connections close after 10 s, and so do those to the database. */
const SHORTEST_REST_SECONDS = 15;
/** The thread that counts tokens for disconnected callers exits a minute after its last use. */
const REST_SECONDS = 75;

/** @throws TypeError for unknown options */
export function readOptions(words) {
  const { values } = parseArgs({
    args: words,
    options: {
      only: { type: 'string' },
      attacks: { type: 'string' },
      minutes: { type: 'string' },
      balancer: { type: 'string' },
      json: { type: 'string' },
      // Undocumented: shortens every load, to check that the scenarios still work.
      seconds: { type: 'string' },
    },
  });
  return {
    scenarios: choose('scenario', SCENARIOS, values.only),
    settings: {
      ...chooseTimes(
        readNumber('--minutes', values.minutes ?? '10'),
        values.seconds === undefined ? undefined : readNumber('--seconds', values.seconds),
      ),
      attacks: choose('attack', ATTACKS, values.attacks),
      balancer: values.balancer,
    },
    jsonFile: values.json,
  };
}

function chooseTimes(minutes, seconds) {
  return {
    /** Between the warm-up and the baseline of memory and connections. */
    settleSeconds: SHORTEST_REST_SECONDS,
    restSeconds: Math.max(SHORTEST_REST_SECONDS, seconds ?? REST_SECONDS),
    streamSeconds: seconds ?? 60,
    phaseSeconds: seconds ?? 20,
    drainedStreamSeconds: seconds ?? 10,
    mixedSeconds: seconds ?? minutes * 60,
  };
}

function readNumber(option, text) {
  const value = Number(text);
  if (!(value > 0)) throw new TypeError(`${option} must be a number above 0.`);
  return value;
}

/** Returns the named entries of a list in its order, or all if none is named. */
function choose(kind, all, list) {
  if (list === undefined) return all;
  const wanted = list.split(',').map((id) => id.trim());
  for (const id of wanted) {
    if (!all.some((one) => one.id === id)) throw new TypeError(`There is no ${kind} ${id}.`);
  }
  return all.filter(({ id }) => wanted.includes(id));
}
