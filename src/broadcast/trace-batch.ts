import type { Attributes } from '@opentelemetry/api';
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { MAX_BATCH_BYTES, MAX_BATCH_TRACES } from './broadcast-limits.js';

/** About what a span takes as JSON besides its attributes, and an attribute besides its value. */
const SPAN_BYTES = 350;
const ATTRIBUTE_BYTES = 60;

/** Traces for one destination that are sent together, as one `ExportTraceServiceRequest`. */
export class TraceBatch {
  readonly startedAtMs = performance.now();
  traceCount = 0;
  bytes = 0;
  private readonly spans: ReadableSpan[] = [];

  constructor(readonly destinationId: string) {}

  get isFull(): boolean {
    return this.traceCount >= MAX_BATCH_TRACES || this.bytes >= MAX_BATCH_BYTES;
  }

  /** @param bytes what the spans take, by `estimateBytes` */
  add(spans: readonly ReadableSpan[], bytes: number): void {
    this.spans.push(...spans);
    this.traceCount++;
    this.bytes += bytes;
  }

  /** OTLP in JSON. */
  serialize(): Uint8Array {
    const body = JsonTraceSerializer.serializeRequest(this.spans);
    if (!body) throw new Error('spans that make no request');
    return body;
  }
}

/** What a trace's spans take, in memory or as JSON, roughly: made once, instead of their JSON. */
export function estimateBytes(spans: readonly ReadableSpan[]): number {
  return spans.reduce((sum, { attributes }) => sum + SPAN_BYTES + sizeOf(attributes), 0);
}

function sizeOf(attributes: Attributes): number {
  let size = 0;
  for (const value of Object.values(attributes)) {
    size += ATTRIBUTE_BYTES;
    if (typeof value === 'string') size += value.length;
    else if (Array.isArray(value)) size += value.length * ATTRIBUTE_BYTES;
  }
  return size;
}
