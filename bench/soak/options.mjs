import { parseArgs } from 'node:util';
import { SCENARIOS } from './scenarios.mjs';

export const USAGE = `npm run soak -- [options]
  --only a,b       only these scenarios: ${SCENARIOS.map(({ id }) => id).join(', ')}
  --minutes N      how long \`mixed\` lasts (10)
  --json FILE      write all figures to a file`;

/** Vendors' idle connections close after 10 s, and so do those to the database. */
const SHORTEST_REST_SECONDS = 15;

/** @throws TypeError for words that mean nothing here */
export function readOptions(words) {
  const { values } = parseArgs({
    args: words,
    options: {
      only: { type: 'string' },
      minutes: { type: 'string' },
      json: { type: 'string' },
      // Not in the usage text: shortens every load, to see whether the scenarios still work.
      seconds: { type: 'string' },
    },
  });
  return {
    scenarios: chooseScenarios(values.only),
    settings: chooseTimes(
      readNumber('--minutes', values.minutes ?? '10'),
      values.seconds === undefined ? undefined : readNumber('--seconds', values.seconds),
    ),
    jsonFile: values.json,
  };
}

function chooseTimes(minutes, seconds) {
  return {
    /** Between the warm-up and the look at memory and connections that is compared with later. */
    settleSeconds: SHORTEST_REST_SECONDS,
    restSeconds: Math.max(SHORTEST_REST_SECONDS, seconds ?? 60),
    streamSeconds: seconds ?? 60,
    phaseSeconds: seconds ?? 20,
    drainedStreamSeconds: seconds ?? 10,
    mixedSeconds: seconds ?? minutes * 60,
  };
}

function readNumber(option, text) {
  const value = Number(text);
  if (!(value > 0)) throw new TypeError(`${option} wants a number above 0.`);
  return value;
}

function chooseScenarios(list) {
  if (list === undefined) return SCENARIOS;
  const wanted = list.split(',').map((id) => id.trim());
  for (const id of wanted) {
    if (!SCENARIOS.some((scenario) => scenario.id === id)) {
      throw new TypeError(`There is no scenario ${id}.`);
    }
  }
  return SCENARIOS.filter(({ id }) => wanted.includes(id));
}
