import type { CanonicalRequest } from '../../../canonical/canonical-request.js';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { spliceMembers } from '../../../platform/http/top-level-members.js';
import type { UpstreamCall } from '../../upstream.js';
import { GATEWAY_FIELDS } from '../../../canonical/routing-fields.js';
import { dropUnknown, nameUnknown, RESPONSES_FIELDS } from '../known-fields.js';
import { mapToolId } from '../tool-calls.js';
import { objectsOf, listOf } from '../answer-json.js';

/** Longer tool call ids are rejected. */
const MAX_CALL_ID_LENGTH = 64;

/** Encrypted reasoning that names its maker is another vendor's; the dialect's own is base64. */
const FOREIGN_REASONING = /^[a-z][a-z0-9-]*:/;

/**
 * Body fields of this or another gateway, or references to data that only the gateway stores: `input`
 * contains the whole conversation, and metadata is the caller's.
 */
const RESPONSES_GATEWAY_FIELDS = [
  ...[...GATEWAY_FIELDS, 'previous_response_id', 'metadata'],
  ...['conversation', 'background'],
];

/** Members of `reasoning` that only the gateway supports. */
const GATEWAY_REASONING = ['max_tokens', 'enabled', 'exclude'] as const;

const ENCRYPTED_REASONING = 'reasoning.encrypted_content';

/** Lists request fields that a vendor of this dialect does not support. */
export function fieldsResponsesLacks(
  { body }: CanonicalRequest,
  knownFieldsOnly = false,
): readonly string[] {
  const unknown = knownFieldsOnly
    ? nameUnknown(body, RESPONSES_FIELDS, RESPONSES_GATEWAY_FIELDS)
    : [];
  return [...reasoningLacks(body.value), ...unknown];
}

function reasoningLacks({ reasoning }: JsonObject): string[] {
  if (!isJsonObject(reasoning)) return [];
  return GATEWAY_REASONING.filter((field) => reasoning[field] != null).map(
    (field) => `reasoning.${field}`,
  );
}

/**
 * Encodes the body for a vendor that speaks the caller's own dialect: the received bytes with the
 * documented edits, everything else untouched.
 */
export function encodeResponsesRequest(
  {
    request,
    upstreamModel,
    ownOutputLimit,
  }: Pick<UpstreamCall, 'request' | 'upstreamModel' | 'ownOutputLimit'>,
  knownFieldsOnly = false,
): Buffer {
  const { body } = request;
  const { value } = body;
  const edits = new Map<string, string | undefined>([
    ['model', JSON.stringify(upstreamModel)],
    // Stores nothing of a caller's in the vendor account that all callers share.
    ['store', 'false'],
  ]);
  if (knownFieldsOnly) dropUnknown(value, RESPONSES_FIELDS, edits);
  for (const field of RESPONSES_GATEWAY_FIELDS) if (field in value) edits.set(field, undefined);

  if (ownOutputLimit !== undefined) edits.set('max_output_tokens', String(ownOutputLimit));
  if (request.webSearch) edits.set('max_tool_calls', String(request.webSearch.most));
  const items = objectsOf(value.input);
  const replayable = toReplayableItems(items);
  if (replayable !== items) edits.set('input', JSON.stringify(replayable));
  if (isJsonObject(value.reasoning)) {
    if (reasoningLacks(value).length > 0) {
      edits.set('reasoning', JSON.stringify(withoutGatewayFields(value.reasoning)));
    }
    const include = setsReasoning(value.reasoning) ? requestEncryptedReasoning(value) : undefined;
    if (include) edits.set('include', JSON.stringify(include));
  }
  return spliceMembers(body.bytes, body.members, edits);
}

/** Fields that the model reads, which a token count needs. */
const COUNTED_FIELDS = [
  ...['instructions', 'parallel_tool_calls', 'reasoning', 'text', 'tool_choice', 'tools'],
  'truncation',
];

/** Encodes the body of a token count. */
export function encodeResponsesCount(
  { body: { value } }: Pick<CanonicalRequest, 'body'>,
  upstreamModel: string,
): Buffer {
  const { input } = value;
  const counted: JsonObject = {
    model: upstreamModel,
    input: Array.isArray(input) ? toReplayableItems(objectsOf(input)) : input,
  };
  for (const field of COUNTED_FIELDS) if (value[field] != null) counted[field] = value[field];
  if (isJsonObject(value.reasoning)) counted.reasoning = withoutGatewayFields(value.reasoning);
  return Buffer.from(JSON.stringify(counted));
}

function withoutGatewayFields(reasoning: JsonObject): JsonObject {
  const rest = { ...reasoning };
  for (const field of GATEWAY_REASONING) delete rest[field];
  return rest;
}

/** Returns whether `reasoning` has members that affect how much the model reasons. */
function setsReasoning(reasoning: JsonObject): boolean {
  return Object.values(withoutGatewayFields(reasoning)).some((value) => value != null);
}

/**
 * Requests encrypted reasoning when needed. A vendor that stores nothing returns it only on request.
 * Models without reasoning reject that, so it is limited to callers who set reasoning themselves.
 */
function requestEncryptedReasoning({ store, include }: JsonObject): unknown[] | undefined {
  if (store === false) return undefined;
  const asked = listOf(include);
  return asked.includes(ENCRYPTED_REASONING) ? undefined : [...asked, ENCRYPTED_REASONING];
}

/**
 * Prepares items of earlier turns for a vendor that has not stored them. The vendor would try to look up
 * items with an id, so ids are removed. So is reasoning that needs a lookup or that another vendor
 * encrypted.
 *
 * @returns the same array when nothing changed
 */
function toReplayableItems(items: readonly JsonObject[]): readonly JsonObject[] {
  let isChanged = false;
  const replayable = items.flatMap((item) => {
    const changed = toReplayable(item);
    isChanged ||= changed !== item;
    return changed ? [changed] : [];
  });
  return isChanged ? replayable : items;
}

function toReplayable(item: JsonObject): JsonObject | undefined {
  switch (item.type ?? 'message') {
    case 'message':
      return without(item, 'id');
    case 'reasoning': {
      const encrypted = item.encrypted_content;
      const isReadable = typeof encrypted === 'string' && encrypted !== '';
      if (!isReadable || FOREIGN_REASONING.test(encrypted)) return undefined;
      return without(item, 'id');
    }
    case 'function_call':
    case 'function_call_output':
      return withShortCallId(without(item, 'id', 'encrypted_content'));
    case 'custom_tool_call':
    case 'custom_tool_call_output':
      return withShortCallId(without(item, 'id', 'encrypted_content', 'status'));
    case 'local_shell_call':
    case 'shell_call':
    case 'shell_call_output':
    case 'apply_patch_call':
    case 'apply_patch_call_output':
    case 'tool_search_call':
    case 'tool_search_output':
      return withShortCallId(without(item, 'id', 'encrypted_content'));
    default:
      return item;
  }
}

function without(item: JsonObject, ...fields: string[]): JsonObject {
  if (!fields.some((field) => field in item)) return item;
  const rest = { ...item };
  for (const field of fields) delete rest[field];
  return rest;
}

function withShortCallId(item: JsonObject): JsonObject {
  const id = item.call_id;
  if (typeof id !== 'string' || id.length <= MAX_CALL_ID_LENGTH) return item;
  return { ...item, call_id: mapToolId(id, MAX_CALL_ID_LENGTH) };
}
