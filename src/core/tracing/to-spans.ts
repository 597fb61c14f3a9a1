import {
  createTraceState,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type HrTime,
} from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import type { SpanDraft } from './span-draft.js';
import { TRACE_SCOPE } from './trace-resource.js';

const KINDS = { client: SpanKind.CLIENT, server: SpanKind.SERVER, internal: SpanKind.INTERNAL };

/** Spans for OpenTelemetry's exporters and serializers. */
export function toSpans(drafts: readonly SpanDraft[], resource: Resource): ReadableSpan[] {
  return drafts.map((draft) => toSpan(draft, resource));
}

function toSpan(draft: SpanDraft, resource: Resource): ReadableSpan {
  const { traceId, spanId, parentSpanId, isParentRemote, startMs, error } = draft;
  const traceState = draft.traceState ? createTraceState(draft.traceState) : undefined;
  const traceFlags = TraceFlags.SAMPLED;
  const spanContext = { traceId, spanId, traceFlags, ...(traceState && { traceState }) };
  const durationMs = Math.max(0, draft.endMs - startMs);
  return {
    name: draft.name,
    kind: KINDS[draft.kind],
    attributes: draft.attributes,
    status:
      error === undefined
        ? { code: SpanStatusCode.UNSET }
        : { code: SpanStatusCode.ERROR, message: error },
    spanContext: () => spanContext,
    ...(parentSpanId !== undefined && {
      parentSpanContext: { traceId, spanId: parentSpanId, traceFlags, isRemote: isParentRemote },
    }),
    startTime: toHrTime(startMs),
    endTime: toHrTime(startMs + durationMs),
    duration: toHrTime(durationMs),
    ended: true,
    links: [],
    events: [],
    resource,
    instrumentationScope: TRACE_SCOPE,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

function toHrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1_000);
  return [seconds, Math.round((ms - seconds * 1_000) * 1_000_000)];
}
