import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { MAX_BATCH_BYTES, MAX_BATCH_TRACES } from './broadcast-limits.js';

/** What stands around the list of `ResourceSpans` in a request. */
const HEAD = Buffer.from('{"resourceSpans":[');
const TAIL = Buffer.from(']}');
const COMMA = Buffer.from(',');

/**
 * One trace as OTLP in JSON: what stands in the list of a request. It is made once, for all
 * destinations, right after its request, so that no batch takes long to be put together.
 */
export function renderTrace(spans: readonly ReadableSpan[]): Buffer {
  const bytes = JsonTraceSerializer.serializeRequest([...spans]);
  if (!bytes) throw new Error('spans that make no request');
  const request = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = request.length - TAIL.length;
  if (!request.subarray(0, HEAD.length).equals(HEAD) || !request.subarray(end).equals(TAIL)) {
    throw new Error('a request of another form');
  }
  return request.subarray(HEAD.length, end);
}

/** Traces for one destination that are sent together, as one `ExportTraceServiceRequest`. */
export class TraceBatch {
  readonly startedAtMs = performance.now();
  bytes = 0;
  private readonly traces: Buffer[] = [];

  constructor(readonly destinationId: string) {}

  get traceCount(): number {
    return this.traces.length;
  }

  get isFull(): boolean {
    return this.traceCount >= MAX_BATCH_TRACES || this.bytes >= MAX_BATCH_BYTES;
  }

  /** @param trace of `renderTrace` */
  add(trace: Buffer): void {
    this.traces.push(trace);
    this.bytes += trace.length;
  }

  /** OTLP in JSON. */
  serialize(): Buffer {
    const pieces = this.traces.flatMap((trace, index) => (index === 0 ? [trace] : [COMMA, trace]));
    return Buffer.concat([HEAD, ...pieces, TAIL]);
  }
}
