import { createHash } from 'node:crypto';
import { isJsonObject } from '../../platform/http/json-body.js';

const FINGERPRINT_DIGITS = 12;

/** Of rows, which nobody changes. A start asks for the same ones several times, and they are hundreds. */
const textsOfRows = new WeakMap<object, string>();

/** Names a text by 12 hexadecimal digits: the same for the same one. */
export function fingerprintOfText(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, FINGERPRINT_DIGITS);
}

/** JSON of what came as JSON, with the fields of each object in order; one that is undefined is not there. */
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

/** The same of one row. */
export function canonicalRow(row: object): string {
  let text = textsOfRows.get(row);
  if (text === undefined) {
    text = canonicalJson(row);
    textsOfRows.set(row, text);
  }
  return text;
}

/** The same of all rows with their ids, in the order that they have here. */
export function canonicalRows(rows: Iterable<readonly [string, object]>): string {
  const texts: string[] = [];
  for (const [id, row] of rows) texts.push(`[${JSON.stringify(id)},${canonicalRow(row)}]`);
  return `[${texts.join(',')}]`;
}

/** The same where the same rows are, in whatever order. */
export function canonicalCatalogue(rows: ReadonlyMap<string, object>): string {
  return canonicalRows([...rows].sort(([one], [other]) => (one < other ? -1 : 1)));
}
