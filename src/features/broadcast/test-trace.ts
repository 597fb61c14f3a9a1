import { randomUUID } from 'node:crypto';
import { NO_USAGE } from '../../canonical/usage.js';
import { TracedAnswer, type RecordedTrace } from '../../core/tracing/recorded-trace.js';
import { readTraceContext } from '../../core/tracing/trace-context.js';

const MODEL = 'gateway/test';
const PROVIDER = 'gateway';
const DURATION_MS = 1;

/** Returns a sample trace for testing a destination. */
export function testTrace(tenantId: string): RecordedTrace {
  const endedAt = new Date();
  const startedAt = new Date(endedAt.getTime() - DURATION_MS);
  const answer = new TracedAnswer(false);
  answer.finishReasons.push('stop');
  answer.hasRoute = true;
  const route = { model: MODEL, provider: PROVIDER };
  return {
    tenantId,
    requestId: randomUUID(),
    endpoint: 'chat',
    streamed: false,
    context: readTraceContext({}),
    fields: { name: 'gateway.broadcast.test', attributes: { 'gateway.test': true } },
    startedAt,
    endedAt,
    request: {
      kind: 'embedding',
      body: { value: {} },
      models: [MODEL],
      routing: {
        order: [],
        only: undefined,
        ignore: [],
        allowFallbacks: true,
        strategy: 'fallback',
      },
      stream: false,
      accountBoundParam: undefined,
      ceiling: NO_USAGE,
      estimate: NO_USAGE,
    },
    attempts: [{ route, startedAt, durationMs: DURATION_MS, outcome: 'answered' }],
    ending: {
      outcome: 'completed',
      model: MODEL,
      provider: PROVIDER,
      errorType: null,
      trafficMode: 'shared',
      usage: NO_USAGE,
      usageSource: 'none',
      flagged: false,
      cost: 0,
      firstContentMs: DURATION_MS,
    },
    guardrails: [],
    cache: undefined,
    answer,
    isBroadcast: true,
  };
}
