import { createHash } from 'node:crypto';
import type { ToolDefinition } from '../../canonical/canonical-request.js';
import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';

/** For the system prompt, where a model cannot be made to answer by a call. */
export const JSON_INSTRUCTION =
  'Answer with one JSON object and nothing else, not even a code fence.';

/**
 * A tool call's id as a vendor takes it: unchanged where its alphabet and length allow, else a
 * digest of it, so that different ids stay different and the same one stays the same.
 */
export function mapToolId(id: string, maxLength = 64): string {
  if (id.length <= maxLength && /^[A-Za-z0-9_-]+$/.test(id)) return id;
  return `call_${createHash('sha256').update(id).digest('base64url').slice(0, 32)}`;
}

/** A name that none of the caller's tools has: the wanted one, or that with underscores behind it. */
export function unusedToolName(tools: readonly ToolDefinition[], wanted: string): string {
  const taken = new Set(tools.map(({ name }) => name));
  let name = wanted;
  while (taken.has(name)) name += '_';
  return name;
}

/** A tool call's arguments as the object that most vendors want; undefined where they are none. */
export function toolInput(text: string): JsonObject | undefined {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    // A model may have written half an object, and a free-form tool takes any text.
    return undefined;
  }
}
