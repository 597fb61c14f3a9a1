import { describe, expect, it } from '@jest/globals';
import type { BillableRequest } from '../../canonical/billable-request.js';
import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import { NO_USAGE, type Usage } from '../../canonical/usage.js';
import type { BilledEvent } from './settled-answer.js';
import { UsageMeter } from './usage-meter.js';
import type { BillableRoute } from '../../canonical/billable-route.js';

const primary = { provider: 'a' } as BillableRoute;
const fallback = { provider: 'b' } as BillableRoute;
const relay = (fields: object = {}): CanonicalEvent => ({
  type: 'relay',
  dialect: 'chat',
  bytes: Buffer.alloc(0),
  hasContent: true,
  outputCharacters: 0,
  ...fields,
});
const counted = (inputTokens: number, outputTokens: number): Usage => ({
  ...NO_USAGE,
  inputTokens,
  outputTokens,
});

/** A meter that has seen the answer to a prompt of 10 characters. */
function meterOf(...events: BilledEvent[]): UsageMeter {
  const estimate = counted(3, 0);
  const request = { routes: [primary, fallback], estimate } as unknown;
  const meter = new UsageMeter(request as BillableRequest);
  for (const event of events) meter.observe(event);
  return meter;
}

describe(UsageMeter.name, () => {
  it('drops the counts of a vendor whose answer a more expensive route resumed', () => {
    for (const partial of [{ isPartial: true } as const, {}]) {
      const meter = meterOf({ type: 'usage', usage: counted(1, 1), ...partial });
      expect(meter.soFar).toEqual(counted(1, 1));
      Object.assign(meter['request'], { billingRoute: fallback });
      expect(meter.route).toBe(fallback);
      expect(meter.soFar).toBeUndefined();
      expect(meter.read().usage.inputTokens).toBe(3);
      meter.observe({ type: 'usage', usage: counted(9, 9) });
      expect(meter.read().usage).toEqual(counted(9, 9));
    }
  });

  it('returns the first route until another one answers', () => {
    expect(meterOf().route).toBe(primary);
    const answering: CanonicalEvent = { type: 'route', route: fallback, droppedParams: [] };
    expect(meterOf(answering).route).toBe(fallback);
  });

  it('uses the vendor’s latest figures', () => {
    const meter = meterOf(
      { type: 'text', choice: 0, text: 'x'.repeat(1_000) },
      { type: 'usage', usage: counted(5, 6) },
      relay({ usage: counted(5, 7) }),
      relay(),
    );
    expect(meter.read()).toEqual({ usage: counted(5, 7), source: 'upstream' });
    meter.observe({ type: 'usage', usage: counted(5, 8) });
    expect(meter.read().usage).toEqual(counted(5, 8));
  });

  it('reports the source of the figures', () => {
    const meter = meterOf({ type: 'usage', usage: counted(5, 6), source: 'estimated' });
    expect(meter.read()).toEqual({ usage: counted(5, 6), source: 'estimated' });
    meter.observe({ type: 'usage', usage: counted(5, 7) });
    expect(meter.read().source).toBe('upstream');
  });

  it('estimates what the vendor’s figures lack', () => {
    const text: CanonicalEvent = { type: 'text', choice: 0, text: 'x'.repeat(40) };
    const usage: CanonicalEvent = { type: 'usage', usage: counted(10, 0) };
    expect(meterOf(text, usage).read()).toEqual({ usage: counted(10, 10), source: 'estimated' });
    expect(meterOf(text, { type: 'usage', usage: counted(0, 4) }).read()).toEqual({
      usage: counted(3, 4),
      source: 'estimated',
    });
    // Without output, nothing is estimated.
    expect(meterOf(usage).read()).toEqual({ usage: counted(10, 0), source: 'upstream' });
  });

  it('treats an output as the whole answer, with the estimated usage', () => {
    const meter = meterOf({ type: 'output', output: [[1]] });
    expect(meter.finishReason).toBe('stop');
    expect(meter.firstContentMs).toBeGreaterThan(0);
    expect(meter.read()).toEqual({ usage: counted(3, 0), source: 'estimated' });
  });

  it('estimates one token per four characters, rounding up', () => {
    const meter = meterOf(
      { type: 'text', choice: 0, text: 'abc' },
      { type: 'reasoning', choice: 0, text: 'de' },
      { type: 'refusal', choice: 1, text: 'f' },
      { type: 'tool_call', choice: 0, index: 0, id: 'not counted', name: 'gh' },
      { type: 'tool_arguments', choice: 0, index: 0, text: 'i' },
    );
    expect(meter.read()).toEqual({ usage: counted(3, 3), source: 'estimated' });
    meter.observe(relay({ outputCharacters: 4 }));
    expect(meter.read().usage).toEqual(counted(3, 4));
  });

  it('estimates only the prompt before any output', () => {
    expect(meterOf().read()).toEqual({ usage: counted(3, 0), source: 'estimated' });
  });

  it('records when content started, which excludes a start and a role', () => {
    const beforeMs = performance.now();
    const meter = meterOf(
      { type: 'start' },
      relay({ hasContent: false }),
      { type: 'text', choice: 0, text: '' },
      { type: 'usage', usage: counted(1, 1) },
    );
    expect(meter.firstContentMs).toBeUndefined();
    meter.observe(relay());
    const { firstContentMs } = meter;
    expect(firstContentMs).toBeGreaterThanOrEqual(beforeMs);
    meter.observe({ type: 'finish', choice: 0, reason: 'stop' });
    expect(meter.firstContentMs).toBe(firstContentMs);
  });

  it('keeps the first finish reason', () => {
    expect(meterOf({ type: 'text', choice: 0, text: 'x' }).finishReason).toBeUndefined();
    const meter = meterOf(relay(), relay({ finishReason: 'length' }), {
      type: 'finish',
      choice: 1,
      reason: 'stop',
    });
    expect(meter.finishReason).toBe('length');
  });
});
