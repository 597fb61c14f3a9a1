import type { OpenAPIObject } from '@nestjs/swagger';
import { isJsonObject, type JsonObject } from '../platform/http/json-body.js';

/** Members that hold values, in which nothing is a schema. */
const VALUES = new Set(['example', 'examples', 'default', 'enum', 'const', 'x-aliases']);

/** Members whose own members are named by the API, so that one called `title` is none of ours. */
const MAPS = new Set(['properties', 'schemas', 'paths', 'responses', 'headers', 'content']);

const REFERENCE = '#/components/schemas/';

/**
 * The document with its schemas as OpenAPI 3.1 has them, and as generators of clients read them:
 *
 * - `nullable`, which decorators write, becomes the type `null`;
 * - a schema with a `title` moves to the components under that name, wherever it stands;
 * - names of classes lose their `Dto`;
 * - an object that may have further members says so, since it would have none in generated types;
 * - the default of a member becomes words: generators take such a member for one that is always
 *   there, or send the default, which is not the same to us as nothing.
 *
 * @throws Error when two different schemas have one name
 */
export function nameSchemas(document: OpenAPIObject): OpenAPIObject {
  const schemas = new Map<string, unknown>();
  const bodies = findBodies(document);
  /** JSON Schemas take members that they do not name, classes of bodies refuse them. */
  let furtherMembers: boolean | undefined = true;

  function name(wanted: string, schema: unknown): void {
    const known = schemas.get(wanted);
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema)) {
      throw new Error(`Two schemas of the OpenAPI description are called ${wanted}.`);
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

/** Generators know enumerations of texts and numbers only, so one of a boolean or null is a constant or null. */
function withConstant(schema: JsonObject): JsonObject {
  const converted = withNull(schema);
  const { enum: values, type: _, ...others } = converted;
  const first: unknown = Array.isArray(values) ? values[0] : undefined;
  if (typeof first !== 'boolean') return converted;
  return { ...others, anyOf: [{ type: 'boolean', const: first }, { type: 'null' }] };
}

/** A schema that is `nullable`, with the type `null` instead. */
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

/** The names of the classes that are bodies of requests. */
function findBodies({ paths }: OpenAPIObject): Set<string | undefined> {
  const bodies = Object.values(paths).flatMap(({ get: _, ...operations }) =>
    Object.values(operations as object).map((operation: unknown) =>
      isJsonObject(operation) ? operation.requestBody : undefined,
    ),
  );
  const references = JSON.stringify(bodies).matchAll(/"#\/components\/schemas\/(\w+)"/g);
  return new Set([...references].map(([, name]) => name));
}

/** An object of whose members nothing at all is said may have any. */
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
