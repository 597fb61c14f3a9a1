import { describe, expect, it } from '@jest/globals';
import { draftSpans } from '../../core/tracing/draft-spans.js';
import type { RecordedTrace } from '../../core/tracing/recorded-trace.js';
import { testTrace } from './test-trace.js';

/** A request with this outcome and one attempt. */
function traceOf(outcome: string, ending: string, guardrails: RecordedTrace['guardrails'] = []) {
  const trace = testTrace('t');
  const [attempt] = trace.attempts;
  return {
    ...trace,
    guardrails,
    attempts: [{ ...attempt!, outcome }],
    ending: {
      ...trace.ending,
      outcome: ending,
      errorType: ending === 'failed' ? 'provider_error' : null,
    },
  };
}

const errorsOf = (trace: RecordedTrace) =>
  draftSpans(trace, { audience: 'tenant', includeContent: false }).map(({ error }) => error);

describe(draftSpans.name, () => {
  it.each([
    ['answered', 'completed', [undefined, undefined]],
    ['answered', 'cancelled', [undefined, undefined]],
    ['answered', 'failed', ['provider_error', 'provider_error']],
    ['pending', 'failed', ['provider_error', 'provider_error']],
    ['server', 'failed', ['provider_error', 'server']],
    ['uncovered', 'failed', ['provider_error', undefined]],
  ])('for an attempt %s in a request %s, sets the errors %j', (outcome, ending, errors) => {
    expect(errorsOf(traceOf(outcome, ending))).toEqual(errors);
  });

  it('sets no error on the attempt when a guardrail blocked its answer', () => {
    const block = { guardrailId: 'g', action: 'block', direction: 'output' };
    expect(errorsOf(traceOf('answered', 'failed', [block]))).toEqual(['provider_error', undefined]);
  });

  it('uses separate span ids for each audience and links spans to their root', () => {
    const trace = traceOf('answered', 'completed');
    const [tenant, operator] = (['tenant', 'operator'] as const).map((audience) =>
      draftSpans(trace, { audience, includeContent: false }),
    );
    expect(tenant![0]!.spanId).not.toBe(operator![0]!.spanId);
    for (const [root, child] of [tenant!, operator!]) {
      expect(child!.parentSpanId).toBe(root!.spanId);
      expect(root!.traceId).toBe(trace.context.traceId);
    }
  });
});
