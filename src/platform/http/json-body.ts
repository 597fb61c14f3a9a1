import { isAscii, isUtf8 } from 'node:buffer';
import { InvalidRequestError } from '../errors/gateway-errors.js';
import type { BodyLease } from './body-budget.js';
import { JsonScanner, type TopLevelMember } from './json-scanner.js';
import type { BodyInspector } from './read-body.js';
import { topLevelMembers } from './top-level-members.js';
import { messageOf } from '../errors/thrown.js';

export type JsonObject = Record<string, unknown>;

/**
 * A JSON object as it was received, with its parsed value, of the shape that it has been checked
 * for, and where its top-level members lie.
 */
export interface JsonBody<Value extends JsonObject = JsonObject> {
  readonly bytes: Buffer;
  readonly value: Value;
  readonly members: readonly TopLevelMember[];
  /**
   * Lets go of `value` where it is large; who asks for it after all gets it parsed anew. To be called
   * when a vendor has been asked: the bytes are enough for what is rarely done then, such as to ask
   * the next one, and a request may wait for minutes.
   *
   * @param when `always`, of small bodies too: once an answer has begun hardly anybody asks for it any more,
   *   and thousands may be under way
   */
  forget?(when?: 'large' | 'always'): void;
}

/** Real bodies nest less than 30 deep; deeper ones only serve to exhaust a recursive reader. */
export const MAX_DEPTH = 200;
/**
 * Objects, arrays, members and strings in arrays. Six thousand turns with tool calls stay below it.
 * A body of nothing else parses in about 60 ms and becomes 7 MB of objects; ten times as many would
 * stop everybody else for seconds.
 */
export const MAX_PARTS = 100_000;
/** At the top, where each is remembered with its place. Vendors' requests have up to fifty. */
const MAX_TOP_LEVEL_MEMBERS = 1_000;
/** What an object takes in V8, which is about what a member takes with the string that it holds. */
const BYTES_OF_PART = 80;
/** Such as a number in an array, two bytes of JSON: boxed, where strings are among the numbers. */
const BYTES_OF_ELEMENT = 16;
/** Parsing less anew, where it is needed once more, would cost more than its memory is worth. */
const WORTH_FORGETTING_BYTES = 16_384;

export interface ParseOptions {
  /** Of the memory for bodies; it has the bytes already. */
  lease?: BodyLease | undefined;
  /** Infinity for what was made here, of a body that has been counted. */
  maxParts?: number;
  /** What has gone over the body's first bytes or all of them; of all of them, nothing does so again. */
  scanned?: JsonScanner;
}

/**
 * Reads a body that is to be a JSON object. How much there is to build is counted before it is built.
 *
 * Where an object, at any depth, names a member twice, only the last stays: readers of JSON disagree about which
 * one counts, so a vendor could read another than the one that was checked, measured and shown to guardrails here.
 *
 * @throws InvalidRequestError (`body`) for anything but a JSON object in UTF-8, and for one of more
 * than 100,000 objects, arrays, members and strings in arrays or 1,000 members at the top
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
      `The body nests ${depth} levels deep; at most ${MAX_DEPTH} are taken.`,
    );
  }
  const valueBytes = bytes.length + parts * BYTES_OF_PART + commas * BYTES_OF_ELEMENT;
  lease?.add(valueBytes);
  const body = new ReceivedBody(bytes, members, valueBytes, lease);
  if (countMembers(body.value) === colons) return body;
  const said = Buffer.from(JSON.stringify(body.value));
  body.forget('always');
  return parseJsonBody(said, { lease, maxParts });
}

/** Refuses a large body by its first pieces, where they have more parts than `parseJsonBody` takes. */
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
    'The body is made of more than 100,000 objects, arrays, members and strings in arrays; send less at once.',
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
    const position = /position \d+/.exec(messageOf(error))?.[0];
    throw new InvalidRequestError(
      'body',
      `The body is not valid JSON${position ? ` (at ${position})` : ''}.`,
    );
  }
}

/** Members at any depth. */
function countMembers(value: unknown): number {
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) count += countMembers(item);
  } else if (isJsonObject(value)) {
    for (const key of Object.keys(value)) count += 1 + countMembers(value[key]);
  }
  return count;
}
