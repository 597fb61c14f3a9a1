import type { CanonicalRequest } from '../../../canonical/canonical-request.js';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { spliceMembers } from '../../../platform/http/top-level-members.js';
import type { UpstreamCall } from '../../upstream.js';
import { toReplayableItems } from './to-replayable-items.js';

/**
 * Fields of the body that are the gateway's own or another gateway's, or that name what only the
 * gateway keeps: the conversation stands in `input` as a whole, and metadata is the caller's.
 */
const GATEWAY_FIELDS = [
  'models',
  'provider',
  'route',
  'trace',
  'transforms',
  'plugins',
  'usage',
  'previous_response_id',
  'metadata',
] as const;

/** Members of `reasoning` that only the gateway knows. */
const GATEWAY_REASONING = ['max_tokens', 'enabled', 'exclude'] as const;

const ENCRYPTED_REASONING = 'reasoning.encrypted_content';

/** Request fields that a vendor of this dialect has no place for. */
export function fieldsResponsesLacks({ body }: CanonicalRequest): readonly string[] {
  const { reasoning } = body.value;
  if (!isJsonObject(reasoning)) return [];
  return GATEWAY_REASONING.filter((field) => reasoning[field] != null).map(
    (field) => `reasoning.${field}`,
  );
}

/**
 * The body for a vendor that speaks the caller's own dialect: the received bytes with the
 * documented edits, everything else untouched.
 */
export function encodeResponsesRequest({
  request,
  upstreamModel,
  ownOutputLimit,
}: Pick<UpstreamCall, 'request' | 'upstreamModel' | 'ownOutputLimit'>): Buffer {
  const { body } = request;
  const { value } = body;
  const edits = new Map<string, string | undefined>([
    ['model', JSON.stringify(upstreamModel)],
    // Nothing of a caller's is kept in the vendor account that all callers share.
    ['store', 'false'],
  ]);
  for (const field of GATEWAY_FIELDS) if (field in value) edits.set(field, undefined);

  if (ownOutputLimit !== undefined) edits.set('max_output_tokens', String(ownOutputLimit));
  if (Array.isArray(value.input)) {
    const items = value.input as JsonObject[];
    const replayable = toReplayableItems(items);
    if (replayable !== items) edits.set('input', JSON.stringify(replayable));
  }
  if (isJsonObject(value.reasoning)) {
    if (fieldsResponsesLacks(request).length > 0) {
      edits.set('reasoning', JSON.stringify(withoutGatewayFields(value.reasoning)));
    }
    const include = setsReasoning(value.reasoning) ? askForSeals(value) : undefined;
    if (include) edits.set('include', JSON.stringify(include));
  }
  return spliceMembers(body.bytes, body.members, edits);
}

function withoutGatewayFields(reasoning: JsonObject): JsonObject {
  const rest = { ...reasoning };
  for (const field of GATEWAY_REASONING) delete rest[field];
  return rest;
}

/** Whether there is more in it than what says nothing of how much to think. */
function setsReasoning(reasoning: JsonObject): boolean {
  return Object.values(withoutGatewayFields(reasoning)).some((value) => value != null);
}

/**
 * A vendor that keeps nothing gives its reasoning to be sent back only when it is asked. Models
 * that do not reason refuse to be asked, so it is done for callers who set reasoning themselves.
 */
function askForSeals({ store, include }: JsonObject): unknown[] | undefined {
  if (store === false) return undefined;
  const asked = Array.isArray(include) ? (include as unknown[]) : [];
  return asked.includes(ENCRYPTED_REASONING) ? undefined : [...asked, ENCRYPTED_REASONING];
}
