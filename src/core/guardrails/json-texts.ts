import { isJsonObject } from '../../platform/http/json-body.js';

/** Fewer digits identify nobody. */
const LEAST_NUMBER = 1_000_000;

/** Adds every string of a JSON value, its keys included, and every long number. */
export function collectJsonTexts(value: unknown, texts: string[]): void {
  if (typeof value === 'string') {
    if (value !== '') texts.push(value);
  } else if (typeof value === 'number') {
    if (Math.abs(value) >= LEAST_NUMBER) texts.push(String(value));
  } else if (Array.isArray(value)) {
    for (const item of value) collectJsonTexts(item, texts);
  } else if (isJsonObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      if (key !== '') texts.push(key);
      collectJsonTexts(item, texts);
    }
  }
}

/** JSON may nest as deep as its text is long; nothing that means something nests so deep. */
const MAX_DEPTH = 200;

/**
 * The strings of a JSON text, in which its escapes would hide them. Nothing for a text that is no
 * JSON, which hides nothing.
 */
export function parseJsonTexts(json: string): string[] {
  const texts: string[] = [];
  // Without an escape the text itself shows all there is.
  if (!json.includes('\\') || nestsTooDeep(json)) return texts;
  try {
    collectJsonTexts(JSON.parse(json), texts);
  } catch {
    // The text as it is has been looked at.
  }
  return texts;
}

function nestsTooDeep(json: string): boolean {
  let depth = 0;
  for (let index = 0; index < json.length; index++) {
    const unit = json.charCodeAt(index);
    if (unit === 0x5b || unit === 0x7b) depth++;
    else if (unit === 0x5d || unit === 0x7d) depth--;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}
