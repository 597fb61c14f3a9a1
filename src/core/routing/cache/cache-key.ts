import { createHash } from 'node:crypto';
import type { CanonicalRequest } from '../../../canonical/canonical-request.js';
import type { EmbeddingRequest } from '../../../canonical/work-request.js';
import { isJsonObject, type JsonBody } from '../../../platform/http/json-body.js';

export type CacheableRequest = CanonicalRequest | EmbeddingRequest;

/** Body members that change neither the prompt nor the possible answers. */
const EXCLUDED_MEMBERS = new Set([
  ...[
    'stream',
    'stream_options',
    'user',
    'metadata',
    'trace',
    'session_id',
    'max_cost',
    'max_cost_mode',
  ],
]);

/** Bump when the stored form of answers changes. */
const FORMAT = 1;

/**
 * Returns the cache key of a request. Two requests of one tenant share a key when they differ only
 * in white space, key order, and members that do not reach the model. All other members count,
 * known to the gateway or not.
 */
export function cacheKeyOf(tenantId: string, request: CacheableRequest): string {
  const wireFormat = 'dialect' in request ? request.dialect : request.kind;
  const hash = createHash('sha256').update(JSON.stringify([FORMAT, tenantId, wireFormat]));
  const { value } = request.body;
  for (const key of Object.keys(value).sort()) {
    if (EXCLUDED_MEMBERS.has(key) || value[key] === undefined) continue;
    hash.update(JSON.stringify(key));
    hash.update(memberText(request.body, key));
  }
  return hash.digest('base64url');
}

function memberText(body: JsonBody, key: string): string | Buffer {
  try {
    return JSON.stringify(inOrder(body.value[key]));
  } catch (error) {
    if (!(error instanceof InexactNumberError)) throw error;
    // Numbers that are equal in JavaScript may differ for the vendor, which gets their original
    // digits.
    const member = body.members.findLast((candidate) => candidate.key === key);
    return member ? body.bytes.subarray(member.valueStart, member.valueEnd) : body.bytes;
  }
}

class InexactNumberError extends Error {}

/** Returns the value with its keys sorted at every depth. */
function inOrder(value: unknown): unknown {
  if (typeof value === 'number') {
    const isExact = Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
    if (!isExact) throw new InexactNumberError();
    return value;
  }
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isJsonObject(value)) return value;
  const members = Object.keys(value).sort();
  return Object.fromEntries(members.map((key) => [key, inOrder(value[key])]));
}
