import type { Attributes } from '@opentelemetry/api';

/**
 * What there is to say of a span. It is plain data that JSON keeps as it is, so that a trace costs
 * little until somebody is there to take it; `toSpans` makes OpenTelemetry's spans of it.
 */
export interface SpanDraft {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** As the caller's `tracestate` had it. */
  readonly traceState?: string | undefined;
  /** 16 hexadecimal digits, as the parent's. */
  readonly spanId: string;
  readonly parentSpanId?: string | undefined;
  /** Whether the parent is the caller's own span. */
  readonly isParentRemote: boolean;
  readonly name: string;
  readonly kind: 'client' | 'server' | 'internal';
  /** Milliseconds since 1970. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  /** What it failed with. */
  readonly error?: string | undefined;
}
