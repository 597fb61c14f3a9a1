import type { IncomingHttpHeaders } from 'node:http';
import { Injectable, Logger } from '@nestjs/common';
import {
  AnswerMemory,
  type RecordedTrace,
  type TracedRequest,
  type TraceInterest,
  type TraceSink,
  type TraceSubject,
} from './recorded-trace.js';
import { RequestTrace, type TracedResponse } from './request-trace.js';
import { readTraceContext, type TraceContext } from './trace-context.js';
import { checkTraceFields, NO_FIELDS, readTraceFields } from './trace-fields.js';
import { messageOf } from '../../platform/errors/thrown.js';
import type { KeyChain } from '../access/scope.js';
import { GatewayMetrics } from '../../platform/metrics/gateway-metrics.js';

/** Memory of all running requests' answers; one takes at most 2 MB. */
const MAX_REMEMBERED_BYTES = 64 * 1024 * 1024;

/** Origin of a request. Work that runs later keeps the three headers and has no response. */
export interface TraceOrigin {
  readonly tenantId: string;
  /** The calling key and its ancestors; without it, only destinations of the whole tenant apply. */
  readonly chain?: KeyChain | undefined;
  /** See `Caller`; absent: as the service's setting says. */
  readonly contentLog?: boolean | undefined;
  /** `x-gateway-broadcast`, `traceparent` and `tracestate` are read. */
  readonly headers: IncomingHttpHeaders;
  readonly response?: TracedResponse;
}

/** Records requests for interested sinks; costs nothing for others. */
@Injectable()
export class TracingService {
  private readonly logger = new Logger(TracingService.name);
  private readonly sinks: TraceSink[] = [];
  private readonly memory = new AnswerMemory(MAX_REMEMBERED_BYTES);

  constructor(metrics: GatewayMetrics) {
    metrics.track(
      'gateway_traced_answers_bytes',
      'Memory of answers in flight, for traces and the content log.',
      () => this.memory.taken,
    );
    metrics.trackTotal(
      'gateway_traced_answers_left_out_total',
      'Answers recorded without text for lack of memory, in traces and the content log.',
      () => this.memory.leftOut,
    );
  }

  addSink(sink: TraceSink): void {
    this.sinks.push(sink);
  }

  /**
   * Records a request from now on, if a sink wants its trace. Call after planning.
   *
   * @throws InvalidRequestError for a malformed `trace`, even if not recorded
   */
  trace(planned: TracedRequest, origin: TraceOrigin): void {
    const { tenantId, chain, headers, response, contentLog = null } = origin;
    const { trace } = planned.request.body.value;
    checkTraceFields(trace);
    const isBroadcast = isOptIn(headers);
    // Computed on demand, since most requests are not traced.
    let context: TraceContext | undefined;
    const contextOf = (): TraceContext => (context ??= readTraceContext(headers));
    const subject: TraceSubject = { tenantId, chain, isBroadcast, contentLog, context: contextOf };
    let wanted: TraceInterest = 'none';
    let keepsWhole = false;
    const takers: TraceSink[] = [];
    for (const sink of this.sinks) {
      const interest = sink.interestIn(subject);
      if (interest === 'none') continue;
      if (wanted !== 'content') wanted = interest;
      keepsWhole ||= sink.keepsWhole === true;
      takers.push(sink);
    }
    if (wanted === 'none') return;
    planned.observer = new RequestTrace(planned, {
      tenantId,
      chain,
      isBroadcast,
      context: contextOf(),
      fields: isBroadcast ? readTraceFields(trace, planned) : NO_FIELDS,
      keepsContent: wanted === 'content',
      keepsWhole,
      memory: this.memory,
      response,
      onRecorded: (recorded) => this.give(recorded, takers),
    });
  }

  private give(trace: RecordedTrace, sinks: readonly TraceSink[]): void {
    for (const sink of sinks) {
      try {
        sink.accept(trace);
      } catch (error) {
        this.logger.error(`trace not recorded: ${messageOf(error)}`);
      }
    }
  }
}

function isOptIn(headers: IncomingHttpHeaders): boolean {
  const value = headers['x-gateway-broadcast'];
  return typeof value === 'string' && value.trim().toLowerCase() === 'true';
}
