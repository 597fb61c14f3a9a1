import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';
import { listOf, objectOf } from '../dialects/answer-json.js';

const MAX_DEPTH = 8;
const MAX_ITEMS = 10;
const MAX_STRING_LENGTH = 1_000;

/** Schemas come from callers: exponentially growing references must not exhaust memory. */
const MAX_VALUES = 5_000;

/**
 * Returns a small value that fits a JSON Schema: required and declared properties, first enum values,
 * shortest arrays. For testing tools and structured output only, so complex constraints (patterns, exotic
 * formats) are met only by type, and very long or deep values are truncated.
 */
export function sampleOfSchema(schema: unknown): unknown {
  return new SchemaSampler(schema).sample(schema, 0);
}

class SchemaSampler {
  private values = 0;

  constructor(private readonly root: unknown) {}

  sample(schema: unknown, depth: number): unknown {
    this.values++;
    if (!isJsonObject(schema) || depth > MAX_DEPTH || this.values > MAX_VALUES) return null;
    if (typeof schema.$ref === 'string') return this.sample(this.resolve(schema.$ref), depth + 1);
    if ('const' in schema) return schema.const;
    if (Array.isArray(schema.enum) && schema.enum.length > 0) return schema.enum[0];
    for (const key of ['anyOf', 'oneOf', 'allOf']) {
      const [first] = listOf(schema[key]);
      if (first !== undefined) return this.sample(first, depth + 1);
    }
    const type: unknown = Array.isArray(schema.type) ? schema.type[0] : schema.type;
    switch (type) {
      case 'string':
        return 'sandbox'.padEnd(countOf(schema.minLength, 0, MAX_STRING_LENGTH), '.');
      case 'integer':
      case 'number':
        return typeof schema.minimum === 'number' ? schema.minimum : 1;
      case 'boolean':
        return true;
      case 'null':
        return null;
      case 'array': {
        const count = countOf(schema.minItems, 1, MAX_ITEMS);
        return Array.from({ length: count }, () => this.sample(schema.items, depth + 1));
      }
      default:
        return this.sampleProperties(schema, depth);
    }
  }

  private sampleProperties(schema: JsonObject, depth: number): JsonObject {
    const properties = objectOf(schema.properties);
    const sample: [string, unknown][] = [];
    for (const [key, value] of Object.entries(properties)) {
      if (this.values > MAX_VALUES) break;
      sample.push([key, this.sample(value, depth + 1)]);
    }
    return Object.fromEntries(sample);
  }

  /** Resolves `#/$defs/name` and similar references within the same schema. */
  private resolve(reference: string): unknown {
    return reference
      .replace(/^#\/?/, '')
      .split('/')
      .filter((step) => step !== '')
      .reduce<unknown>((node, step) => (isJsonObject(node) ? node[step] : undefined), this.root);
  }
}

function countOf(value: unknown, otherwise: number, most: number): number {
  return typeof value === 'number' ? Math.min(Math.max(value, 0), most) : otherwise;
}
