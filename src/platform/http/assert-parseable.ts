import { InvalidRequestError } from '../errors/gateway-errors.js';
import { endOfString } from './top-level-members.js';

/** A hundred thousand messages stay below it; twenty megabytes of brackets do not. */
const MAX_MARKS = 2_000_000;

const QUOTE = 0x22;
/** 1 for each byte that is a mark. */
const IS_MARK = new Uint8Array(256);
for (const byte of Buffer.from('{[,:')) IS_MARK[byte] = 1;

/**
 * Refuses what would keep the parser, and with it everybody else, busy for seconds: large JSON that
 * is hardly more than structure. What is no JSON passes, for the parser to refuse.
 *
 * @throws InvalidRequestError (`body`) for more than two million brackets, commas and colons
 */
export function assertParseable(bytes: Buffer): void {
  // Shorter bodies cannot hold that many.
  if (bytes.length <= MAX_MARKS) return;
  let marks = 0;
  for (let index = 0; index < bytes.length && marks <= MAX_MARKS; index++) {
    const byte = bytes[index]!;
    if (byte === QUOTE) index = endOfString(bytes, index) - 1;
    else marks += IS_MARK[byte]!;
  }
  if (marks <= MAX_MARKS) return;
  throw new InvalidRequestError(
    'body',
    'The body is made of more than 2,000,000 brackets, commas and colons; send less at once.',
  );
}
