import { describe, expect, it, jest } from '@jest/globals';
import { Canceller } from '../../canonical/cancel-signal.js';
import type { CanonicalEvent, SettledEvent } from '../../canonical/canonical-event.js';
import { NO_USAGE } from '../../canonical/usage.js';
import { RequestTimeError, SlowReaderError } from '../../platform/errors/gateway-errors.js';
import { CallerGoneError } from '../../platform/http/read-body.js';
import { SettledAnswer, type CloseAnswer } from './settled-answer.js';

const text = (text: string): CanonicalEvent => ({ type: 'text', choice: 0, text });
const settled: SettledEvent = { type: 'settled', cost: 1, usage: NO_USAGE, usageSource: 'none' };

function settle(
  events: AsyncIterable<CanonicalEvent>,
  { callerGone = new Canceller(), upstreamCalled = true } = {},
) {
  const close = jest.fn<CloseAnswer>(() => Promise.resolve(settled));
  const observe = jest.fn();
  const closeVendor = jest.fn();
  const endGrace = jest.fn();
  const beginGrace = jest.fn(() => endGrace);
  const request = { callerGone, upstreamCalled, closeVendor };
  const answer = new SettledAnswer(events, { observe, close, beginGrace, request });
  return { answer, close, observe, closeVendor, beginGrace, endGrace };
}

const ended = (outcome: string, failure?: unknown, isWhole = false) => [
  [{ outcome, failure, isWhole }],
];

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
    expect(close.mock.calls).toEqual(ended('completed', undefined, true));
  });

  it.each([
    [new Error('broke'), 'failed'],
    [new SlowReaderError('read slowly'), 'cancelled'],
    [new RequestTimeError('took long'), 'timeout'],
  ] as const)('settles a failure (%s) as %s and passes it on', async (failure, outcome) => {
    const { answer, close } = settle(eventsOf(text('a'), failure));
    await answer.next();
    await expect(answer.next()).rejects.toBe(failure);
    expect(close.mock.calls).toEqual(ended(outcome, failure));
    await answer.return();
    expect((await answer.next()).done).toBe(true);
    expect(close).toHaveBeenCalledTimes(1);
  });

  it('reads on for usage when its reader stops, and settles once', async () => {
    const { answer, close, observe, beginGrace, endGrace } = settle(eventsOf(text('a'), text('b')));
    for await (const event of answer) {
      expect(event).toEqual(text('a'));
      break;
    }
    expect(observe).toHaveBeenCalledTimes(2);
    expect(close.mock.calls).toEqual(ended('cancelled', undefined, true));
    expect([beginGrace.mock.calls.length, endGrace.mock.calls.length]).toEqual([1, 1]);
  });

  it('reads on while its reader waits, and rejects the pending read', async () => {
    const callerGone = new Canceller();
    const { answer, close, observe } = settle(eventsOf(text('a'), text('b')), { callerGone });
    const first = answer.next();
    callerGone.abort();
    await expect(first).rejects.toBeInstanceOf(CallerGoneError);
    expect(observe).toHaveBeenCalledTimes(2);
    expect(close.mock.calls).toEqual(ended('cancelled', undefined, true));
  });

  it('settles once when the vendor fails after the reader stopped', async () => {
    const callerGone = new Canceller();
    const failure = new Error('the grace is over');
    const { answer, close } = settle(eventsOf(text('a'), failure), { callerGone });
    await answer.next();
    callerGone.abort();
    await answer.return();
    expect(close.mock.calls).toEqual(ended('cancelled', failure));
  });

  it('does not read on without a vendor call or on a service stop', async () => {
    const unread = settle(eventsOf(text('a')), { upstreamCalled: false });
    await unread.answer.return();
    expect(unread.beginGrace).not.toHaveBeenCalled();
    expect(unread.close.mock.calls).toEqual(ended('cancelled'));

    const callerGone = Object.assign(new Canceller(), { isServiceStop: true });
    const cut = settle(eventsOf(text('a'), text('b')), { callerGone });
    await cut.answer.next();
    callerGone.abort();
    expect(cut.closeVendor).toHaveBeenCalled();
    await cut.answer.return();
    expect(cut.observe).toHaveBeenCalledTimes(1);
    expect(cut.beginGrace).not.toHaveBeenCalled();
    expect(cut.close.mock.calls).toEqual(ended('cancelled'));
  });

  it('settles an observer error as failed and closes its source', async () => {
    let isEnded = false;
    async function* events(): AsyncGenerator<CanonicalEvent> {
      try {
        yield* eventsOf(text('a'), text('b'));
      } finally {
        isEnded = true;
      }
    }
    const { answer, close, observe } = settle(events());
    const defect = new TypeError('a defect');
    observe.mockImplementation(() => {
      throw defect;
    });
    await expect(answer.next()).rejects.toBe(defect);
    expect(close.mock.calls).toEqual(ended('failed', defect));
    expect(isEnded).toBe(true);
    expect((await answer.next()).done).toBe(true);
  });

  it('settles once when its reader stops after the end', async () => {
    const { answer, close } = settle(eventsOf());
    expect(await answer.next()).toEqual({ done: false, value: settled });
    await answer.return();
    expect(close).toHaveBeenCalledTimes(1);
  });
});
