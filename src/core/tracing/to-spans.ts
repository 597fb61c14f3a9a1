import {
  createTraceState,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type HrTime,
  type Attributes,
} from '@opentelemetry/api';
import { resourceFromAttributes, type Resource } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import type { SpanDraft } from './span-draft.js';

const SERVICE_NAME = 'model-gateway';

export const TRACE_SCOPE = { name: SERVICE_NAME };

/** The service as tenants' collectors see it, without the host. */
export const TENANT_RESOURCE: Resource = serviceResource({});

const KINDS = { client: SpanKind.CLIENT, server: SpanKind.SERVER, internal: SpanKind.INTERNAL };

/** Converts drafts to spans for OpenTelemetry's exporters and serializers. */
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

export function serviceResource(attributes: Attributes): Resource {
  return resourceFromAttributes({ 'service.name': SERVICE_NAME, ...attributes });
}
