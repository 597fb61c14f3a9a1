import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { listOf } from '../answer-json.js';

/** The vendor's limit on optional properties in one grammar. */
const MAX_OPTIONAL_PROPERTIES = 24;
/** Real schemas nest less than 30 levels deep. */
const MAX_DEPTH = 100;

/** Keywords without constraints, or that the vendor supports unchanged. */
const KEPT = new Set(['type', 'enum', 'const', 'title', 'description', 'default', 'required']);
/** Keywords that this function rewrites. */
const REWRITTEN = new Set([
  'properties',
  'items',
  'anyOf',
  'oneOf',
  'allOf',
  '$defs',
  'definitions',
]);
/** Keywords irrelevant for generation. */
const LEFT_OUT = new Set(['$schema', '$id', '$comment', 'additionalProperties', 'examples']);

/** String formats that Claude's vendors compile into a grammar. */
export const GRAMMAR_FORMATS: ReadonlySet<unknown> = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'uri',
  'ipv4',
  'ipv6',
  'uuid',
]);

class NotExpressible extends Error {}

/**
 * Rewrites a JSON Schema in the subset that the vendor can guarantee: all objects closed, no recursion.
 * Unsupported limits such as `minLength` move into the description, where the model reads them.
 *
 * @returns undefined for schemas beyond that, such as an object with arbitrary properties
 */
export function toClosedSchema(schema: JsonObject): JsonObject | undefined {
  const closer = new SchemaCloser();
  try {
    const closed = closer.close(schema, 0);
    return closer.optionalProperties > MAX_OPTIONAL_PROPERTIES || refersToItself(schema)
      ? undefined
      : closed;
  } catch (error) {
    if (error instanceof NotExpressible) return undefined;
    throw error;
  }
}

class SchemaCloser {
  optionalProperties = 0;

  close(schema: unknown, depth: number): JsonObject {
    if (!isJsonObject(schema) || depth > MAX_DEPTH) throw new NotExpressible();
    if (typeof schema.$ref === 'string') return this.closeReference(schema, schema.$ref, depth);
    if (!['type', 'enum', 'const', 'anyOf', 'oneOf', 'allOf'].some((key) => key in schema)) {
      throw new NotExpressible();
    }
    const closed: JsonObject = {};
    const limits: string[] = [];
    for (const [key, value] of Object.entries(schema)) {
      if (KEPT.has(key)) closed[key] = value;
      else if (key === 'format' && GRAMMAR_FORMATS.has(value)) closed[key] = value;
      else if (key === 'minItems' && (value === 0 || value === 1)) closed[key] = value;
      else if (key === 'patternProperties') throw new NotExpressible();
      else if (REWRITTEN.has(key)) this.rewrite(closed, key, value, depth);
      else if (!LEFT_OUT.has(key)) limits.push(`${key}: ${JSON.stringify(value)}`);
    }
    if (limits.length > 0) {
      const said = typeof closed.description === 'string' ? `${closed.description}\n` : '';
      closed.description = `${said}(${limits.join(', ')})`;
    }
    const types: unknown[] = Array.isArray(schema.type) ? schema.type : [schema.type];
    if (types.includes('object') || 'properties' in schema) this.closeObject(schema, closed);
    return closed;
  }

  private closeReference(schema: JsonObject, $ref: string, depth: number): JsonObject {
    if (!/^#\/(?:\$defs|definitions)\//.test($ref)) throw new NotExpressible();
    const closed: JsonObject = { $ref };
    for (const key of ['$defs', 'definitions']) {
      if (key in schema) this.rewrite(closed, key, schema[key], depth);
    }
    return closed;
  }

  private rewrite(closed: JsonObject, key: string, value: unknown, depth: number): void {
    if (key === 'items') {
      closed.items = this.close(value, depth + 1);
      return;
    }
    if (key === 'anyOf' || key === 'oneOf' || key === 'allOf') {
      if (!Array.isArray(value)) throw new NotExpressible();
      const variants = value.map((variant) => this.close(variant, depth + 1));
      closed[key === 'allOf' ? key : 'anyOf'] = variants;
      return;
    }
    if (!isJsonObject(value)) throw new NotExpressible();
    closed[key] = Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, this.close(member, depth + 1)]),
    );
  }

  /** Closes an object. One without declared properties accepts any, and must not become an empty one. */
  private closeObject(schema: JsonObject, closed: JsonObject): void {
    const { properties, required, additionalProperties } = schema;
    const isOpen = additionalProperties !== undefined && additionalProperties !== false;
    if (isOpen || (!isJsonObject(properties) && additionalProperties !== false)) {
      throw new NotExpressible();
    }
    const names = isJsonObject(properties) ? Object.keys(properties) : [];
    const needed = new Set<unknown>(listOf(required));
    this.optionalProperties += names.filter((name) => !needed.has(name)).length;
    closed.additionalProperties = false;
  }
}

/**
 * Returns whether a definition is recursive: repeatedly removes definitions without remaining references
 * and checks whether any are left. Iterative, because a caller's may chain thousands of references.
 */
function refersToItself(schema: JsonObject): boolean {
  const definitions = new Map<string, string[]>();
  for (const key of ['$defs', 'definitions']) {
    const members = isJsonObject(schema[key]) ? schema[key] : {};
    for (const [name, member] of Object.entries(members)) {
      definitions.set(`#/${key}/${name}`, referencesIn(member));
    }
  }
  const leadingTo = new Map<string, string[]>([...definitions.keys()].map((name) => [name, []]));
  const leads = new Map<string, number>();
  for (const [name, targets] of definitions) {
    const known = targets.filter((target) => definitions.has(target));
    for (const target of known) leadingTo.get(target)!.push(name);
    leads.set(name, known.length);
  }
  const ends = [...leads].filter(([, count]) => count === 0).map(([name]) => name);
  // The list grows during the iteration.
  for (const end of ends) {
    for (const name of leadingTo.get(end)!) {
      leads.set(name, leads.get(name)! - 1);
      if (leads.get(name) === 0) ends.push(name);
    }
  }
  return ends.length < definitions.size;
}

function referencesIn(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(referencesIn);
  if (!isJsonObject(schema)) return [];
  return Object.entries(schema).flatMap(([key, value]) =>
    key === '$ref' && typeof value === 'string' ? [value] : referencesIn(value),
  );
}
