import { createHash, randomBytes } from 'node:crypto';
import type { CanonicalMessage, ToolDefinition } from '../../canonical/canonical-request.js';
import {
  isJsonObject,
  MAX_DEPTH,
  MAX_PARTS,
  type JsonObject,
} from '../../platform/http/json-body.js';
import { measureJson } from '../../platform/http/json-scanner.js';
import { unsupported } from '../upstream-error.js';

/** Whatever does not begin so is parsed for nothing. */
const OBJECT = /^\s*\{/;

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

/** The ids of an answer's tool calls, no two alike: callers find results by them. */
export class CallIds {
  private readonly taken = new Set<string>();

  /** The vendor's id of the next call, or one made here where it gives none, or one that is taken. */
  next(given: unknown): string {
    const isFree = typeof given === 'string' && given !== '' && !this.taken.has(given);
    const id = isFree ? given : `call_${randomBytes(12).toString('hex')}`;
    this.taken.add(id);
    return id;
  }
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
  if (!OBJECT.test(text)) return text.trim() === '' ? {} : undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    // A model may have written half an object, and a free-form tool takes any text.
    return undefined;
  }
}

/**
 * To be called before arguments are read: together they may be made of as much as a body, and nest as deep, for they are
 * parsed and written as one is.
 *
 * @param param the request's field that holds the conversation
 * @throws UpstreamError `unsupported`
 */
export function assertToolInputs(messages: readonly CanonicalMessage[], param: string): void {
  let parts = 0;
  for (const message of messages) {
    for (const part of message.parts) {
      if (part.type !== 'tool_call' || !OBJECT.test(part.arguments)) continue;
      const size = measureJson(part.arguments, MAX_PARTS - parts);
      parts += size.parts;
      if (parts <= MAX_PARTS && size.depth <= MAX_DEPTH) continue;
      throw unsupported(
        param,
        `The arguments of earlier tool calls nest more than ${MAX_DEPTH} levels deep, or are made of more than ${MAX_PARTS} objects, arrays, members and strings in arrays, which is too much to be told this model.`,
      );
    }
  }
}
