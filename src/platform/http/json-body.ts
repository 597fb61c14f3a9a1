import { isAscii, isUtf8 } from 'node:buffer';
import { InvalidRequestError } from '../errors/gateway-errors.js';
import type { BodyLease } from './body-budget.js';
import { JsonScanner, type TopLevelMember } from './json-scanner.js';
import type { BodyInspector } from './read-body.js';
import { topLevelMembers } from './top-level-members.js';
import { messageOf } from '../errors/thrown.js';

export type JsonObject = Record<string, unknown>;

/** A JSON object as received, with its parsed and validated value and the offsets of its top-level members. */
export interface JsonBody<Value extends JsonObject = JsonObject> {
  readonly bytes: Buffer;
  readonly value: Value;
  readonly members: readonly TopLevelMember[];
  /**
   * Drops a large `value`; later reads parse the bytes again. Called once a vendor has been called: the bytes suffice
   * for what is rarely needed then, such as a fallback, and a request may wait for minutes.
   *
   * @param when `always` drops small values too: once an answer has started, they are rarely read, and thousands of
   *   requests may be open
   */
  forget?(when?: 'large' | 'always'): void;
}

/** Real bodies nest less than 30 deep; deeper ones only exhaust recursive readers. */
export const MAX_DEPTH = 200;
/**
 * Counts objects, arrays, members and strings in arrays. Six thousand turns with tool calls stay below it. A body of
 * nothing else parses in about 60 ms into 7 MB of objects; ten times as many would block the process for
 * seconds.
 */
export const MAX_PARTS = 100_000;
/** At the top level, where each member's offset is recorded. Vendors' requests have up to fifty. */
const MAX_TOP_LEVEL_MEMBERS = 1_000;
/** The size of an object in V8, about that of a member with its string. */
const BYTES_OF_PART = 80;
/** For example a number in an array, two bytes of JSON, which is boxed when strings are among the numbers. */
const BYTES_OF_ELEMENT = 16;
/** Parsing less again would cost more than its memory is worth. */
const WORTH_FORGETTING_BYTES = 16_384;

export interface ParseOptions {
  /** The lease on memory for bodies, which already covers the bytes. */
  lease?: BodyLease | undefined;
  /** Infinity for a body that was built here from one that was counted. */
  maxParts?: number;
  /** A scanner that has read the first bytes or all of them; it saves another pass. */
  scanned?: JsonScanner;
}

/**
 * Parses a JSON object. Its size is counted before anything is built.
 *
 * When an object at any depth repeats a member, only the last one stays: JSON readers disagree about which one counts,
 * so a vendor could read another value than the one that was validated, measured and shown to guardrails.
 *
 * @throws InvalidRequestError (`body`) for anything but a JSON object in UTF-8, and for more than 100,000 objects,
 * arrays, members and strings in arrays or 1,000 top-level members
 * @throws OverloadedError when there is no memory for it
 */
export function parseJsonBody(
  bytes: Buffer,
  { lease, maxParts = MAX_PARTS, scanned }: ParseOptions = {},
): JsonBody {
  if (bytes.length === 0)
    throw new InvalidRequestError('body', 'The body is empty; send a JSON object.');
  const scan = scanned?.length === bytes.length ? scanned : new JsonScanner().add(bytes, maxParts);
  const { depth, parts, commas, colons } = scan;
  if (parts > maxParts) throw tooManyParts();
  const members = scan.membersIn(bytes);
  if (members.length > MAX_TOP_LEVEL_MEMBERS) {
    throw new InvalidRequestError(
      'body',
      'The body has more than 1,000 members at its top level; send fewer.',
    );
  }
  if (depth > MAX_DEPTH) {
    throw new InvalidRequestError(
      'body',
      `The body is nested ${depth} levels deep; at most ${MAX_DEPTH} are accepted.`,
    );
  }
  const valueBytes = bytes.length + parts * BYTES_OF_PART + commas * BYTES_OF_ELEMENT;
  lease?.add(valueBytes);
  const body = new ReceivedBody(bytes, members, valueBytes, lease);
  if (countMembers(body.value) === colons) return body;
  const serialized = Buffer.from(JSON.stringify(body.value));
  body.forget('always');
  return parseJsonBody(serialized, { lease, maxParts });
}

/** Rejects a large body by its first pieces when they already have too many parts. */
export class PartLimit implements BodyInspector {
  readonly scanner = new JsonScanner();

  /** @throws InvalidRequestError as `parseJsonBody` does */
  inspect(piece: Buffer): void {
    if (this.scanner.add(piece, MAX_PARTS).parts > MAX_PARTS) throw tooManyParts();
  }
}

function tooManyParts(): InvalidRequestError {
  return new InvalidRequestError(
    'body',
    'The body has more than 100,000 objects, arrays, members and strings in arrays; send less at once.',
  );
}

class ReceivedBody implements JsonBody {
  private parsed: JsonObject | undefined;
  private isCounted = true;

  constructor(
    readonly bytes: Buffer,
    private places: readonly TopLevelMember[] | undefined,
    private readonly valueBytes: number,
    private readonly lease: BodyLease | undefined,
  ) {
    this.parsed = parseObject(bytes);
  }

  get value(): JsonObject {
    return (this.parsed ??= parseObject(this.bytes));
  }

  get members(): readonly TopLevelMember[] {
    return (this.places ??= topLevelMembers(this.bytes));
  }

  forget(when: 'large' | 'always' = 'large'): void {
    if (when === 'always') this.places = undefined;
    else if (this.valueBytes < WORTH_FORGETTING_BYTES) return;
    this.parsed = undefined;
    if (this.isCounted) this.lease?.add(-this.valueBytes);
    this.isCounted = false;
  }
}

function parseObject(bytes: Buffer): JsonObject {
  const value = parseText(decode(bytes));
  if (isJsonObject(value)) return value;
  throw new InvalidRequestError('body', 'The body must be a JSON object.');
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** ASCII, the common case, is copied instead of decoded and stays a one-byte string, which parses faster. */
function decode(bytes: Buffer): string {
  if (isAscii(bytes)) return bytes.toString('latin1');
  if (isUtf8(bytes)) return bytes.toString('utf8');
  throw new InvalidRequestError('body', 'The body is not valid UTF-8.');
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const position = /position \d+/.exec(messageOf(error))?.[0];
    throw new InvalidRequestError(
      'body',
      `The body is not valid JSON${position ? ` (at ${position})` : ''}.`,
    );
  }
}

/** Counts members at any depth. */
function countMembers(value: unknown): number {
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) count += countMembers(item);
  } else if (isJsonObject(value)) {
    for (const key of Object.keys(value)) count += 1 + countMembers(value[key]);
  }
  return count;
}
