import { parseArgs } from 'node:util';
import { ROWS } from './rows.mjs';

export const USAGE = `npm run bench -- [options]
  --quick          fewer and shorter rounds: about 2 minutes
  --long           more and longer rounds, slow streams for 60 s: about 16 minutes
  --rows a,b       only these rows: ${ROWS.map(({ id }) => id).join(', ')}
  --json FILE      write every round's figures to a file
  --record         keep the figures in bench/history/
  --compare        say what is worse than the newest of bench/history/, and then end with status 1
  --against NAME   the same with a file, or one of bench/history/ that has this in its name
  --profile DIR    write CPU profiles of both servers, taken after each row's rounds`;

/**
 * How long each part takes, in milliseconds. V8 compiles what it has seen often enough, so warming
 * up ends after `warmUpRequests`, or the time beside it; `limitMs` ends a run that hangs.
 */
const SETTINGS = {
  quick: {
    rounds: 3,
    warmUpRequests: 8_000,
    warmUpMs: 4_000,
    briefWarmUpMs: 1_000,
    quietMs: 8_000,
    coldRounds: 1,
    coldMs: 5_000,
    startRounds: 1,
    roundMs: 700,
    latencyWarmUpMs: 600,
    latencyRoundMs: 800,
    pacedMs: 12_000,
    yardstickPacedMs: 3_000,
    limitMs: 300_000,
  },
  usual: {
    rounds: 5,
    warmUpRequests: 10_000,
    warmUpMs: 8_000,
    briefWarmUpMs: 3_000,
    quietMs: 30_000,
    coldRounds: 2,
    coldMs: 10_000,
    startRounds: 3,
    roundMs: 3_000,
    latencyWarmUpMs: 3_000,
    latencyRoundMs: 3_000,
    pacedMs: 20_000,
    yardstickPacedMs: 20_000,
    limitMs: 720_000,
  },
  long: {
    rounds: 7,
    warmUpRequests: 10_000,
    warmUpMs: 8_000,
    briefWarmUpMs: 3_000,
    quietMs: 30_000,
    coldRounds: 3,
    coldMs: 10_000,
    startRounds: 5,
    roundMs: 4_000,
    latencyWarmUpMs: 3_000,
    latencyRoundMs: 5_000,
    pacedMs: 60_000,
    yardstickPacedMs: 60_000,
    limitMs: 1_200_000,
  },
};

/** @throws TypeError for words that mean nothing here */
export function readOptions(words) {
  const { values } = parseArgs({
    args: words,
    options: {
      quick: { type: 'boolean', default: false },
      long: { type: 'boolean', default: false },
      rows: { type: 'string' },
      json: { type: 'string' },
      record: { type: 'boolean', default: false },
      compare: { type: 'boolean', default: false },
      against: { type: 'string' },
      profile: { type: 'string' },
    },
  });
  if (values.quick && values.long) throw new TypeError('Choose --quick or --long.');
  const mode = values.quick ? 'quick' : values.long ? 'long' : 'usual';
  return {
    mode,
    settings: { ...SETTINGS[mode], profileMs: 5_000 },
    rows: chooseRows(values.rows),
    jsonFile: values.json,
    isRecorded: values.record,
    isCompared: values.compare || values.against !== undefined,
    against: values.against,
    profileFolder: values.profile,
  };
}

function chooseRows(list) {
  if (list === undefined) return ROWS.filter(({ isExtra }) => !isExtra);
  const wanted = list.split(',').map((id) => id.trim());
  for (const id of wanted) {
    if (!ROWS.some((row) => row.id === id)) throw new TypeError(`There is no row ${id}.`);
  }
  return ROWS.filter(({ id }) => wanted.includes(id));
}
