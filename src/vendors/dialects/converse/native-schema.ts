import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { GRAMMAR_FORMATS } from '../messages/to-closed-schema.js';

/** Keywords that the vendor's grammar compiler supports unchanged. */
const KEPT = new Set(['type', 'title', 'description', 'enum', 'const', '$ref', 'required']);
/** Keywords that name the schema or its dialect and constrain nothing. */
const NAMING = new Set(['$schema', '$id', '$comment', 'default', 'examples']);

/**
 * Converts a JSON schema for the vendor's constrained decoding: objects are closed, and constraints that
 * it cannot compile (`maxItems`, `pattern`, …) move into descriptions, where the model reads them.
 * Undefined for a schema with open objects or without a type.
 */
export function toNativeSchema(schema: JsonObject): JsonObject | undefined {
  try {
    return convert(schema);
  } catch (error) {
    if (error instanceof NotNativeError) return undefined;
    throw error;
  }
}

class NotNativeError extends Error {}

function convert(schema: unknown): JsonObject {
  if (!isJsonObject(schema)) throw new NotNativeError();
  const native: JsonObject = {};
  const left: JsonObject = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (NAMING.has(keyword)) continue;
    if (KEPT.has(keyword)) native[keyword] = value;
    else if (!convertKeyword(keyword, value, native)) left[keyword] = value;
  }
  if (isObjectSchema(schema)) native.additionalProperties = false;
  assertShaped(native);
  if (Object.keys(left).length > 0) {
    const prefix = typeof native.description === 'string' ? `${native.description}\n\n` : '';
    native.description = `${prefix}Constraints: ${JSON.stringify(left)}`;
  }
  return native;
}

/** @returns false when the keyword must be described in text */
function convertKeyword(keyword: string, value: unknown, native: JsonObject): boolean {
  switch (keyword) {
    case 'properties':
    case '$defs':
    case 'definitions':
      if (!isJsonObject(value)) throw new NotNativeError();
      native[keyword] = Object.fromEntries(
        Object.entries(value).map(([name, child]) => [name, convert(child)]),
      );
      return true;
    case 'items':
      native.items = convert(value);
      return true;
    case 'anyOf':
    case 'oneOf':
      native.anyOf = toList(value).map(convert);
      return true;
    case 'allOf':
      native.allOf = toList(value).map(convert);
      return true;
    case 'additionalProperties':
      // Closing an open object would reject values that the caller allows.
      if (value !== false) throw new NotNativeError();
      return true;
    case 'format':
      if (!GRAMMAR_FORMATS.has(value)) return false;
      native.format = value;
      return true;
    case 'minItems':
      if (value !== 0 && value !== 1) return false;
      native.minItems = value;
      return true;
    default:
      return false;
  }
}

function toList(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new NotNativeError();
  return value;
}

function isObjectSchema({ type, properties }: JsonObject): boolean {
  return type === 'object' || (Array.isArray(type) && type.includes('object')) || !!properties;
}

function assertShaped(schema: JsonObject): void {
  const says = ['type', 'enum', 'const', '$ref', 'anyOf', 'allOf'];
  if (!says.some((keyword) => schema[keyword] !== undefined)) throw new NotNativeError();
}
