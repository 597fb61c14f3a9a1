import { describe, expect, it } from '@jest/globals';
import { chatRequest } from '../../../test/support/chat-requests.js';
import { NO_USAGE } from '../../canonical/usage.js';
import { draftSpans } from './draft-spans.js';
import type { RecordedTrace, TracedAttempt } from './recorded-trace.js';

const attempt = (startMs: number, fields: Partial<TracedAttempt>): TracedAttempt => ({
  route: { model: 'a/b', provider: startMs === 0 ? 'one' : 'other' },
  startedAt: new Date(startMs),
  durationMs: 40,
  outcome: 'answered',
  ...fields,
});

/** Returns the spans of a one-second request, without its root span. */
function spansOf(...attempts: TracedAttempt[]) {
  const answer = { hasRoute: true, finishReasons: [], content: [], isTruncated: false };
  const ending = { outcome: 'completed', model: 'a/b', provider: 'one', usage: NO_USAGE };
  const trace = {
    ...{ requestId: 'r', endpoint: 'chat', streamed: true, attempts, guardrails: [] },
    context: { traceId: 't', spanId: 's' },
    fields: { attributes: {} },
    startedAt: new Date(0),
    endedAt: new Date(1_000),
    request: chatRequest({ model: 'a/b' }),
    ending: { ...ending, errorType: null, trafficMode: 'shared', cost: 1, flagged: false },
    answer,
  } as unknown as RecordedTrace;
  const [, ...spans] = draftSpans(trace, { audience: 'operator', includeContent: false });
  return spans;
}

const lost: Partial<TracedAttempt> = { outcome: 'outpaced', isUnbilled: true };

describe(draftSpans.name, () => {
  it('creates a span for both concurrent calls, and extends the winner’s to its end', () => {
    const [first, second] = spansOf(attempt(0, {}), attempt(100, { ...lost, isHedge: true }));
    expect(first).toMatchObject({ endMs: 1_000, error: undefined });
    expect(first!.attributes).toMatchObject({ 'gateway.attempt.first_content_ms': 40 });
    expect(second).toMatchObject({ startMs: 100, endMs: 140, kind: 'client', error: undefined });
    expect(second!.attributes).toMatchObject({
      'gateway.attempt.number': 2,
      'gateway.attempt.outcome': 'outpaced',
      'gateway.attempt.hedged': true,
    });
    expect(second!.attributes).not.toHaveProperty('gateway.attempt.first_content_ms');
  });

  it('attributes the answer to the hedge when that was faster', () => {
    const [first, second] = spansOf(attempt(0, lost), attempt(100, { isHedge: true }));
    expect([first!.endMs, second!.endMs]).toEqual([40, 1_000]);
    expect(first!.attributes).not.toHaveProperty('gateway.attempt.hedged');
  });
});
