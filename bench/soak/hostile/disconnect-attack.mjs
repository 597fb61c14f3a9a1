import { ask } from './callers.mjs';
import { makeBody, PAPER_TOKENS, PICTURE_TOKENS, PROMPT_TOKENS } from './prompts.mjs';
import { shareLine } from './share-line.mjs';
import { countWords } from './words.mjs';

const PACE = { pace: 200 };

/** Exit points: the vendor's plan, and what the caller has seen when it disconnects. */
const FIRST = { plan: { ...PACE, text: 2_000 }, leaveWhen: (text) => countWords(text) > 0 };
const MIDDLE = { plan: { ...PACE, text: 1_400 }, leaveWhen: afterTokens(400) };
const NEAR = { plan: { ...PACE, text: 500 }, leaveWhen: afterTokens(420) };
const LAST = { plan: { ...PACE, text: 400, pause: 300 }, leaveWhen: afterTokens(400) };
const SLOW_END = { plan: { ...PACE, text: 400, pause: 6_000 }, leaveWhen: afterTokens(400) };
const FINISH = { ...LAST, leaveWhen: (text) => /"stop"|"end_turn"|output_text.done/.test(text) };
const REASONING = {
  model: 'reasoner',
  plan: { pace: 5_000, reasoning: 20_000, text: 12_000 },
  leaveWhen: FIRST.leaveWhen,
};
const LONG_PROMPT = 'The minutes of that meeting were read in the old library by us. '.repeat(
  3_400,
);

const POINTS = [
  ['first text', FIRST],
  ['middle, the vendor goes on', MIDDLE],
  ['middle, the end is near', NEAR],
  ['last text', LAST],
  ['last text, the usage is late', SLOW_END],
  ['finish reason', FINISH],
];

const CASES = [
  ...POINTS.flatMap(([name, point]) =>
    ['chat', 'messages', 'responses'].map((dialect) => ({
      name: `${dialect}: ${name}`,
      dialect,
      ...point,
    })),
  ),
  { name: 'chat: after 20,000 hidden reasoning tokens', ...REASONING },
  { name: 'responses: after 20,000 hidden reasoning tokens', dialect: 'responses', ...REASONING },
  ...['chinese', 'hindi', 'emoji'].map((script) => ({
    name: `chat: ${script} text`,
    ...MIDDLE,
    plan: { ...MIDDLE.plan, script },
    leaveWhen: afterEvents(90),
  })),
  ...['chat', 'messages'].flatMap((dialect) => [
    {
      name: `${dialect}: a picture in the prompt`,
      dialect,
      ...FIRST,
      plan: { ...FIRST.plan, in: PROMPT_TOKENS + PICTURE_TOKENS },
      attach: 'picture',
    },
    {
      name: `${dialect}: a PDF in the prompt`,
      dialect,
      ...FIRST,
      plan: { ...FIRST.plan, in: PROMPT_TOKENS + PAPER_TOKENS },
      attach: 'paper',
    },
  ]),
  {
    name: 'messages: message_start with 50,000 input tokens',
    dialect: 'messages',
    ...FIRST,
    plan: { ...FIRST.plan, in: 50_000 },
    prompt: LONG_PROMPT,
  },
  {
    name: 'chat: a whole answer, the vendor goes on',
    model: 'whole-far',
    plan: { ...PACE, text: 2_000 },
    leaveAfterMs: 2_000,
  },
  {
    name: 'chat: a whole answer, the end is near',
    model: 'whole-near',
    plan: { ...PACE, text: 600 },
    leaveAfterMs: 2_000,
  },
];

/** Disconnected callers pay for what the vendor had generated, by its own count, when its connection closed. */
export const leaversAttack = {
  id: 'leavers',
  before: {
    'chat: first text': '0.95',
    'messages: first text': '0.89',
    'responses: first text': '0.94',
    'chat: middle, the vendor goes on': '1.04',
    'messages: middle, the vendor goes on': '1.04',
    'responses: middle, the vendor goes on': '1.05',
    'chat: middle, the end is near': '1.05',
    'messages: middle, the end is near': '1.05',
    'responses: middle, the end is near': '1.05',
    'chat: last text': '1.05',
    'messages: last text': '1.05',
    'responses: last text': '1.05',
    'chat: last text, the usage is late': '1.05',
    'messages: last text, the usage is late': '1.05',
    'responses: last text, the usage is late': '1.05',
    'chat: finish reason': '1.05',
    'messages: finish reason': '1.00',
    'responses: finish reason': '1.05',
    'chat: after 20,000 hidden reasoning tokens': '0.03',
    'responses: after 20,000 hidden reasoning tokens': '0.04',
    'chat: chinese text': '0.28',
    'chat: hindi text': '1.14',
    'chat: emoji text': '0.28',
    'chat: a picture in the prompt': '0.28',
    'chat: a PDF in the prompt': '0.10',
    'messages: a picture in the prompt': '0.32',
    'messages: a PDF in the prompt': '0.11',
    'messages: message_start with 50,000 input tokens': '1.09',
    'chat: a whole answer, the vendor goes on': '0.04',
    'chat: a whole answer, the end is near': '0.05',
    "the neighbour's p99": '99 ms',
    'the process': 'lives',
  },
  run: (stronghold) => Promise.all(CASES.map((one, index) => leave(stronghold, one, index))),
};

async function leave(stronghold, one, index) {
  const { name, dialect = 'chat', plan, leaveWhen, leaveAfterMs, attach, prompt } = one;
  const provider = dialect === 'messages' ? 'bench-messages' : 'bench';
  const id = `leaver-${index}`;
  const body = makeBody(dialect, {
    model: `${provider}/${one.model ?? 'writer'}`,
    plan: { id, ...plan },
    stream: leaveWhen !== undefined,
    attach,
    prompt,
  });
  const askedAt = new Date();
  const seen = await ask(stronghold, { dialect, body, leaveWhen, leaveAfterMs });
  const row =
    seen.requestId === undefined
      ? await stronghold.logRow('model = $1 AND created_at >= $2', [body.model, askedAt])
      : await stronghold.logRow('request_id = $1', [seen.requestId]);
  return shareLine(name, { seen, row, call: await stronghold.vendorCall(id) });
}

function afterTokens(tokens) {
  return (text) => countWords(text) >= tokens;
}

function afterEvents(events) {
  return (text) => text.split('\n\n').length > events;
}
