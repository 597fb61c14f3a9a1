import type { ServerResponse } from 'node:http';
import type { CanonicalEvent, WorkEvent } from '../../canonical/canonical-event.js';
import type {
  RequestEnding,
  RequestObserver,
  TriggeredGuardrail,
} from '../../canonical/billable-request.js';
import {
  TracedAnswer,
  type AnswerMemory,
  type RecordedTrace,
  type TracedRequest,
} from './recorded-trace.js';
import type { TraceContext } from './trace-context.js';
import type { KeyChain } from '../access/scope.js';
import type { TraceFields } from './trace-fields.js';
import { isTranscription } from './output-messages.js';

/** The part of a response that a trace reads; work without a caller has none. */
export type TracedResponse = Pick<ServerResponse, 'getHeader' | 'once' | 'closed'>;

export interface RequestTraceOptions {
  tenantId: string;
  chain: KeyChain | undefined;
  isBroadcast: boolean;
  context: TraceContext;
  fields: TraceFields;
  keepsContent: boolean;
  keepsWhole: boolean;
  memory: AnswerMemory;
  response: TracedResponse | undefined;
  /** Called once, when the answer has been sent; the answer is released afterwards. */
  onRecorded: (trace: RecordedTrace) => void;
}

/** Records one request from plan to settlement. */
export class RequestTrace implements RequestObserver {
  private readonly answer: TracedAnswer;
  private readonly guardrails: TriggeredGuardrail[] = [];

  constructor(
    private readonly planned: TracedRequest,
    private readonly options: RequestTraceOptions,
  ) {
    const { keepsContent, keepsWhole, memory } = options;
    const keepsOutput = isTranscription(planned.request);
    this.answer = new TracedAnswer(keepsContent, keepsOutput, keepsWhole, memory);
  }

  observe(event: CanonicalEvent | WorkEvent<unknown>): void {
    this.answer.observe(event);
  }

  guardrailTriggered(triggered: TriggeredGuardrail): void {
    this.guardrails.push(triggered);
  }

  ended(ending: RequestEnding): void {
    const { response } = this.options;
    // The answer is still being sent; everything else waits for that.
    const endedAt = ending.endedAt ?? new Date();
    const give = (): void => {
      this.options.onRecorded(this.record(ending, endedAt));
      this.lost();
    };
    if (!response || response.closed) setImmediate(give);
    else response.once('close', give);
  }

  lost(): void {
    this.answer.forget();
  }

  private record(ending: RequestEnding, endedAt: Date): RecordedTrace {
    const { planned, answer, guardrails } = this;
    const { tenantId, chain, isBroadcast, context, fields, response } = this.options;
    // Some endpoints set it when they have the whole answer only.
    const cache = response?.getHeader('X-Cache');
    return {
      tenantId,
      chain,
      requestId: planned.requestId,
      endpoint: planned.endpoint,
      streamed: planned.streamed,
      context,
      fields,
      startedAt: planned.startedAt,
      endedAt,
      request: planned.request,
      attempts: planned.attempts,
      ending,
      guardrails,
      cache: typeof cache === 'string' ? cache.toLowerCase() : undefined,
      answer,
      isBroadcast,
    };
  }
}
