import { JsonScanner, type TopLevelMember } from './json-scanner.js';

/**
 * Finds the members of a JSON object without decoding it, so that single values of a large body can be replaced in
 * place.
 *
 * @param bytes a JSON object; anything else yields meaningless offsets
 * @returns members in order, repeated keys included
 */
export function topLevelMembers(bytes: Buffer): TopLevelMember[] {
  return new JsonScanner().add(bytes).membersIn(bytes);
}

/**
 * Returns the object with members replaced, removed or added; other bytes stay unchanged. Of a repeated key only the last
 * one stays, which is the one that parsers read.
 *
 * @param edits new value per key; `undefined` removes the member, a missing key is added
 */
export function spliceMembers(
  bytes: Buffer,
  members: readonly TopLevelMember[],
  edits: ReadonlyMap<string, string | Buffer | undefined>,
): Buffer {
  const exchanged = exchangeMembers(bytes, members, edits);
  if (exchanged) return exchanged;
  const last = new Map<string, TopLevelMember>();
  for (const member of members) last.set(member.key, member);

  const pieces: Buffer[] = [];
  const separate = (): void => {
    pieces.push(pieces.length === 0 ? OPENING : SEPARATOR);
  };
  for (const member of last.values()) {
    if (!edits.has(member.key)) {
      separate();
      pieces.push(bytes.subarray(member.keyStart, member.valueEnd));
      continue;
    }
    const value = edits.get(member.key);
    if (value === undefined) continue;
    separate();
    pieces.push(bytes.subarray(member.keyStart, member.valueStart), toBuffer(value));
  }
  for (const [key, value] of edits) {
    if (value === undefined || last.has(key)) continue;
    separate();
    pieces.push(Buffer.from(`${JSON.stringify(key)}:`), toBuffer(value));
  }
  if (pieces.length === 0) return Buffer.from('{}');
  pieces.push(CLOSING);
  return Buffer.concat(pieces);
}

/** More are not worth comparing pairwise. */
const MAX_COMPARED_MEMBERS = 32;

/** Handles the common case in a few slices: each edited key occurs exactly once and keeps a value. */
function exchangeMembers(
  bytes: Buffer,
  members: readonly TopLevelMember[],
  edits: ReadonlyMap<string, string | Buffer | undefined>,
): Buffer | undefined {
  if (members.length > MAX_COMPARED_MEMBERS || repeatsKey(members)) return undefined;
  const pieces: Buffer[] = [];
  let copied = 0;
  let found = 0;
  for (const { key, valueStart, valueEnd } of members) {
    const value = edits.get(key);
    if (value === undefined) continue;
    found++;
    pieces.push(bytes.subarray(copied, valueStart), toBuffer(value));
    copied = valueEnd;
  }
  if (found !== edits.size) return undefined;
  pieces.push(bytes.subarray(copied));
  return Buffer.concat(pieces);
}

function repeatsKey(members: readonly TopLevelMember[]): boolean {
  for (let one = 1; one < members.length; one++) {
    for (let other = 0; other < one; other++) {
      if (members[one]!.key === members[other]!.key) return true;
    }
  }
  return false;
}

const OPENING = Buffer.from('{');
const SEPARATOR = Buffer.from(',');
const CLOSING = Buffer.from('}');

function toBuffer(value: string | Buffer): Buffer {
  return typeof value === 'string' ? Buffer.from(value) : value;
}
