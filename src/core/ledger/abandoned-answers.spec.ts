import { afterAll, afterEach, describe, expect, it, jest } from '@jest/globals';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import type { BillableRequest } from '../../canonical/billable-request.js';
import { countCodePoints } from '../../canonical/prompt-size.js';
import { NO_USAGE, type Usage } from '../../canonical/usage.js';
import { AbandonedAnswers } from './abandoned-answers.js';
import { Timestamp } from '../../platform/time/timestamp.js';
import type { Hold } from './hold.js';
import { TokenCounter } from './token-counter.js';
import { UsageMeter } from './usage-meter.js';
import type { BillableRoute } from '../../canonical/billable-route.js';

const TEXTS = {
  English: 'The committee met on Tuesday to discuss the changes, which several called overdue. ',
  Chinese: '委员会星期二开会讨论预算的拟议修改,几位成员称这些修改早就该进行了。',
  Japanese: '委員会は火曜日に会合を開き、予算案の変更について話し合った。',
  Hindi: 'समिति ने मंगलवार को बजट में प्रस्तावित बदलावों पर चर्चा करने के लिए बैठक की। ',
  Arabic: 'اجتمعت اللجنة يوم الثلاثاء لمناقشة التغييرات المقترحة على الميزانية. ',
  emoji: '😀🎉🚀🇩🇪✨🔥🤷🏽 ',
  code: 'for (let i = 0; i < items.length; i++) {\n  if (items[i]?.value === 0) continue;\n}\n',
};
const CEILING: Usage = { ...NO_USAGE, inputTokens: 1_000, outputTokens: 100_000 };

const counter = new TokenCounter(60_000);
const answers = new AbandonedAnswers(counter);
const caller = { tenantId: 'tenant' } as Hold['caller'];

/** Simulates an elapsed time with a changed system clock. */
const ago = (ms: number, clockMs = ms): Timestamp =>
  new Timestamp({
    now: () => Date.now() - clockMs,
    monotonicMs: () => performance.now() - ms,
  });

/** A request whose vendor started a while ago, and its answer so far. */
function answerOf({
  workedMs = 0,
  clockMs = workedMs,
  speed,
  ceiling = CEILING,
  choices = 1,
}: {
  workedMs?: number;
  clockMs?: number;
  speed?: number;
  ceiling?: Usage;
  choices?: number;
} = {}) {
  const route = { ceiling, output: { choices } } as BillableRoute;
  const request = {
    routes: [route],
    streamed: true,
    estimate: { ...NO_USAGE, inputTokens: 7 },
    vendorWork: { startedAt: ago(workedMs, clockMs), tokensPerSecond: speed },
    closeVendor: jest.fn(),
    endVendorCalls: jest.fn(),
  } as unknown as BillableRequest;
  return { request, meter: new UsageMeter(request) };
}

