import { isJsonObject, type JsonObject } from '../../common/http/json-body.js';

const MAX_DEPTH = 8;

/**
 * A small value that fits a JSON Schema: required and declared properties, first enum values,
 * shortest arrays. Meant for trying out tools and structured output, so schemas that no simple
 * value satisfies (patterns, exotic formats) are met only in type.
 */
export function sampleOfSchema(schema: unknown, root: unknown = schema, depth = 0): unknown {
  if (!isJsonObject(schema) || depth > MAX_DEPTH) return null;
  if (typeof schema.$ref === 'string') {
    return sampleOfSchema(resolveReference(root, schema.$ref), root, depth + 1);
  }
  if ('const' in schema) return schema.const;
  if (Array.isArray(schema.enum) && schema.enum.length > 0) return schema.enum[0];
  for (const key of ['anyOf', 'oneOf', 'allOf']) {
    const [first] = Array.isArray(schema[key]) ? (schema[key] as unknown[]) : [];
    if (first !== undefined) return sampleOfSchema(first, root, depth + 1);
  }
  const type: unknown = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type) {
    case 'string':
      return 'sandbox'.padEnd(Number(schema.minLength ?? 0), '.');
    case 'integer':
    case 'number':
      return Number(schema.minimum ?? 1);
    case 'boolean':
      return true;
    case 'null':
      return null;
    case 'array': {
      const count = Math.min(Math.max(Number(schema.minItems ?? 1), 0), 10);
      return Array.from({ length: count }, () => sampleOfSchema(schema.items, root, depth + 1));
    }
    default:
      return sampleOfProperties(schema, root, depth);
  }
}

function sampleOfProperties(schema: JsonObject, root: unknown, depth: number): JsonObject {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  return Object.fromEntries(
    Object.entries(properties).map(([key, value]) => [key, sampleOfSchema(value, root, depth + 1)]),
  );
}

/** `#/$defs/name` and the like, within the same schema. */
function resolveReference(root: unknown, reference: string): unknown {
  return reference
    .replace(/^#\/?/, '')
    .split('/')
    .filter((step) => step !== '')
    .reduce<unknown>((node, step) => (isJsonObject(node) ? node[step] : undefined), root);
}
