import { Logger } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BROKEN_TEXTS, DISTINCT_TEXTS } from '../../../../test/support/broken-texts.js';
import { chatRequest } from '../../../../test/support/chat-requests.js';
import { generate, SSE } from '../../../../test/support/openai-adapter-calls.js';
import { finish, start, World, type Script } from '../../../../test/support/routing-environment.js';
import { SeededRandom } from '../../../../test/support/seeded-random.js';
import type { CanonicalEvent } from '../../../canonical/canonical-event.js';
import { NO_USAGE } from '../../../canonical/usage.js';
import type { UpstreamCall } from '../../../vendors/upstream.js';
import { UpstreamError } from '../../../vendors/upstream-error.js';
import { cutTail } from './cut-tail.js';
import { RecoveringAnswer } from './recovering-answer.js';

const STREAMS = 200;
const ASKED = { stream: true, recovery: 'continue' };

/**
 * Builds a continuation from a vendor; `soFar` is the text that the reader has, `said` the text
 * that the vendor was given.
 */
interface Situation {
  whole: string;
  soFar: string;
  said: string;
  tail: string;
  random: SeededRandom;
}

const FAITHFUL: Record<string, (situation: Situation) => string> = {
  continues: ({ whole, said }) => whole.slice(said.length),
  'omits white space': ({ whole, said }) => whole.slice(said.length).trimStart(),
  'starts over': ({ whole }) => whole,
  'starts earlier': ({ whole, said, random }) => whole.slice(random.below(said.length + 1)),
  'changes white space': ({ whole, soFar, tail }) => respaced(tail) + whole.slice(soFar.length),
};

const UNFAITHFUL: Record<string, (situation: Situation) => string> = {
  'adds a remark': ({ whole, said }) => `Sure, here's the rest: ${whole.slice(said.length)}`,
  rephrases: ({ whole, soFar, tail }) =>
    `${otherwise(tail)}, so to say${whole.slice(soFar.length)}`,
  'skips text': ({ whole, soFar, random }) => whole.slice(soFar.length + 1 + random.below(20)),
  'is empty': () => '',
  'is another text': ({ whole, random }) =>
    random.pick(DISTINCT_TEXTS.filter((text) => text !== whole)),
  'has a wrong character': ({ whole, soFar, tail }) =>
    `${tail.trim().slice(0, -1)}#${whole.slice(soFar.length)}`,
  'stops early': ({ tail }) => tail.trimEnd().slice(0, -1),
};

describe(`${RecoveringAnswer.name} of ${STREAMS} streams`, () => {
  beforeAll(() => void Logger.overrideLogger(false));
  afterAll(() => void Logger.overrideLogger(['error', 'warn', 'log']));

  it.each(seeds(22_001))('recovers the interrupted text, seed %i', async (seed) => {
    const random = new SeededRandom(seed);
    for (let count = 0; count < STREAMS / 10; count++) {
      const [way, say] = random.pick(Object.entries(FAITHFUL));
      const told = await tell(random.pick(BROKEN_TEXTS), say, random);
      const { whole, soFar, shown, failure, events } = told;
      // The message tells which case failed.
      expect({ way, soFar, shown, failure }).toEqual({
        way,
        soFar,
        shown: whole,
        failure: undefined,
      });
      expect(events.filter(({ type }) => type === 'finish')).toHaveLength(1);
      expect(events.filter(({ type }) => type === 'usage')).toHaveLength(1);
    }
  });

  it.each(seeds(22_101))(
    'fails openly when the continuation does not match, seed %i',
    async (seed) => {
      const random = new SeededRandom(seed);
      for (let count = 0; count < STREAMS / 10; count++) {
        const [way, say] = random.pick(Object.entries(UNFAITHFUL));
        const { soFar, shown, failure, answer } = await tell(
          random.pick(DISTINCT_TEXTS),
          say,
          random,
        );
        // A very short beginning may be a complete answer, which the reader has in full.
        const isWholeAnswer = answer.startsWith(soFar);
        const told = { way, soFar, shown, failure: (failure as { status?: number })?.status };
        expect(told).toEqual({
          ...{ way, soFar },
          ...(isWholeAnswer
            ? { shown: answer, failure: undefined }
            : { shown: soFar, failure: 502 }),
        });
      }
    },
  );
});

