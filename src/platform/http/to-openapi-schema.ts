import type { ApiBody } from '@nestjs/swagger';

type BodySchema = NonNullable<Extract<Parameters<typeof ApiBody>[0], { schema: object }>['schema']>;

/**
 * A JSON Schema as OpenAPI 3.0 takes it, which has no type lists: `[T, 'null']` is `nullable`,
 * several types are left open.
 */
export function toOpenApiSchema(schema: object): BodySchema {
  return convert(schema) as BodySchema;
}

function convert(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(convert);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { type, ...converted } = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, convert(value)]),
  );
  if (!Array.isArray(type)) return type === undefined ? converted : { type, ...converted };
  const types = (type as string[]).filter((name) => name !== 'null');
  const nullable = types.length < type.length ? { nullable: true } : {};
  if (types.length === 1) return { type: types[0], ...nullable, ...converted };
  const { items = {}, ...others } = converted;
  const alternatives = types.map((name) =>
    name === 'array' ? { type: name, items } : { type: name },
  );
  return { ...nullable, ...others, oneOf: alternatives as object[] };
}
