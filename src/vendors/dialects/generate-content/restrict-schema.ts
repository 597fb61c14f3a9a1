import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { listOf, objectOf } from '../answer-json.js';

/** A schema in the vendor's subset. */
export interface RestrictedSchema {
  schema: JsonObject;
  /** False when a constraint was dropped, so that answers may violate it. */
  isExact: boolean;
}

/** Keywords that are passed on unchanged. */
const PASSED = new Set([
  '$anchor',
  'type',
  'format',
  'title',
  'description',
  'minItems',
  'maxItems',
  'minimum',
  'maximum',
  'required',
  'propertyOrdering',
]);

/** Keywords that constrain nothing, so dropping them has no effect. */
const ANNOTATIONS = new Set([
  '$schema',
  '$id',
  '$comment',
  'default',
  'deprecated',
  'example',
  'examples',
  'readOnly',
  'writeOnly',
  'contentEncoding',
  'contentMediaType',
]);

/**
 * Reduces a JSON Schema to the subset that the vendor supports; it rejects or ignores the rest. Keywords
 * with an equivalent are rewritten (`const`, exclusive bounds of integers, an `allOf` of one,
 * `definitions`). Other constraints count as lost, annotations do not.
 */
export function restrictSchema(schema: JsonObject): RestrictedSchema {
  const restricter = new SchemaRestricter();
  return { schema: restricter.object(schema), isExact: !restricter.hasLost };
}

class SchemaRestricter {
  hasLost = false;

  object(schema: JsonObject): JsonObject {
    const plain = convertNullable(unwrapAllOf(schema));
    if (typeof plain.$ref === 'string') return this.reference(plain.$ref, plain);
    const members: [string, unknown][] = [];
    for (const [keyword, value] of Object.entries(plain)) {
      members.push(...this.keyword(keyword, value, plain));
    }
    // `fromEntries` creates an own property even for the name `__proto__`.
    return Object.fromEntries(members);
  }

  private keyword(keyword: string, value: unknown, schema: JsonObject): [string, unknown][] {
    if (PASSED.has(keyword)) return [[keyword, value]];
    if (ANNOTATIONS.has(keyword) || keyword.startsWith('x-')) return [];
    switch (keyword) {
      case 'properties':
        return [[keyword, this.map(value)]];
      case '$defs':
      case 'definitions':
        return [['$defs', this.map(value)]];
      case 'additionalProperties':
        return [[keyword, typeof value === 'boolean' ? value : this.any(value)]];
      case 'items':
        return Array.isArray(value)
          ? [['prefixItems', this.list(value)]]
          : [[keyword, this.any(value)]];
      case 'prefixItems':
      case 'anyOf':
      case 'oneOf':
        return [[keyword, this.list(value)]];
      case 'enum':
        return this.enumeration(value, schema);
      case 'const':
        return this.enumeration([value], schema);
      case 'exclusiveMinimum':
        return this.bound('minimum', value, 1, schema);
      case 'exclusiveMaximum':
        return this.bound('maximum', value, -1, schema);
      default:
        this.hasLost = true;
        return [];
    }
  }

  /** Next to a reference, the vendor accepts only keywords that start with `$`. */
  private reference(target: string, schema: JsonObject): JsonObject {
    const $ref = target.replace(/^#\/definitions\//, '#/$defs/');
    const siblings = this.object(without(schema, '$ref'));
    const { $defs, description: _description, title: _title, ...constraints } = siblings;
    if (Object.keys(constraints).length > 0) this.hasLost = true;
    return { $ref, ...($defs !== undefined && { $defs }) };
  }

  private map(value: unknown): JsonObject {
    const entries = Object.entries(objectOf(value));
    return Object.fromEntries(entries.map(([name, schema]) => [name, this.any(schema)]));
  }

  private list(value: unknown): JsonObject[] {
    return (Array.isArray(value) ? value : [value]).map((schema) => this.any(schema));
  }

  /** Converts a sub-schema. `true` allows everything, like an empty one; `false` has no equivalent. */
  private any(value: unknown): JsonObject {
    if (isJsonObject(value)) return this.object(value);
    if (value === false) this.hasLost = true;
    return {};
  }

  /** Only strings and numbers can be listed; `null` goes where the type allows it anyway. */
  private enumeration(value: unknown, schema: JsonObject): [string, unknown][] {
    const listed = listOf(value);
    const isNullable = Array.isArray(schema.type) && schema.type.includes('null');
    const kept = listed.filter((item) => !(item === null && isNullable));
    if (kept.length > 0 && kept.every(isListable)) return [['enum', kept]];
    this.hasLost = true;
    return [];
  }

  private bound(
    keyword: 'minimum' | 'maximum',
    value: unknown,
    step: 1 | -1,
    schema: JsonObject,
  ): [string, unknown][] {
    const isInteger = schema.type === 'integer' && typeof value === 'number';
    if (isInteger && Number.isInteger(value) && !(keyword in schema))
      return [[keyword, value + step]];
    this.hasLost = true;
    return [];
  }
}

function isListable(item: unknown): boolean {
  return typeof item === 'string' || typeof item === 'number';
}

/** Unwraps an `allOf` of one schema, unless its keywords conflict with its siblings. */
function unwrapAllOf(schema: JsonObject): JsonObject {
  const [only, ...others] = listOf(schema.allOf);
  if (!isJsonObject(only) || others.length > 0) return schema;
  const rest = without(schema, 'allOf');
  return Object.keys(only).some((keyword) => keyword in rest) ? schema : { ...rest, ...only };
}

/** Converts OpenAPI's `nullable` to JSON Schema. */
function convertNullable(schema: JsonObject): JsonObject {
  if (typeof schema.nullable !== 'boolean') return schema;
  const rest = without(schema, 'nullable');
  if (!schema.nullable || typeof schema.type !== 'string') return rest;
  return { ...rest, type: [schema.type, 'null'] };
}

function without(schema: JsonObject, keyword: string): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => name !== keyword));
}
