import { createHash } from 'node:crypto';
import { isJsonObject } from '../../platform/http/json-body.js';

const FINGERPRINT_DIGITS = 12;

/** Cached, because the same hundreds of immutable rows are encoded several times at startup. */
const textsOfRows = new WeakMap<object, string>();

/** Returns 12 hexadecimal digits of the text's hash. */
export function fingerprintOfText(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, FINGERPRINT_DIGITS);
}

/** Encodes JSON data with sorted keys; omits undefined members. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) {
    return `[${value.map((member) => (member === undefined ? 'null' : canonicalJson(member))).join(',')}]`;
  }
  if (!isJsonObject(value)) return JSON.stringify(value);
  const fields: string[] = [];
  for (const name of Object.keys(value).sort()) {
    const member = value[name];
    if (member !== undefined) fields.push(`${JSON.stringify(name)}:${canonicalJson(member)}`);
  }
  return `{${fields.join(',')}}`;
}

/** Encodes one row. */
export function canonicalRow(row: object): string {
  let text = textsOfRows.get(row);
  if (text === undefined) {
    text = canonicalJson(row);
    textsOfRows.set(row, text);
  }
  return text;
}

/** Encodes all rows with their ids, in the given order. */
export function canonicalRows(rows: Iterable<readonly [string, object]>): string {
  const texts: string[] = [];
  for (const [id, row] of rows) texts.push(`[${JSON.stringify(id)},${canonicalRow(row)}]`);
  return `[${texts.join(',')}]`;
}

/** Encodes the rows in a fixed order. */
export function canonicalCatalogue(rows: ReadonlyMap<string, object>): string {
  return canonicalRows([...rows].sort(([one], [other]) => (one < other ? -1 : 1)));
}
