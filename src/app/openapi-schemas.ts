import type { OpenAPIObject } from '@nestjs/swagger';
import { isJsonObject, type JsonObject } from '../platform/http/json-body.js';

/** Fields whose content is a value, not a schema. */
const VALUES = new Set(['example', 'examples', 'default', 'enum', 'const', 'x-aliases']);

/** Fields whose keys are named by the API, where a `title` is not ours. */
const MAPS = new Set(['properties', 'schemas', 'paths', 'responses', 'headers', 'content']);

const REFERENCE = '#/components/schemas/';

/**
 * Converts the document's schemas to OpenAPI 3.1, in the form that client generators read:
 *
 * - `nullable`, which decorators write, becomes the type `null`;
 * - a schema with a `title` moves to the components under that name;
 * - class names lose their `Dto` suffix;
 * - an object that allows further fields says so, since generated types would not allow them;
 * - a field's default moves to its description: generators treat a field with a default as always
 *   present, or send the default, which differs from leaving it out.
 *
 * @throws Error when two different schemas have the same name
 */
export function nameSchemas(document: OpenAPIObject): OpenAPIObject {
  const schemas = new Map<string, unknown>();
  const bodies = findBodies(document);
  /** JSON Schemas allow unknown fields; body classes refuse them. */
  let furtherMembers: boolean | undefined = true;

  function name(wanted: string, schema: unknown): void {
    const known = schemas.get(wanted);
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema)) {
      throw new Error(`Two schemas of the OpenAPI description have the name ${wanted}.`);
    }
    schemas.set(wanted, schema);
  }

  function convert(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(convert);
    if (!isJsonObject(value)) return value;
    if (typeof value.$ref === 'string') {
      return { ...value, $ref: value.$ref.replace(/Dto$/, '') };
    }
    const { title, ...members } = value;
    const converted = withConstant(
      withFurtherMembers(
        Object.fromEntries(
          Object.entries(members).map(([key, member]) => [key, walk(key, member)]),
        ),
        furtherMembers,
      ),
    );
    if (typeof title !== 'string') return title === undefined ? converted : { ...converted, title };
    name(title, converted);
    return { $ref: REFERENCE + title };
  }

  function walk(key: string, member: unknown): unknown {
    if (VALUES.has(key)) return member;
    if (key === 'properties' && isJsonObject(member)) {
      return convertMap(
        Object.fromEntries(
          Object.entries(member).map(([name, schema]) => [name, withDefaultInWords(schema)]),
        ),
      );
    }
    return MAPS.has(key) && isJsonObject(member) ? convertMap(member) : convert(member);
  }

  function convertMap(map: JsonObject): JsonObject {
    return Object.fromEntries(Object.entries(map).map(([key, member]) => [key, convert(member)]));
  }

  const paths = convertMap(document.paths);
  for (const [key, schema] of Object.entries(document.components?.schemas ?? {})) {
    furtherMembers = bodies.has(key) ? false : undefined;
    name(key.replace(/Dto$/, ''), convert(schema));
  }
  return Object.assign(document, {
    paths,
    components: { ...document.components, schemas: Object.fromEntries([...schemas].sort()) },
  });
}

/** Generators support enums of strings and numbers only, so a boolean enum becomes a constant or null. */
function withConstant(schema: JsonObject): JsonObject {
  const converted = withNull(schema);
  const { enum: values, type: _, ...others } = converted;
  const first: unknown = Array.isArray(values) ? values[0] : undefined;
  if (typeof first !== 'boolean') return converted;
  return { ...others, anyOf: [{ type: 'boolean', const: first }, { type: 'null' }] };
}

/** Replaces `nullable` by the type `null`. */
function withNull({ nullable, ...schema }: JsonObject): JsonObject {
  if (nullable !== true) return nullable === undefined ? schema : { ...schema, nullable };
  const { allOf, enum: values, type } = schema;
  const enumeration =
    Array.isArray(values) && !values.includes(null)
      ? { enum: [...(values as unknown[]), null] }
      : {};
  if (typeof type === 'string') return { ...schema, type: [type, 'null'], ...enumeration };
  if (Array.isArray(allOf)) {
    const { allOf: _, ...others } = schema;
    return { ...others, anyOf: [...(allOf as unknown[]), { type: 'null' }] };
  }
  return schema;
}

/** Returns the names of classes used as request bodies. */
function findBodies({ paths }: OpenAPIObject): Set<string | undefined> {
  const bodies = Object.values(paths).flatMap(({ get: _, ...operations }) =>
    Object.values(operations as object).map((operation: unknown) =>
      isJsonObject(operation) ? operation.requestBody : undefined,
    ),
  );
  const references = JSON.stringify(bodies).matchAll(/"#\/components\/schemas\/(\w+)"/g);
  return new Set([...references].map(([, name]) => name));
}

/** An object schema without `properties` allows any. */
function withFurtherMembers(schema: JsonObject, furtherMembers: boolean | undefined): JsonObject {
  const types = Array.isArray(schema.type) ? (schema.type as unknown[]) : [schema.type];
  if (!types.includes('object') || schema.additionalProperties !== undefined) return schema;
  const additionalProperties = schema.properties === undefined ? true : furtherMembers;
  return additionalProperties === undefined ? schema : { ...schema, additionalProperties };
}

function withDefaultInWords(schema: unknown): unknown {
  if (!isJsonObject(schema) || schema.default === undefined) return schema;
  const { default: value, description, ...others } = schema;
  const words = `Default: \`${JSON.stringify(value)}\`.`;
  const all = typeof description === 'string' ? `${description} ${words}` : words;
  return { ...others, description: all };
}
