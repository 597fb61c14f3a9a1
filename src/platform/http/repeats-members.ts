import { isJsonObject, type JsonBody } from './json-body.js';
import { endOfString } from './top-level-members.js';

const QUOTE = 0x22;
const COLON = 0x3a;

/**
 * Whether an object in a body, at any depth, has two members of one name. Readers of JSON disagree
 * about which of them counts, so a vendor may read another than the one that was looked at here.
 */
export function repeatsMembers({ bytes, value }: Pick<JsonBody, 'bytes' | 'value'>): boolean {
  return countWritten(bytes) > countRead(value);
}

/** Outside strings there is one colon a member. */
function countWritten(bytes: Buffer): number {
  let count = 0;
  for (let index = 0; index < bytes.length; index++) {
    if (bytes[index] === QUOTE) index = endOfString(bytes, index) - 1;
    else if (bytes[index] === COLON) count++;
  }
  return count;
}

function countRead(value: unknown): number {
  if (Array.isArray(value)) {
    let count = 0;
    for (const item of value) count += countRead(item);
    return count;
  }
  if (!isJsonObject(value)) return 0;
  let count = 0;
  for (const key of Object.keys(value)) {
    // What has been taken out of a body is not in its bytes either.
    if (value[key] !== undefined) count += 1 + countRead(value[key]);
  }
  return count;
}
