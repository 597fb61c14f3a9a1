import type { CanonicalRequest } from '../../canonical/canonical-request.js';
import { isBase64 } from '../../canonical/prompt-size.js';
import {
  isJsonObject,
  MAX_DEPTH,
  MAX_PARTS,
  type JsonObject,
} from '../../platform/http/json-body.js';
import { measureJson } from '../../platform/http/json-scanner.js';

/** Shorter numbers identify no one. */
const LEAST_NUMBER = 1_000_000;

/** Body members, in any dialect, that the model does not read. */
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

/** Members at any depth that hold names or signatures rather than text; names contain no spaces. */
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

/** Members that hold a file or its address. */
const FILE_MEMBERS = new Set(['data', 'url', 'image_url', 'file_data', 'file_url']);

/** Members with user-defined keys: the parameters in a tool's schema. */
const NAMING_MEMBERS = new Set(['properties', 'patternProperties', '$defs', 'definitions']);

/** Free-form members whose keys are the caller's text: tool arguments. */
const FREE_FORM_MEMBERS = new Set(['input']);

/**
 * Returns all text in a body that a model will read, in any dialect: every role and part, tool
 * calls and results, instructions, tool definitions. Walks the body itself regardless of types, so
 * that new part types are covered.
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
  /** Extracts text from strings that contain JSON. */
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
    if (NO_NAME.test(key)) texts.all.push(key);
    if (isStructure(key, object[key])) continue;
    if (NAMING_MEMBERS.has(key) && isJsonObject(object[key])) {
      texts.all.push(...Object.keys(object[key]));
    }
    const value = object[key];
    if (typeof value === 'string' && FILE_MEMBERS.has(key)) {
      addFile(object, value, texts);
    } else if (FREE_FORM_MEMBERS.has(key)) {
      collectJsonTexts(value, texts.all);
    } else {
      collect(value, texts);
    }
  }
}

function isStructure(key: string, value: unknown): boolean {
  if (typeof value === 'string') return STRUCTURE_MEMBERS.has(key) && !NO_NAME.test(value);
  return isSchemaList(key, value);
}

/** Matches lists of types and property names in a JSON Schema. */
function isSchemaList(key: string, value: unknown): boolean {
  if (key !== 'type' && key !== 'required') return false;
  return (
    Array.isArray(value) && value.every((item) => typeof item === 'string' && !NO_NAME.test(item))
  );
}

/** White space and non-ASCII characters, which may form words. */
const NO_NAME = /[^\x21-\x7e]/;
const DATA_URL = /^data:([^;,]{0,100})((?:;[^;,]{1,100}){0,4}),/i;
const TEXT_TYPE = /^(?:text\/|application\/(?:json|xml)$)/i;
/** Files are longer, and texts have spaces more often. */
const LEAST_FILE = 64;

/**
 * Adds the decoded text of a base64 text file, and skips other files. Anything else is added as is:
 * a model may read it, whatever its member is called.
 */
function addFile(object: JsonObject, file: string, texts: PromptTexts): void {
  const match = DATA_URL.exec(file.slice(0, 600));
  const [head = '', type, parameters = ';base64'] = match ?? [];
  const mediaType = type ?? object.media_type ?? object.mime_type;
  const content = file.slice(head.length);
  if (/;base64$/i.test(parameters) && TEXT_TYPE.test(String(mediaType))) {
    texts.all.push(Buffer.from(content, 'base64').toString('utf8'));
  }
  if (content.length < LEAST_FILE || !isBase64(content)) addText(file, texts);
}

function addText(text: string, texts: PromptTexts): void {
  if (text === '') return;
  texts.all.push(text);
  // Tool arguments and results are often JSON, whose escapes could hide text.
  if (!'[{"'.includes(text.trimStart().charAt(0) || ' ')) return;
  for (const inner of texts.inJson.of(text)) texts.all.push(inner);
}

/** Adds every string, key and long number of a JSON value. */
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
 * Parses JSON texts. Bounds their total size like a body's, since each part takes time and memory.
 */
export class JsonTexts {
  private parts = 0;

  /**
   * Returns the strings of a JSON text whose escapes could hide content. Empty for text that is not
   * JSON; for JSON that is too large or too deep, the text with escapes decoded.
   */
  of(json: string): string[] {
    // Without an escape nothing is hidden.
    if (!json.includes('\\')) return [];
    const { parts, depth } = measureJson(json, MAX_PARTS - this.parts);
    this.parts += parts;
    if (this.parts > MAX_PARTS || depth > MAX_DEPTH) return [unescape(json)];
    const texts: string[] = [];
    try {
      collectJsonTexts(JSON.parse(json), texts);
    } catch {
      // The raw text is scanned anyway.
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
