import { parseArgs } from 'node:util';
import { INSTRUCTION_ROWS } from './instructions/run-instructions.mjs';
import { PEER_ROWS } from './peers/peer-rows.mjs';
import { ROWS } from './rows.mjs';

export const USAGE = `npm run bench -- [options]
  --quick          fewer and shorter rounds: about 2 minutes
  --long           more and longer rounds, slow streams for 60 s: about 16 minutes
  --rows a,b       only these rows: ${ROWS.map(({ id }) => id).join(', ')}
  --json FILE      write every round's figures to a file
  --record         store the figures in bench/history/
  --compare        report what is worse than the newest of bench/history/ and exit with status 1 if anything is
  --against NAME   compare with a file, or one of bench/history/ with this in its name
  --peers          compare with Portkey, LiteLLM and TensorZero, which are installed into ~/.cache;
                   about 20 minutes, with --quick 5. Rows: ${PEER_ROWS.map(({ id }) => id).join(', ')}
  --instructions   count instructions of one request, which other programs disturb little: see docs/performance.md.
                   Rows: ${INSTRUCTION_ROWS.map(({ id }) => id).join(', ')}
  --profile DIR    write CPU profiles of both servers, taken after each row's rounds`;

/**
 * Duration of each part in milliseconds. V8 compiles code it has run often enough, so warm-up ends
 * after `warmUpRequests` or `warmUpMs`; `limitMs` ends a run that hangs.
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
    peerWarmUpMs: 1500,
    peerLongWarmUpMs: 5000,
    peerPacedMs: 5000,
    countedRequests: 200,
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
    peerWarmUpMs: 3000,
    peerLongWarmUpMs: 25000,
    peerPacedMs: 20000,
    countedRequests: 500,
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
    peerWarmUpMs: 3000,
    peerLongWarmUpMs: 25000,
    peerPacedMs: 20000,
    countedRequests: 2000,
    limitMs: 1_200_000,
  },
};

/** @throws TypeError for unknown options */
export function readOptions(words) {
  const { values } = parseArgs({
    args: words,
    options: {
      quick: { type: 'boolean', default: false },
      long: { type: 'boolean', default: false },
      rows: { type: 'string' },
      json: { type: 'string' },
      instructions: { type: 'boolean', default: false },
      peers: { type: 'boolean', default: false },
      record: { type: 'boolean', default: false },
      compare: { type: 'boolean', default: false },
      against: { type: 'string' },
      profile: { type: 'string' },
    },
  });
  if (values.quick && values.long) throw new TypeError('Choose --quick or --long.');
  const isKept = values.record || values.compare || values.against !== undefined;
  if (values.peers && values.instructions) {
    throw new TypeError('Choose --peers or --instructions.');
  }
  if ((values.peers || values.instructions) && isKept) {
    throw new TypeError('Only plain runs can be recorded and compared.');
  }
  const mode = values.quick ? 'quick' : values.long ? 'long' : 'usual';
  const settings = { ...SETTINGS[mode], profileMs: 5_000 };
  if (values.peers || values.instructions) settings.limitMs *= 4;
  const all = values.peers ? PEER_ROWS : values.instructions ? INSTRUCTION_ROWS : ROWS;
  return {
    mode,
    settings,
    rows: chooseRows(values.rows, all),
    withPeers: values.peers,
    countsInstructions: values.instructions,
    jsonFile: values.json,
    isRecorded: values.record,
    isCompared: values.compare || values.against !== undefined,
    against: values.against,
    profileFolder: values.profile,
  };
}

function chooseRows(list, all) {
  if (list === undefined) return all.filter(({ isExtra }) => !isExtra);
  const wanted = list.split(',').map((id) => id.trim());
  for (const id of wanted) {
    if (!all.some((row) => row.id === id)) throw new TypeError(`There is no row ${id}.`);
  }
  return all.filter(({ id }) => wanted.includes(id));
}
