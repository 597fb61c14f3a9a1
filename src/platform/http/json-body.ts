import { isAscii, isUtf8 } from 'node:buffer';
import { InvalidRequestError } from '../errors/gateway-errors.js';
import { assertParseable } from './assert-parseable.js';
import { scanTopLevelMembers, type TopLevelMember } from './top-level-members.js';

export type JsonObject = Record<string, unknown>;

/** A JSON object as it was received, with its parsed value and where its top-level members lie. */
export interface JsonBody {
  readonly bytes: Buffer;
  readonly value: JsonObject;
  readonly members: readonly TopLevelMember[];
}

/** Real bodies nest less than 30 deep; deeper ones only serve to exhaust a recursive reader. */
const MAX_DEPTH = 200;

/** @throws InvalidRequestError (`body`) for anything but a JSON object in UTF-8. */
export function parseJsonBody(bytes: Buffer): JsonBody {
  if (bytes.length === 0)
    throw new InvalidRequestError('body', 'The body is empty; send a JSON object.');
  assertParseable(bytes);
  const value = parseText(decode(bytes));
  if (!isJsonObject(value))
    throw new InvalidRequestError('body', 'The body must be a JSON object.');
  const { members, depth } = scanTopLevelMembers(bytes);
  if (depth > MAX_DEPTH) {
    throw new InvalidRequestError(
      'body',
      `The body nests ${depth} levels deep; at most ${MAX_DEPTH} are taken.`,
    );
  }
  return { bytes, value, members };
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** ASCII, the common case, is copied rather than decoded and stays a one-byte string, which parses faster. */
function decode(bytes: Buffer): string {
  if (isAscii(bytes)) return bytes.toString('latin1');
  if (isUtf8(bytes)) return bytes.toString('utf8');
  throw new InvalidRequestError('body', 'The body is not valid UTF-8.');
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const position = /position \d+/.exec((error as Error).message)?.[0];
    throw new InvalidRequestError(
      'body',
      `The body is not valid JSON${position ? ` (at ${position})` : ''}.`,
    );
  }
}
