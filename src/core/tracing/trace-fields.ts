import type { Attributes } from '@opentelemetry/api';
import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import type { RequestTags } from '../../canonical/request-tags.js';
import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';

/** Contents of the body's `trace`. */
export interface TraceFields {
  /** Name of the root span. */
  readonly name: string | undefined;
  /** Attributes of the root span. */
  readonly attributes: Readonly<Attributes>;
}

/** Limit for the object's JSON in UTF-8. */
export const MAX_TRACE_BYTES = 16 * 1024;

/** OpenTelemetry's limit of attributes per span. */
const MAX_MEMBERS = 128;

const MAX_NAME_CHARACTERS = 256;

/** Members with a name in the semantic conventions. */
const CONVENTIONS: ReadonlyMap<string, string> = new Map([
  ['session_id', 'session.id'],
  ['user_id', 'user.id'],
]);

export const NO_FIELDS: TraceFields = { name: undefined, attributes: {} };

/**
 * Validates a body's `trace`.
 *
 * @throws InvalidRequestError unless it is an object within the limits, with strings for name and
 * priority
 */
export function checkTraceFields(trace: unknown): asserts trace is JsonObject | null | undefined {
  if (trace == null) return;
  if (!isJsonObject(trace)) throw new InvalidRequestError('trace', '`trace` must be an object.');
  if (Object.keys(trace).length > MAX_MEMBERS) {
    throw new InvalidRequestError(
      'trace',
      `\`trace\` must not have more than ${MAX_MEMBERS} members.`,
    );
  }
  if (Buffer.byteLength(JSON.stringify(trace)) > MAX_TRACE_BYTES) {
    throw new InvalidRequestError('trace', '`trace` must not be larger than 16 KB.');
  }
  for (const field of ['trace_name', 'priority']) {
    if (trace[field] != null && typeof trace[field] !== 'string') {
      throw new InvalidRequestError(`trace.${field}`, `\`trace.${field}\` must be a string.`);
    }
  }
}

/**
 * Reads a body's validated `trace`. Passes on members other than `trace_name` as `gateway.trace.*`,
 * lists and objects as JSON text. Adds the request's tags as `gateway.tag.*`, and its end user as
 * `user.id` unless the trace names another.
 */
export function readTraceFields(
  trace: JsonObject | null | undefined,
  { endUser, tags }: { endUser?: string | undefined; tags?: RequestTags | undefined },
): TraceFields {
  const attributes: Attributes = {};
  if (endUser !== undefined) attributes['user.id'] = endUser.toWellFormed();
  for (const key in tags) attributes[`gateway.tag.${key}`] = tags[key]!.toWellFormed();
  if (trace == null) return { name: undefined, attributes };
  for (const [key, value] of Object.entries(trace)) {
    if (value == null) continue;
    const name = CONVENTIONS.get(key);
    // The conventions require text; others may have any type.
    if (name !== undefined) attributes[name] = String(toAttribute(value));
    else attributes[`gateway.trace.${key}`.toWellFormed()] = toAttribute(value);
  }
  const name = typeof trace.trace_name === 'string' ? trace.trace_name : '';
  return { name: name.slice(0, MAX_NAME_CHARACTERS).toWellFormed() || undefined, attributes };
}

/** Strict collectors reject lone surrogates, and integers beyond 64 bits. */
function toAttribute(value: unknown): string | number | boolean {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'number') return JSON.stringify(value).toWellFormed();
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? String(value) : value;
}
