import { atLeast, atMost } from '../table.mjs';
import { ask } from './callers.mjs';
import { CREDITS_PER_MINUTE, MAX_TOKENS, priceOf } from './models.mjs';
import { makeBody, PROMPT_TOKENS } from './prompts.mjs';

const WORDS = 200;
const CONTEXT = 200_000;
const DEAREST = priceOf({ input: CONTEXT, made: MAX_TOKENS });
/** Minimum charge for the real output. */
const LEAST = Math.floor(0.9 * priceOf({ input: PROMPT_TOKENS, made: WORDS }));
const RECORDING_SECONDS = 10;
const SAMPLE_RATE = 16_000;

/** Checks claims of vendors and files for plausibility. */
export const figuresAttack = {
  id: 'figures',
  before: {
    'charge for 1e12 output tokens, chat': '2293',
    'charge for 1e7 output tokens, chat': '100000175',
    'charge for 1e12 input tokens, chat': '2293',
    'charge for 1e12 output tokens, messages': '2293',
    'charge where the usage is negative': '2293',
    'charge where the output tokens are missing': '175',
    'charge for a recording whose header claims a huge byte rate': '1',
    "the neighbour's p99": '26 ms',
    'the process': 'lives',
  },
  async run(stronghold) {
    const chat = (usage) => costOf(stronghold, 'chat', usage);
    const [huge, large, hugeInput, hugeMessage, negative, missing, recording] = await Promise.all([
      chat({ prompt_tokens: 70, completion_tokens: 1e12, total_tokens: 1e12 }),
      chat({ prompt_tokens: 70, completion_tokens: 1e7, total_tokens: 1e7 + 70 }),
      chat({ prompt_tokens: 1e12, completion_tokens: WORDS, total_tokens: 1e12 }),
      costOf(stronghold, 'messages', { input_tokens: 70, output_tokens: 1e12 }),
      chat({ prompt_tokens: -1e6, completion_tokens: -1e6, total_tokens: -2e6 }),
      chat({ prompt_tokens: 70 }),
      costOfRecording(stronghold),
    ]);
    return [
      atMost('charge for 1e12 output tokens, chat', huge, DEAREST),
      atMost('charge for 1e7 output tokens, chat', large, DEAREST),
      atMost('charge for 1e12 input tokens, chat', hugeInput, DEAREST),
      atMost('charge for 1e12 output tokens, messages', hugeMessage, DEAREST),
      atLeast('charge where the usage is negative', negative, LEAST),
      atLeast('charge where the output tokens are missing', missing, LEAST),
      atLeast(
        'charge for a recording whose header claims a huge byte rate',
        recording,
        Math.floor((0.9 * RECORDING_SECONDS * CREDITS_PER_MINUTE) / 60),
      ),
    ];
  },
};

/** Returns the cost of a response with this claimed usage; NaN without an invoice. */
async function costOf(stronghold, dialect, usage) {
  const model = dialect === 'messages' ? 'bench-messages/liar' : 'bench/liar';
  const plan = { text: WORDS, usage: JSON.stringify(usage) };
  const body = makeBody(dialect, { model, plan, stream: true });
  const { requestId } = await ask(stronghold, { dialect, body });
  const row = await stronghold.logRow('request_id = $1', [requestId]);
  return row === undefined ? NaN : row.cost + row.shortfall;
}

async function costOfRecording(stronghold) {
  const head = (text) => `--b\r\ncontent-disposition: form-data; ${text}\r\n\r\n`;
  const body = Buffer.concat([
    Buffer.from(head('name="model"') + 'bench/hear\r\n'),
    Buffer.from(head('name="file"; filename="a.wav"')),
    forgedRecording(),
    Buffer.from('\r\n--b--\r\n'),
  ]);
  const { headers } = await stronghold.call('/v1/audio/transcriptions', {
    body,
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
  });
  return (await stronghold.logRow('request_id = $1', [headers['x-request-id']]))?.cost ?? NaN;
}

/** Ten seconds of silence whose header claims almost no length. */
function forgedRecording() {
  const bytes = RECORDING_SECONDS * SAMPLE_RATE * 2;
  const file = Buffer.alloc(44 + bytes);
  file.write('RIFF', 0);
  file.writeUInt32LE(36 + bytes, 4);
  file.write('WAVEfmt ', 8);
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(1, 22);
  file.writeUInt32LE(SAMPLE_RATE, 24);
  file.writeUInt32LE(0xffff_ffff, 28);
  file.writeUInt16LE(2, 32);
  file.writeUInt16LE(16, 34);
  file.write('data', 36);
  file.writeUInt32LE(bytes, 40);
  return file;
}
