import { afterAll, describe, expect, it } from '@jest/globals';
import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import { NO_USAGE } from '../../canonical/usage.js';
import { AnswerWithheldError } from '../../platform/errors/gateway-errors.js';
import { toGuardrail, type GuardrailDefinition, type GuardedTextRequest } from './guardrail.js';
import { guardOutput } from './output-guard.js';
import { PatternScanPool } from './pattern-scan.pool.js';
import { TextScanner } from './text-scanner.service.js';

const pool = new PatternScanPool();
const scanner = new TextScanner(pool);
afterAll(() => pool.onApplicationShutdown());

const FINISH: CanonicalEvent = { type: 'finish', choice: 0, reason: 'stop' };
const USAGE: CanonicalEvent = { type: 'usage', usage: NO_USAGE };
const text = (piece: string, choice = 0): CanonicalEvent => ({ type: 'text', choice, text: piece });

interface Outcome {
  events: CanonicalEvent[];
  failure: unknown;
  noted: number;
  withheldCharacters: number;
  /** Characters received when the first was passed on. */
  comeAtFirst: number;
}

async function run(
  pieces: readonly CanonicalEvent[],
  { pattern = 'forbidden', action = 'block', streamed = true, fails = false, leaves = false } = {},
): Promise<Outcome> {
  const guardrail = toGuardrail({
    id: 'g',
    name: 'n',
    action,
    rules: [{ type: 'regex', pattern }],
    patternSizes: [20],
    appliesTo: ['output'],
  } as unknown as GuardrailDefinition);
  const request = {
    streamed,
    withheldCharacters: 0,
    callerGone: { aborted: false },
  } as GuardedTextRequest;
  const outcome: Outcome = {
    events: [],
    failure: undefined,
    noted: 0,
    withheldCharacters: 0,
    comeAtFirst: 0,
  };
  let come = 0;
  async function* source(): AsyncGenerator<CanonicalEvent> {
    for (const piece of pieces) {
      if ('text' in piece) come += piece.text.length;
      yield piece;
    }
    if (fails) throw new Error('cut');
  }
  const note = (): void => void outcome.noted++;
  const options = { request, guardrails: [guardrail], scanner, param: 'messages', note };
  try {
    for await (const event of guardOutput(source(), options)) {
      if (leaves && event.type === 'text' && event.text === '!') break;
      if (event.type === 'text') outcome.comeAtFirst ||= come;
      outcome.events.push(event);
    }
  } catch (error) {
    outcome.failure = error;
  }
  outcome.withheldCharacters = request.withheldCharacters;
  return outcome;
}

const textOf = ({ events }: Outcome): string =>
  events.map((event) => (event.type === 'text' ? event.text : '')).join('');
const filler = (count: number): CanonicalEvent[] =>
  Array.from({ length: count }, () => text('0123456789'));

describe(guardOutput.name, () => {
  it('passes a harmless stream on in order, 1,000 characters late', async () => {
    const pieces = [...filler(300), FINISH, USAGE];
    const outcome = await run(pieces);
    expect(outcome.events.filter(({ type }) => type !== 'usage')).toEqual(pieces.slice(0, -1));
    expect(outcome).toMatchObject({ failure: undefined, noted: 0, withheldCharacters: 0 });
    expect(outcome.comeAtFirst).toBeGreaterThanOrEqual(1_010);
    expect(outcome.comeAtFirst).toBeLessThanOrEqual(1_500);
  });

  it.each([0, 50, 99, 100, 101, 124, 125, 126, 300])(
    'releases no part of a match that arrives in pieces after %d characters',
    async (before) => {
      const word = [...'forbidden'].map((letter) => text(letter));
      const outcome = await run([...filler(before), ...word, ...filler(200), FINISH, USAGE]);
      expect(outcome.failure).toBeInstanceOf(AnswerWithheldError);
      expect(textOf(outcome)).toMatch(/^\d*$/);
      expect(outcome.events.at(-1)).toEqual(USAGE);
      expect(outcome.noted).toBe(1);
      const passed = textOf(outcome).length;
      expect(outcome.withheldCharacters).toBe(before * 10 + 9 + 2_000 - passed);
    },
  );

  it.each([900, 1_000])('holds a match of %d characters back', async (length) => {
    const pattern = `<[^>]{${length - 2}}>`;
    const match = [...`<${'x'.repeat(length - 2)}>`].map((letter) => text(letter));
    const outcome = await run([...filler(150), ...match, ...filler(150), FINISH], { pattern });
    expect(outcome.failure).toBeInstanceOf(AnswerWithheldError);
    expect(textOf(outcome)).not.toContain('<');
  });

  it('finds a longer match at the end only', async () => {
    const outcome = await run([text('<'), ...filler(300), text('>'), FINISH], {
      pattern: '<[0-9]+>',
    });
    expect(outcome.failure).toBeInstanceOf(AnswerWithheldError);
    expect(outcome.events).not.toContainEqual(FINISH);
  });

  it('does not mistake the end of a piece for the end of a word or text', async () => {
    for (const pattern of ['\\bclass\\b', 'class$', '^class']) {
      const pieces = [...filler(124), text(' class'), text('ification '), ...filler(300), FINISH];
      expect((await run(pieces, { pattern })).failure).toBeUndefined();
    }
  });

  it('holds a whole answer back until it is scanned', async () => {
    const outcome = await run([...filler(300), text('forbidden'), FINISH], { streamed: false });
    expect(outcome.failure).toBeInstanceOf(AnswerWithheldError);
    expect(outcome.events).toEqual([]);
  });

  it('scans choices separately', async () => {
    const pieces = [text('forb', 0), text('idden', 1), text('!', 0), FINISH];
    expect((await run(pieces)).failure).toBeUndefined();
    const second = [text('forb', 1), text('x', 0), text('idden', 1), FINISH];
    expect((await run(second)).failure).toBeInstanceOf(AnswerWithheldError);
  });

  it('adds no delay for a guardrail that only logs', async () => {
    const outcome = await run([text('forbidden'), ...filler(10), FINISH], { action: 'log' });
    expect(outcome).toMatchObject({ failure: undefined, noted: 1, comeAtFirst: 9 });
    expect(outcome.events).toHaveLength(12);
  });

  it.each([
    ['that is interrupted', { fails: true }],
    ['whose caller disconnects', { leaves: true }],
  ])('lets a logging guardrail scan the visible part of an answer %s', async (_, end) => {
    const pieces = [text('for'), text('bidden'), text('!')];
    expect(await run(pieces, { action: 'log', ...end })).toMatchObject({ noted: 1 });
  });

  it('records nothing for an interrupted whole answer, which no one has seen', async () => {
    const outcome = await run([text('forbidden')], { action: 'log', streamed: false, fails: true });
    expect(outcome.noted).toBe(0);
  });

  it('charges a withheld answer even if its vendor fails afterwards', async () => {
    const pieces = [text('forbidden'), ...filler(200)];
    expect((await run(pieces, { fails: true })).failure).toBeInstanceOf(AnswerWithheldError);
    expect((await run(filler(10), { fails: true })).failure).toEqual(new Error('cut'));
  });

  it('releases no bytes that it cannot scan', async () => {
    const relay = { type: 'relay', dialect: 'chat', bytes: Buffer.from('forbidden') };
    const outcome = await run([relay as CanonicalEvent, FINISH]);
    expect(outcome.failure).toMatchObject({ status: 500 });
    expect(outcome.events).toEqual([]);
  });
});
