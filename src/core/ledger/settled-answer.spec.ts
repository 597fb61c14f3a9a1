import { describe, expect, it, jest } from '@jest/globals';
import type { CanonicalEvent, SettledEvent } from '../../canonical/canonical-event.js';
import { NO_USAGE } from '../../canonical/usage.js';
import { SlowReaderError } from '../../platform/errors/gateway-errors.js';
import { SettledAnswer, type CloseAnswer } from './settled-answer.js';

const text = (text: string): CanonicalEvent => ({ type: 'text', choice: 0, text });
const settled: SettledEvent = { type: 'settled', cost: 1, usage: NO_USAGE, usageSource: 'none' };

function settle(events: AsyncIterable<CanonicalEvent>, callerIsGone = false) {
  const close = jest.fn<CloseAnswer>(() => Promise.resolve(settled));
  const observe = jest.fn();
  const answer = new SettledAnswer(events, { observe, close, callerIsGone: () => callerIsGone });
  return { answer, close, observe };
}

async function* eventsOf(...steps: (CanonicalEvent | Error)[]): AsyncGenerator<CanonicalEvent> {
  for (const step of steps) {
    if (step instanceof Error) throw step;
    yield step;
  }
}

describe(SettledAnswer.name, () => {
  it('passes events on and ends with the settlement', async () => {
    const { answer, close, observe } = settle(eventsOf(text('a'), text('b')));
    const events: CanonicalEvent[] = [];
    for await (const event of answer) events.push(event);
    expect(events).toEqual([text('a'), text('b'), settled]);
    expect(observe).toHaveBeenCalledTimes(2);
    expect(close.mock.calls).toEqual([['completed', undefined]]);
  });

  it.each([
    [false, new Error('broke'), 'failed'],
    [true, new Error('broke'), 'cancelled'],
    [false, new SlowReaderError('read slowly'), 'cancelled'],
  ] as const)(
    'settles a failure (caller gone: %s, %s) as %s and passes it on',
    async (gone, failure, outcome) => {
      const { answer, close } = settle(eventsOf(text('a'), failure), gone);
      await answer.next();
      await expect(answer.next()).rejects.toBe(failure);
      expect(close.mock.calls).toEqual([[outcome, failure]]);
      await answer.return();
      expect((await answer.next()).done).toBe(true);
      expect(close).toHaveBeenCalledTimes(1);
    },
  );

  it('settles when its reader leaves, before the first event too', async () => {
    const { answer, close } = settle(eventsOf(text('a'), text('b')));
    for await (const event of answer) {
      expect(event).toEqual(text('a'));
      break;
    }
    expect(close.mock.calls).toEqual([['cancelled', undefined]]);

    const unread = settle(eventsOf(text('a')));
    await unread.answer.return();
    expect(unread.close.mock.calls).toEqual([['cancelled', undefined]]);
  });

  it('settles as failed what cannot be observed, and ends its source', async () => {
    let ended = false;
    async function* events(): AsyncGenerator<CanonicalEvent> {
      try {
        yield* eventsOf(text('a'), text('b'));
      } finally {
        ended = true;
      }
    }
    const { answer, close, observe } = settle(events());
    const defect = new TypeError('a defect');
    observe.mockImplementation(() => {
      throw defect;
    });
    await expect(answer.next()).rejects.toBe(defect);
    expect(close.mock.calls).toEqual([['failed', defect]]);
    expect(ended).toBe(true);
    expect((await answer.next()).done).toBe(true);
  });

  it('settles once when its reader leaves after the end', async () => {
    const { answer, close } = settle(eventsOf());
    expect(await answer.next()).toEqual({ done: false, value: settled });
    await answer.return();
    expect(close).toHaveBeenCalledTimes(1);
  });
});
