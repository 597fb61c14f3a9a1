import type { ServerResponse } from 'node:http';
import type { CanonicalEvent } from '../canonical/canonical-event.js';
import type {
  RequestEnding,
  RequestFollower,
  TriggeredGuardrail,
} from '../canonical/request-follower.js';
import type { WorkEvent } from '../canonical/work-event.js';
import { AnswerRecorder, WatchedAnswer } from './answer-recorder.js';
import type { RecordedTrace } from './recorded-trace.js';
import type { TraceContext } from './trace-context.js';
import type { TraceFields } from './trace-fields.js';
import type { TracedRequest } from './traced-request.js';

/** What a feature does with the trace of its request. */
export interface FollowedRequest {
  /** Stands between the vendor's answer and the ledger. */
  watch<Event extends CanonicalEvent | WorkEvent<unknown>>(
    events: AsyncIterable<Event>,
  ): AsyncIterable<Event>;
}

/** For requests that nobody follows, which pay nothing for those of others. */
export const NOT_FOLLOWED: FollowedRequest = { watch: (events) => events };

/** The part of a response that a trace looks at; work without a caller has none. */
export type TracedResponse = Pick<ServerResponse, 'getHeader' | 'once' | 'closed'>;

export interface RequestTraceOptions {
  tenantId: string;
  isBroadcast: boolean;
  context: TraceContext;
  fields: TraceFields;
  keepsContent: boolean;
  response: TracedResponse | undefined;
  /** Called once, when the answer has left. */
  onRecorded: (trace: RecordedTrace) => void;
}

/** Records one request, from its plan to its settlement. */
export class RequestTrace implements RequestFollower, FollowedRequest {
  private readonly answer: AnswerRecorder;
  private readonly guardrails: TriggeredGuardrail[] = [];

  constructor(
    private readonly planned: TracedRequest,
    private readonly options: RequestTraceOptions,
  ) {
    this.answer = new AnswerRecorder(options.keepsContent);
  }

  watch<Event extends CanonicalEvent | WorkEvent<unknown>>(
    events: AsyncIterable<Event>,
  ): AsyncIterable<Event> {
    return new WatchedAnswer(events, this.answer);
  }

  guardrailTriggered(triggered: TriggeredGuardrail): void {
    this.guardrails.push(triggered);
  }

  ended(ending: RequestEnding): void {
    const { response, onRecorded } = this.options;
    const trace = this.record(ending);
    const give = (): void => {
      // Some endpoints set it when they have the whole answer only.
      const cache = response?.getHeader('X-Cache');
      onRecorded({ ...trace, cache: typeof cache === 'string' ? cache.toLowerCase() : undefined });
    };
    if (!response || response.closed) setImmediate(give);
    else response.once('close', give);
  }

  private record(ending: RequestEnding): Omit<RecordedTrace, 'cache'> {
    const { planned, answer, guardrails } = this;
    const { tenantId, isBroadcast, context, fields } = this.options;
    return {
      tenantId,
      requestId: planned.requestId,
      endpoint: planned.endpoint,
      streamed: planned.streamed,
      context,
      fields,
      startedAt: planned.startedAt,
      endedAt: new Date(),
      request: planned.request,
      attempts: planned.attempts.map((attempt) => ({ ...attempt })),
      ending,
      guardrails,
      answer,
      isBroadcast,
    };
  }
}
