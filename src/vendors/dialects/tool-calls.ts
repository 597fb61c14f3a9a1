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

/** Anything that starts otherwise need not be parsed. */
const OBJECT = /^\s*\{/;

/** For the system prompt, when a model cannot be forced to answer by a tool call. */
export const JSON_INSTRUCTION =
  'Answer with one JSON object and nothing else, not even a code fence.';

/**
 * Maps a tool call's id to one that a vendor accepts: unchanged if its characters and length allow, else
 * a digest, so that ids stay distinct and stable.
 */
export function mapToolId(id: string, maxLength = 64): string {
  if (id.length <= maxLength && /^[A-Za-z0-9_-]+$/.test(id)) return id;
  return `call_${createHash('sha256').update(id).digest('base64url').slice(0, 32)}`;
}

/** Keeps the ids of an answer's tool calls unique, because callers match results by them. */
export class CallIds {
  private readonly taken = new Set<string>();

  /** Returns the vendor's id of the next call, or a generated one if it is missing or taken. */
  next(given: unknown): string {
    const isFree = typeof given === 'string' && given !== '' && !this.taken.has(given);
    const id = isFree ? given : `call_${randomBytes(12).toString('hex')}`;
    this.taken.add(id);
    return id;
  }
}

/** Returns the wanted tool name, with underscores appended until no tool of the caller has it. */
export function unusedToolName(tools: readonly ToolDefinition[], wanted: string): string {
  const taken = new Set(tools.map(({ name }) => name));
  let name = wanted;
  while (taken.has(name)) name += '_';
  return name;
}

/** Parses a tool call's arguments into the object that most vendors require; undefined when they are none. */
export function toolInput(text: string): JsonObject | undefined {
  if (!OBJECT.test(text)) return text.trim() === '' ? {} : undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    // A model may have written half an object, and a free-form tool accepts any text.
    return undefined;
  }
}

/**
 * Checks tool call arguments before they are parsed. Together they may have as many parts as a body, and
 * nest as deep, because they are parsed and serialized like one.
 *
 * @param param the request field with the conversation
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
        `The arguments of earlier tool calls are too large for this model: they nest more than ${MAX_DEPTH} levels deep, or have more than ${MAX_PARTS} objects, arrays, members and strings in arrays.`,
      );
    }
  }
}
