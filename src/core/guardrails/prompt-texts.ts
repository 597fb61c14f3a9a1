import type { CanonicalRequest } from '../../canonical/canonical-request.js';
import {
  isJsonObject,
  MAX_DEPTH,
  MAX_PARTS,
  type JsonObject,
} from '../../platform/http/json-body.js';
import { measureJson } from '../../platform/http/measure-json.js';

/** Fewer digits identify nobody. */
const LEAST_NUMBER = 1_000_000;

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
  const texts: PromptTexts = { all: [], inJson: new JsonTexts() };
  for (const [key, value] of Object.entries(body.value)) {
    if (!CONTROL_MEMBERS.has(key)) collect(value, texts);
  }
  return texts.all;
}

interface PromptTexts {
  readonly all: string[];
  /** Of strings that are JSON themselves. */
  readonly inJson: JsonTexts;
}

function collect(value: unknown, texts: PromptTexts): void {
  if (typeof value === 'string') {
    addText(value, texts);
  } else if (Array.isArray(value)) {
    for (const item of value) collect(item, texts);
  } else if (isJsonObject(value)) {
    collectMembers(value, texts);
  }
}

function collectMembers(object: JsonObject, texts: PromptTexts): void {
  for (const key of Object.keys(object)) {
    if (isStructure(key, object[key])) continue;
    if (NAMING_MEMBERS.has(key) && isJsonObject(object[key])) {
      texts.all.push(...Object.keys(object[key]));
    }
    const encoded = key === 'data' && object.type !== 'text' ? object[key] : undefined;
    if (typeof encoded === 'string') {
      const text = decodeText(object, encoded);
      if (text !== undefined) texts.all.push(text);
    } else if (FREE_FORM_MEMBERS.has(key)) {
      collectJsonTexts(object[key], texts.all);
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
function addText(text: string, texts: PromptTexts): void {
  const match = text.startsWith('data:') ? DATA_URL.exec(text.slice(0, 600)) : null;
  if (!match) {
    if (text === '') return;
    texts.all.push(text);
    // Arguments and results of tools are often JSON, whose escapes would hide what they say.
    if (!/^\s{0,100}[[{"]/.test(text)) return;
    for (const inner of texts.inJson.of(text)) texts.all.push(inner);
    return;
  }
  const [head, mediaType = '', parameters = ''] = match;
  const isBase64 = /;base64$/i.test(parameters);
  if (isBase64 && !/^(?:text\/|application\/(?:json|xml)$)/i.test(mediaType)) return;
  const content = text.slice(head.length);
  texts.all.push(isBase64 ? Buffer.from(content, 'base64').toString('utf8') : text);
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

/** Reads JSON texts. Together they may be made of as much as a body, since each part takes a moment and memory. */
export class JsonTexts {
  private parts = 0;

  /**
   * The strings of a JSON text, in which its escapes would hide them. Nothing for a text that is no
   * JSON, which hides nothing; of one that is made of too much, or nests too deep, the text without its escapes.
   */
  of(json: string): string[] {
    // Without an escape the text itself shows all there is.
    if (!json.includes('\\')) return [];
    const { parts, depth } = measureJson(json, MAX_PARTS - this.parts);
    this.parts += parts;
    if (this.parts > MAX_PARTS || depth > MAX_DEPTH) return [unescape(json)];
    const texts: string[] = [];
    try {
      collectJsonTexts(JSON.parse(json), texts);
    } catch {
      // The text as it is has been looked at.
    }
    return texts;
  }
}

const ESCAPED: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

function unescape(json: string): string {
  return json.replaceAll(/\\(?:u[0-9a-fA-F]{4}|[^])/g, (escape) =>
    escape.length === 6
      ? String.fromCharCode(parseInt(escape.slice(2), 16))
      : (ESCAPED[escape.charAt(1)] ?? escape.charAt(1)),
  );
}