/** A relayed chunk of a chat stream. */
function relayOf(content: string) {
  const chunk = { choices: [{ index: 0, delta: { content }, finish_reason: null }] };
  return {
    type: 'relay' as const,
    dialect: 'chat' as const,
    bytes: Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`),
    hasContent: true,
    outputCharacters: countCodePoints(content),
  };
}

type Step = 'finish' | { waitMs: number; isPiece?: boolean };

/** Evenly spaced pieces. */
const stream = (pieces: number, waitMs: number): Step[] =>
  Array.from({ length: pieces }, () => ({ waitMs, isPiece: true }));

const piecesOf = (text: string): string[] => text.match(/.{1,5}/gsu)!;

describe(AbandonedAnswers.name, () => {
  afterAll(() => counter.onApplicationShutdown());
  afterEach(() => void jest.useRealTimers());

  it.each(Object.entries(TEXTS))('never undercounts %s by more than a tenth', async (_, text) => {
    for (const whole of [text, text.repeat(60)]) {
      const { request, meter } = answerOf();
      for (const piece of piecesOf(whole)) meter.observe(relayOf(piece));
      const { outputTokens, inputTokens } = await answers.estimate({ caller, request }, meter);
      const tokens = countTokens(whole);
      expect(outputTokens / tokens).toBeGreaterThanOrEqual(0.9);
      // Splitting words takes more tokens.
      expect(outputTokens / tokens).toBeLessThan(1.8);
      expect(inputTokens).toBe(1_000);
    }
  });

  it('charges hidden work by the route’s speed and the elapsed time, up to the ceiling', async () => {
    const hidden = answerOf({ workedMs: 20_000, speed: 1_000 });
    hidden.meter.observe(relayOf('So'));
    const { outputTokens } = await answers.estimate(
      { caller, request: hidden.request },
      hidden.meter,
    );
    expect(outputTokens).toBeGreaterThanOrEqual(20_000);
    expect(outputTokens).toBeLessThan(40_000);

    const most = answerOf({ workedMs: 20_000, speed: 1_000_000 });
    expect(await answers.estimate({ caller, request: most.request }, most.meter)).toMatchObject({
      outputTokens: 100_000,
    });
  });

  it.each<[string, Step[], number]>([
    ['streams at half its usual pace', [...stream(60, 40)], 70],
    ['streams with a larger vocabulary', [...stream(60, 24)], 70],
    ['streams, then works silently', [...stream(60, 20), { waitMs: 10_000 }], 560],
    ['finishes, then stays silent', [...stream(60, 20), 'finish', { waitMs: 10_000 }], 60],
    ['pauses midway', [...stream(30, 20), { waitMs: 10_000 }, ...stream(30, 20)], 560],
    ['sends everything at once after a silence', [{ waitMs: 10_000 }, ...stream(400, 0)], 500],
  ])('counts the output of a vendor that %s', async (_, steps, pieces) => {
    const piece = ' meeting';
    // One token each, 50 per second.
    const { request, meter } = answerOf({ speed: 50 });
    const startMs = performance.now();
    let pastMs = 0;
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => startMs + pastMs);
    for (const step of steps) {
      if (step === 'finish') meter.observe({ type: 'finish', choice: 0, reason: 'stop' });
      else pastMs += step.waitMs;
      if (step !== 'finish' && step.isPiece) meter.observe(relayOf(piece));
    }
    Object.assign(request.vendorWork!, { startedAt: ago(pastMs) });
    const { outputTokens } = await answers.estimate({ caller, request }, meter);
    clock.mockRestore();
    expect(outputTokens).toBeGreaterThanOrEqual(pieces * 0.9);
    expect(outputTokens).toBeLessThanOrEqual(pieces * 1.1);
  });

  it.each([3_600_000, -3_600_000])('is unaffected by a clock changed by %d ms', async (clockMs) => {
    const { request, meter } = answerOf({ workedMs: 10_000, clockMs, speed: 50 });
    const { outputTokens } = await answers.estimate({ caller, request }, meter);
    expect(outputTokens).toBeGreaterThanOrEqual(500);
    expect(outputTokens).toBeLessThan(5_000);
  });

  it('assumes a usual speed for an unmeasured route', async () => {
    const { request, meter } = answerOf({ workedMs: 10_000 });
    const { outputTokens } = await answers.estimate({ caller, request }, meter);
    expect(outputTokens).toBeGreaterThanOrEqual(1_000);
    expect(outputTokens).toBeLessThan(5_000);
  });

  it.each([50, undefined])('multiplies the speed (%s) by the number of answers', async (speed) => {
    const { request, meter } = answerOf({ workedMs: 10_000, speed, choices: 8 });
    const { outputTokens } = await answers.estimate({ caller, request }, meter);
    expect(outputTokens / (8 * 10 * (speed ?? 100))).toBeCloseTo(1, 1);
  });

  it('uses the vendor’s own count so far', async () => {
    const { request, meter } = answerOf();
    const usage = { ...NO_USAGE, inputTokens: 50_000, cacheReadTokens: 9, outputTokens: 4_321 };
    meter.observe({ type: 'usage', usage, isPartial: true });
    meter.observe(relayOf('Hi'));
    expect(await answers.estimate({ caller, request }, meter)).toEqual(usage);
    expect(meter.isCounted).toBe(false);
    // A complete answer uses its final usage only.
    expect(meter.read().usage).toMatchObject({ inputTokens: 7 });
  });

  it('adds searches to the input that a vendor reports at the start', async () => {
    for (const [ceilingTokens, inputTokens] of [
      [50_000, 3 * 1_000 + 2 * 10_000],
      [9_000, 9_000],
      [900, 1_000],
    ]) {
      const ceiling = { ...NO_USAGE, inputTokens: ceilingTokens!, outputTokens: 9 };
      const { request, meter } = answerOf({ ceiling });
      const usage = { ...NO_USAGE, inputTokens: 1_000, webSearches: 2 };
      meter.observe({ type: 'usage', usage, isPartial: true });
      expect(await answers.estimate({ caller, request }, meter)).toMatchObject({
        inputTokens,
        webSearches: 2,
      });
    }
  });

  it('charges the request’s input for work without generated text', async () => {
    const { request, meter } = answerOf({ workedMs: 10_000, ceiling: NO_USAGE });
    expect(await answers.estimate({ caller, request }, meter)).toEqual({
      ...NO_USAGE,
      inputTokens: 7,
    });
  });

  it('closes the vendor after the grace period or at shutdown, but not after the end', () => {
    jest.useFakeTimers();
    const [first, second, third] = [answerOf(), answerOf(), answerOf()].map((it) => it.request);
    answers.beginGrace(first!);
    expect(first!.endVendorCalls).toHaveBeenCalled();
    jest.advanceTimersByTime(1_999);
    expect(first!.closeVendor).not.toHaveBeenCalled();
    jest.advanceTimersByTime(1);
    expect(first!.closeVendor).toHaveBeenCalledTimes(1);

    answers.beginGrace(second!);
    answers.beginGrace(third!)();
    answers.endGraces();
    jest.advanceTimersByTime(5_000);
    expect(second!.closeVendor).toHaveBeenCalledTimes(1);
    expect(third!.closeVendor).not.toHaveBeenCalled();
  });
});
