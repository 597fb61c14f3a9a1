import { describe, expect, it } from '@jest/globals';
import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import { VendorAnswer, type AnswerEvents } from './vendor-answer.js';

const EVENTS: CanonicalEvent[] = [{ type: 'start' }, { type: 'finish', choice: 0, reason: 'stop' }];
const describeAs = (text: string) => () => new Error(text);

describe(VendorAnswer.name, () => {
  it('calls the vendor once, at the first pull', async () => {
    let asked = 0;
    const answer = new VendorAnswer(() => {
      asked++;
      return Promise.resolve(EVENTS);
    }, describeAs('no'));
    await Promise.resolve();
    expect(asked).toBe(0);
    expect(await all(answer)).toEqual(EVENTS);
    expect(await answer.next()).toEqual({ done: true, value: undefined });
    expect(asked).toBe(1);
  });

  it('passes on subsequent events and their failures in order', async () => {
    const failure = new Error('cut');
    async function* events(): AsyncGenerator<CanonicalEvent> {
      yield* EVENTS;
      await Promise.resolve();
      throw failure;
    }
    const answer = new VendorAnswer(() => Promise.resolve(events()), describeAs('no'));
    expect((await answer.next()).value).toEqual(EVENTS[0]);
    expect((await answer.next()).value).toEqual(EVENTS[1]);
    await expect(answer.next()).rejects.toBe(failure);
  });

  it('maps a failure of the call and then ends', async () => {
    const refuse = (): Promise<AnswerEvents> => Promise.reject(new Error('secret'));
    const answer = new VendorAnswer(refuse, describeAs('told'));
    await expect(answer.next()).rejects.toThrow('told');
    expect(await answer.next()).toEqual({ done: true, value: undefined });
  });

  it('closes the events when left early, and makes no call when left before the first pull', async () => {
    let left = 0;
    const events = {
      next: () => Promise.resolve({ done: false as const, value: EVENTS[0]! }),
      return: () => {
        left++;
        return Promise.resolve({ done: true as const, value: undefined });
      },
    };
    const started = new VendorAnswer(() => Promise.resolve(events), describeAs('no'));
    await started.next();
    await started.return();
    expect(left).toBe(1);
    expect((await started.next()).done).toBe(true);

    const fresh = new VendorAnswer(() => Promise.reject(new Error('asked')), describeAs('no'));
    await fresh.return();
    expect((await fresh.next()).done).toBe(true);
  });
});

async function all(answer: VendorAnswer): Promise<CanonicalEvent[]> {
  const events: CanonicalEvent[] = [];
  for await (const event of answer) events.push(event);
  return events;
}