/** Ten tests with a seed each, rather than one. */
function seeds(first: number): number[] {
  return Array.from({ length: 10 }, (_, index) => first + index);
}

/** Interrupts one vendor within its bytes and lets another continue. */
async function tell(whole: string, say: (situation: Situation) => string, random: SeededRandom) {
  const broken = await brokenStream(whole, random);
  const soFar = textOf(broken.events ?? []);
  let answer = '';
  const goesOn = ({ request }: UpstreamCall): Script => {
    const turn = request.prompt().messages.find(({ role }) => role === 'assistant');
    const said = turn?.parts.map((part) => (part.type === 'text' ? part.text : '')).join('') ?? '';
    const { tail } = cutTail(soFar);
    expect(said + tail).toBe(soFar);
    answer = say({ whole, soFar, said, tail, random });
    const usage: CanonicalEvent = {
      type: 'usage',
      usage: { ...NO_USAGE, inputTokens: 9, outputTokens: 9 },
    };
    return { events: [start, ...piecesOf(answer, random).map(toText), finish, usage] };
  };
  const world = new World({ openai: [broken], azure: [goesOn, goesOn] });
  if (random.below(2) === 0) world.prefilled = ['azure'];
  const { events, failure } = await world.open(ASKED);
  return { whole, soFar, answer, shown: textOf(events), events, failure };
}

/** Cuts a vendor's bytes anywhere: within a frame, a character or a surrogate pair. */
async function brokenStream(whole: string, random: SeededRandom): Promise<Script> {
  const isEscaped = random.below(3) === 0;
  const frames = piecesOf(whole, random).map((content) => {
    const json = JSON.stringify({
      id: 'x',
      choices: [{ index: 0, delta: { content }, finish_reason: null }],
    });
    return Buffer.from(`data: ${isEscaped ? inAscii(json) : json}\n\n`);
  });
  const bytes = Buffer.concat(frames);
  const cut = frames[0]!.length + random.below(bytes.length - frames[0]!.length + 1);
  const { events } = generate(
    (connection) => {
      connection.answer(200, SSE);
      for (let at = 0; at < cut;) {
        const end = Math.min(cut, at + 1 + random.below(60));
        connection.send(bytes.subarray(at, end));
        at = end;
      }
      connection.end();
    },
    {},
    { request: { ...chatRequest({ stream: true }), decodesAnswer: true } },
  );
  const read: CanonicalEvent[] = [];
  try {
    for await (const event of events) read.push(event);
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    return { events: read, error };
  }
  throw new Error('The stream was not interrupted.');
}

const textOf = (events: readonly CanonicalEvent[]): string =>
  events.map((event) => (event.type === 'text' ? event.text : '')).join('');

const toText = (text: string): CanonicalEvent => ({ type: 'text', choice: 0, text });

/** Splits a text into pieces of a few code units, which may split characters. */
function piecesOf(text: string, random: SeededRandom): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length;) {
    const length = 1 + random.below(9);
    pieces.push(text.slice(at, at + length));
    at += length;
  }
  return pieces;
}

function inAscii(json: string): string {
  return json.replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Reorders the words, or characters. */
function otherwise(text: string): string {
  const words = text.trim().split(' ');
  return (words.length > 1 ? words.reverse() : [...text].reverse()).join(' ');
}

/** Changes the white space between words, except indentation. */
function respaced(text: string): string {
  return text.replace(
    /(?<=\S) (?=\S)/gu,
    (space, at: number) => [space, '  ', '\u00a0', '\n'][at % 4]!,
  );
}
