import { describe, expect, it, jest } from '@jest/globals';
import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import { NO_USAGE } from '../../canonical/usage.js';
import { OpenedAnswer, pullToContent } from './opened-answer.js';

const text = (text: string): CanonicalEvent => ({ type: 'text', choice: 0, text });

function answerOf(held: CanonicalEvent[], ...steps: (CanonicalEvent | Error)[]) {
  const left = jest.fn();
  const complete = jest.fn();
  let nextStep = 0;
  const rest: AsyncIterator<CanonicalEvent> = {
    next() {
      const step = steps[nextStep++];
      if (step instanceof Error) return Promise.reject(step);
      if (!step) return Promise.resolve({ done: true, value: undefined });
      return Promise.resolve({ done: false, value: step });
    },
    return() {
      left();
      return Promise.resolve({ done: true, value: undefined });
    },
  };
  const begin = jest.fn(() =>
    Promise.resolve({
      held,
      rest,
      complete,
      toError: (failure: unknown) => new Error(`told: ${String(failure)}`),
    }),
  );
  return { answer: new OpenedAnswer(begin), begin, left, complete, rest };
}

describe(OpenedAnswer.name, () => {
  it('starts on the first pull and yields the held events, then the others', async () => {
    const { answer, begin, complete } = answerOf([text('a'), text('b')], text('c'));
    expect(begin).not.toHaveBeenCalled();
    const events: CanonicalEvent[] = [];
    for await (const event of answer) events.push(event);
    expect(events).toEqual([text('a'), text('b'), text('c')]);
    expect(begin).toHaveBeenCalledTimes(1);
    expect(complete).toHaveBeenCalledTimes(1);
    expect((await answer.next()).done).toBe(true);
  });

  it('throws the translated failure once', async () => {
    const { answer, complete } = answerOf([text('a')], new Error('broke'));
    await answer.next();
    await expect(answer.next()).rejects.toThrow('told: Error: broke');
    expect(complete).not.toHaveBeenCalled();
    expect((await answer.next()).done).toBe(true);
  });

  it('ends when it cannot start', async () => {
    const answer = new OpenedAnswer(() => Promise.reject(new Error('no route')));
    await expect(answer.next()).rejects.toThrow('no route');
    expect((await answer.next()).done).toBe(true);
  });

  it('stops reading when its reader leaves', async () => {
    const { answer, left } = answerOf([text('a')], text('b'));
    for await (const event of answer) {
      expect(event).toEqual(text('a'));
      break;
    }
    expect(left).toHaveBeenCalledTimes(1);
    expect((await answer.next()).done).toBe(true);
  });

  it('calls no vendor when its reader leaves before the first pull', async () => {
    const { answer, begin } = answerOf([text('a')]);
    await answer.return();
    expect((await answer.next()).done).toBe(true);
    expect(begin).not.toHaveBeenCalled();
  });

  it('cuts an answer longer than any model can write', async () => {
    const part = text('x'.repeat(1024 * 1024));
    const { answer, left, complete } = answerOf([], ...Array.from({ length: 20 }, () => part));
    for (let count = 0; count < 16; count++) await answer.next();
    await expect(answer.next()).rejects.toThrow('more than 16777216 characters');
    expect(left).toHaveBeenCalledTimes(1);
    expect(complete).not.toHaveBeenCalled();
    expect((await answer.next()).done).toBe(true);
  });

  const signature = 'a'.repeat(1024 * 1024);
  const logprobs = { content: [{ token: signature }] };
  it.each<[string, readonly CanonicalEvent[]]>([
    ['tool calls', [{ type: 'tool_call', choice: 0, index: 0, id: 'a', name: 'f' }]],
    ['signatures', [{ type: 'reasoning', choice: 0, text: '', signature }]],
    ['signed calls', [{ type: 'tool_call', choice: 0, index: 0, id: '', name: '', signature }]],
    ['probabilities', [{ type: 'text', choice: 0, text: '', logprobs }]],
    ['texts between thoughts', [text('a'), { type: 'reasoning', choice: 0, text: 'b' }]],
  ])('cuts endless %s', async (_, events) => {
    const { answer } = answerOf([], ...Array.from({ length: 20_000 }, () => events).flat());
    const readAll = async () => {
      for await (const _event of answer);
    };
    await expect(readAll()).rejects.toThrow('more than 16777216 characters');
  });

  it('allows two interleaved choices of different types', async () => {
    const thought: CanonicalEvent = { type: 'reasoning', choice: 1, text: 'b' };
    const pieces = Array.from({ length: 20_000 }, () => [text('a'), thought]).flat();
    const { answer } = answerOf([], ...pieces);
    let count = 0;
    for await (const _event of answer) count++;
    expect(count).toBe(40_000);
  });

  it('yields to other work when thousands of events are ready at once', async () => {
    const { answer } = answerOf([], ...Array.from({ length: 5_000 }, () => text('a')));
    let count = 0;
    let countInTurn: number | undefined;
    setImmediate(() => {
      countInTurn = count;
    });
    while (!(await answer.next()).done) count++;
    expect(count).toBe(5_000);
    expect(countInTurn).toBeLessThan(1_000);
  });
});

describe(pullToContent.name, () => {
  const counted: CanonicalEvent = { type: 'usage', usage: NO_USAGE, isPartial: true };
  const prelude = (bytes: number): CanonicalEvent => ({
    type: 'relay',
    dialect: 'chat',
    bytes: Buffer.alloc(bytes),
    hasContent: false,
    outputCharacters: 0,
  });

  it.each<[string, CanonicalEvent, number]>([
    ['only usage', counted, 1_000],
    ['only preludes', prelude(8), 1_000],
    ['preludes of 8 MB', prelude(8 * 1024 * 1024), 9],
  ])('limits the events it holds for a vendor that sends %s', async (_name, event, count) => {
    const sent = Array.from({ length: 2_000 }, () => event);
    const held: CanonicalEvent[] = [];
    const rest = answerOf([], ...sent, text('a')).rest;
    await pullToContent(rest, held);
    expect(held).toHaveLength(count);
    expect((await rest.next()).value).toEqual(event);
  });
});
