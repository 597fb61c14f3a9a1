/** A span after decoding in a collector. */
export interface DecodedSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  traceState: string | undefined;
  name: string;
  kind: number;
  startNs: bigint;
  endNs: bigint;
  attributes: Record<string, unknown>;
  status: { code: number; message?: string };
  resource: Record<string, unknown>;
}

type Json = Record<string, unknown>;

const REQUEST = ['resourceSpans'];
const RESOURCE_SPANS = ['resource', 'scopeSpans', 'schemaUrl'];
const RESOURCE = ['attributes', 'droppedAttributesCount', 'entityRefs'];
const SCOPE_SPANS = ['scope', 'spans', 'schemaUrl'];
const SPAN = [
  'traceId',
  'spanId',
  'traceState',
  'parentSpanId',
  'flags',
  'name',
  'kind',
  'startTimeUnixNano',
  'endTimeUnixNano',
  'attributes',
  'droppedAttributesCount',
  'events',
  'droppedEventsCount',
  'links',
  'droppedLinksCount',
  'status',
];

/**
 * Decodes an `ExportTraceServiceRequest` in JSON, as strictly as the protocol's mapping allows: rejects
 * unknown fields, ids of another length and invalid numbers.
 */
export function decodeTraces(text: string): DecodedSpan[] {
  const request = JSON.parse(text) as Json;
  only(request, REQUEST);
  return list(request.resourceSpans).flatMap((resourceSpans) => {
    only(resourceSpans, RESOURCE_SPANS);
    const resource = resourceSpans.resource as Json;
    only(resource, RESOURCE);
    return list(resourceSpans.scopeSpans).flatMap((scopeSpans) => {
      only(scopeSpans, SCOPE_SPANS);
      return list(scopeSpans.spans).map((span) => decodeSpan(span, attributesOf(resource)));
    });
  });
}

function decodeSpan(span: Json, resource: Record<string, unknown>): DecodedSpan {
  only(span, SPAN);
  const status = span.status as DecodedSpan['status'];
  only(status, ['code', 'message']);
  const decoded = {
    traceId: hex(span.traceId, 32),
    spanId: hex(span.spanId, 16),
    parentSpanId: span.parentSpanId === undefined ? undefined : hex(span.parentSpanId, 16),
    traceState: span.traceState as string | undefined,
    name: String(span.name),
    kind: Number(span.kind),
    startNs: nanoseconds(span.startTimeUnixNano),
    endNs: nanoseconds(span.endTimeUnixNano),
    attributes: attributesOf(span),
    status,
    resource,
  };
  if (decoded.endNs < decoded.startNs) throw new Error(`${decoded.name} ends before it begins`);
  return decoded;
}

function attributesOf({ attributes }: Json): Record<string, unknown> {
  const pairs = list(attributes).map((pair) => {
    only(pair, ['key', 'value']);
    if (typeof pair.key !== 'string') throw new Error('an attribute key must be a string');
    return [pair.key, valueOf(pair.value as Json)] as const;
  });
  const keys = new Set(pairs.map(([key]) => key));
  if (keys.size !== pairs.length) throw new Error('duplicate attribute');
  return Object.fromEntries(pairs);
}

function valueOf(value: Json): unknown {
  const [[kind, content] = [], ...others] = Object.entries(value);
  if (others.length > 0) throw new Error('a value of two kinds');
  switch (kind) {
    case 'stringValue':
      if (typeof content !== 'string' || !content.isWellFormed()) throw new Error('a bad string');
      return content;
    case 'boolValue':
      if (typeof content !== 'boolean') throw new Error('a bad boolean');
      return content;
    case 'intValue': {
      const integer = BigInt(content as string | number);
      if (BigInt.asIntN(64, integer) !== integer) throw new Error('an integer beyond 64 bits');
      return Number(integer);
    }
    case 'doubleValue':
      if (typeof content !== 'number') throw new Error('a bad number');
      return content;
    case 'arrayValue':
      only(content as Json, ['values']);
      return list((content as Json).values).map(valueOf);
    default:
      throw new Error(`a value of kind ${kind}`);
  }
}

function only(message: Json, fields: readonly string[]): void {
  const unknown = Object.keys(message).filter((field) => !fields.includes(field));
  if (unknown.length > 0) throw new Error(`unknown field ${unknown.join(', ')}`);
}

function list(value: unknown): Json[] {
  if (!Array.isArray(value)) throw new Error('not a list');
  return value as Json[];
}

function hex(value: unknown, length: number): string {
  if (typeof value !== 'string' || !new RegExp(`^[0-9a-f]{${length}}$`).test(value)) {
    throw new Error(`a bad id: ${String(value)}`);
  }
  return value;
}

function nanoseconds(value: unknown): bigint {
  if (typeof value !== 'string' || !/^\d+$/.test(value)) throw new Error('a bad time');
  return BigInt(value);
}
