import type { IncomingHttpHeaders } from 'node:http';
import { randomFillSync } from 'node:crypto';

/** Requesting many random bytes costs little more than a few. */
const pool = Buffer.allocUnsafe(4_096);

let used = pool.length;

/** Position of a request's root span: in the caller's trace, or at the head of its own. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** The root span's 16 hexadecimal digits. */
  readonly spanId: string;
  /** The caller's own span. */
  readonly parentSpanId: string | undefined;
  /** True when the caller samples its own span; undefined without one. */
  readonly isParentSampled: boolean | undefined;
  /** The caller's `tracestate`, unparsed. */
  readonly traceState: string | undefined;
}

/** Longer ones may be dropped, by the W3C recommendation. */
const MAX_TRACE_STATE_CHARACTERS = 512;

const TRACE_ID_BYTES = 16;
const SPAN_ID_BYTES = 8;

/** Flag of a sampled span. */
const SAMPLED = 0x01;

/** Version, trace id, parent id and flags; versions after 00 may have more fields. */
const TRACE_PARENT =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

export function newSpanId(): string {
  return randomHex(SPAN_ID_BYTES);
}

/**
 * Reads a request's W3C trace context. An invalid `traceparent` starts a new trace, as the
 * recommendation requires.
 */
export function readTraceContext({ traceparent, tracestate }: IncomingHttpHeaders): TraceContext {
  const spanId = newSpanId();
  const [, version, traceId, parentSpanId, flags = '', further] =
    TRACE_PARENT.exec(typeof traceparent === 'string' ? traceparent.trim() : '') ?? [];
  if (traceId === undefined || (version === '00' && further !== undefined)) {
    const newTraceId = randomHex(TRACE_ID_BYTES);
    return {
      traceId: newTraceId,
      spanId,
      parentSpanId: undefined,
      isParentSampled: undefined,
      traceState: undefined,
    };
  }
  const state = Array.isArray(tracestate) ? tracestate.join(',') : tracestate;
  const isParentSampled = (Number.parseInt(flags, 16) & SAMPLED) !== 0;
  return { traceId, spanId, parentSpanId, isParentSampled, traceState: readTraceState(state) };
}

function readTraceState(state: string | undefined): string | undefined {
  return state && state.length <= MAX_TRACE_STATE_CHARACTERS ? state : undefined;
}

/** Returns random bytes as hexadecimal digits. At most 64 bytes. */
function randomHex(bytes: number): string {
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const digits = pool.toString('hex', used, used + bytes);
  used += bytes;
  return digits;
}
