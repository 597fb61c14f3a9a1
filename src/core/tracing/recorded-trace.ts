import type { RequestEnding, TriggeredGuardrail } from '../../canonical/request-follower.js';
import type { RoutableRequest } from '../../canonical/work-request.js';
import type { AnswerRecorder } from './answer-recorder.js';
import type { TraceContext } from './trace-context.js';
import type { TraceFields } from './trace-fields.js';
import type { TracedAttempt } from './traced-request.js';

/** All that happened in one request. It holds on to the request's body: not to be kept. */
export interface RecordedTrace {
  readonly tenantId: string;
  readonly requestId: string;
  readonly endpoint: string;
  readonly streamed: boolean;
  readonly context: TraceContext;
  readonly fields: TraceFields;
  readonly startedAt: Date;
  readonly endedAt: Date;
  readonly request: RoutableRequest;
  readonly attempts: readonly TracedAttempt[];
  readonly ending: RequestEnding;
  readonly guardrails: readonly TriggeredGuardrail[];
  /** `hit` or `miss`; undefined where there is no cache to ask. */
  readonly cache: string | undefined;
  readonly answer: AnswerRecorder;
  /** Whether the tenant asked for its traces to be sent on. */
  readonly isBroadcast: boolean;
}
