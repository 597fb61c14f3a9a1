import { countCodePoints } from '../../canonical/prompt-size.js';
import { isJsonObject, MAX_DEPTH, type JsonObject } from '../../platform/http/json-body.js';
import { measureJson } from '../../platform/http/json-scanner.js';
import { beyondLimit, unreadable } from '../upstream-error.js';

/** Far beyond any model's answer; a larger count is invalid. */
const MAX_TOKENS = 1_000_000_000;

/**
 * More than 30,000 tokens with five top log probabilities each; parsed in a second. The 64 MB that an
 * answer may have could hold twenty times as many, which would block everyone for a minute or exhaust memory.
 */
const MAX_PARTS = 1_000_000;
/** Shorter texts cannot be deep or large enough to do harm. */
const MIN_COUNTED_LENGTH = 4_096;

/**
 * Parses JSON of any shape from a vendor.
 *
 * @param what description for the error: `an answer`, `a chunk`
 * @param status the status of the answer, when the failure should have it
 * @throws UpstreamError `unreadable` for invalid JSON, more than 1,000,000 objects, arrays, members and
 *   strings in arrays, or nesting over 200 levels
 */
export function parseAnswerJson(text: string, what: string, status?: number): unknown {
  assertReadable(text, what, status);
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.name : String(error);
    throw unreadable(`${what} that is not JSON: ${reason}`, status);
  }
}

function assertReadable(text: string, what: string, status: number | undefined): void {
  if (text.length < MIN_COUNTED_LENGTH) return;
  const { parts, depth } = measureJson(text, MAX_PARTS);
  if (depth > MAX_DEPTH) throw beyondLimit(`${what} nested more than ${MAX_DEPTH} deep`, status);
  if (parts > MAX_PARTS) throw beyondLimit(`${what} of more than ${MAX_PARTS} parts`, status);
}

/**
 * Parses a JSON object from a vendor.
 *
 * @param what description for the error: `an answer`, `a chunk`
 * @throws UpstreamError `unreadable` for anything else
 */
export function parseAnswerObject(text: string, what: string): JsonObject {
  const value = parseAnswerJson(text, what);
  if (isJsonObject(value)) return value;
  throw unreadable(`${what} that is no JSON object`);
}

/** Returns an object, or an empty one for any other value. */
export function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** Returns a list, or an empty one for any other value. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the objects of a list; empty for any other value. */
export function objectsOf(value: unknown): JsonObject[] {
  return listOf(value).filter(isJsonObject);
}

/** Counts the code points of a string; 0 for any other value. */
export function codePointsOf(value: unknown): number {
  return typeof value === 'string' ? countCodePoints(value) : 0;
}

/** Returns whether a value is an integer from 0 to `max`. */
export function isCount(value: unknown, max = Number.MAX_SAFE_INTEGER): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max;
}

/** Returns a vendor's count of tokens or similar units; undefined when invalid. */
export function readTokenCount(value: unknown): number | undefined {
  return isCount(value, MAX_TOKENS) ? value : undefined;
}

/** More than any caller may request. */
const MAX_CHOICE_INDEX = 127;

/**
 * Reads the index of an answer's choice.
 *
 * @param missing the index when absent
 * @throws UpstreamError `unreadable` for an invalid index
 */
export function readChoiceIndex(index: unknown, missing = 0): number {
  const read = index ?? missing;
  if (isCount(read, MAX_CHOICE_INDEX)) return read;
  throw unreadable('a choice with an invalid index', 200);
}
