import type { CanonicalRequest } from '../../canonical/canonical-request.js';
import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';

/** Fewer digits identify nobody. */
const LEAST_NUMBER = 1_000_000;

/** JSON may nest as deep as its text is long; nothing that means something nests so deep. */
const MAX_DEPTH = 200;

/** Members of a body, of whatever dialect, that a model does not read. */
const CONTROL_MEMBERS = new Set([
  'model',
  'models',
  'provider',
  'route',
  'stream',
  'stream_options',
  'trace',
  'metadata',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'session_id',
  'previous_response_id',
  'service_tier',
  'include',
  'store',
  'reasoning',
  'reasoning_effort',
  'thinking',
  'modalities',
  'tool_choice',
  'betas',
]);

/** Members that name or sign something rather than say it, at any depth. */
const STRUCTURE_MEMBERS = new Set([
  'type',
  'role',
  'id',
  'tool_call_id',
  'tool_use_id',
  'call_id',
  'file_id',
  'media_type',
  'mime_type',
  'format',
  'detail',
  'status',
  'signature',
  'encrypted_content',
  'cache_control',
]);

/** Members whose keys are names that somebody made up: the parameters in the schema of a tool. */
const NAMING_MEMBERS = new Set(['properties', 'patternProperties', '$defs', 'definitions']);

/** Members of free form, whose very keys are the caller's words: what tools are called with. */
const FREE_FORM_MEMBERS = new Set(['input']);

/**
 * Everything in a body that a model will read as text, whichever dialect it is in: every role and
 * part, results and arguments of tools, instructions, definitions of tools. It is read from the
 * body itself, part by part without knowing their types, so that a type that came after this was
 * written is not left out.
 */
export function promptTexts({ body }: Pick<CanonicalRequest, 'body'>): string[] {
  const texts: string[] = [];
  for (const [key, value] of Object.entries(body.value)) {
    if (!CONTROL_MEMBERS.has(key)) collect(value, texts);
  }
  return texts;
}

function collect(value: unknown, texts: string[]): void {
  if (typeof value === 'string') {
    addText(value, texts);
  } else if (Array.isArray(value)) {
    for (const item of value) collect(item, texts);
  } else if (isJsonObject(value)) {
    collectMembers(value, texts);
  }
}

function collectMembers(object: JsonObject, texts: string[]): void {
  for (const key of Object.keys(object)) {
    if (isStructure(key, object[key])) continue;
    if (NAMING_MEMBERS.has(key) && isJsonObject(object[key])) {
      texts.push(...Object.keys(object[key]));
    }
    const encoded = key === 'data' && object.type !== 'text' ? object[key] : undefined;
    if (typeof encoded === 'string') {
      const text = decodeText(object, encoded);
      if (text !== undefined) texts.push(text);
    } else if (FREE_FORM_MEMBERS.has(key)) {
      collectJsonTexts(object[key], texts);
    } else {
      collect(object[key], texts);
    }
  }
}

function isStructure(key: string, value: unknown): boolean {
  if (STRUCTURE_MEMBERS.has(key)) return typeof value === 'string' || isSchemaList(key, value);
  return isSchemaList(key, value);
}

/** In a JSON Schema, lists of types and of the names of properties. */
function isSchemaList(key: string, value: unknown): boolean {
  if (key !== 'type' && key !== 'required') return false;
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** Base64 is no text; what it stands for may be. */
function decodeText(object: JsonObject, base64: string): string | undefined {
  const mediaType = object.media_type ?? object.mime_type;
  if (typeof mediaType !== 'string' || !mediaType.startsWith('text/')) return undefined;
  return Buffer.from(base64, 'base64').toString('utf8');
}

const DATA_URL = /^data:([^;,]{0,100})((?:;[^;,]{1,100}){0,4}),/i;

/** Of a data URL the text that it holds, if it holds any. */
function addText(text: string, texts: string[]): void {
  const match = text.startsWith('data:') ? DATA_URL.exec(text.slice(0, 600)) : null;
  if (!match) {
    if (text === '') return;
    texts.push(text);
    // Arguments and results of tools are often JSON, whose escapes would hide what they say.
    if (/^\s{0,100}[[{"]/.test(text)) texts.push(...parseJsonTexts(text));
    return;
  }
  const [head, mediaType = '', parameters = ''] = match;
  const isBase64 = /;base64$/i.test(parameters);
  if (isBase64 && !/^(?:text\/|application\/(?:json|xml)$)/i.test(mediaType)) return;
  const content = text.slice(head.length);
  texts.push(isBase64 ? Buffer.from(content, 'base64').toString('utf8') : text);
}

/** Adds every string of a JSON value, its keys included, and every long number. */
function collectJsonTexts(value: unknown, texts: string[]): void {
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
