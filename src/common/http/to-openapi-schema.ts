/** OpenAPI 3.0 has no type lists: `[T, 'null']` is `nullable`, several types are left open. */
export function toOpenApiSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(toOpenApiSchema);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { type, ...rest } = schema as { type?: unknown };
  const converted = Object.fromEntries(
    Object.entries(rest).map(([key, value]) => [key, toOpenApiSchema(value)]),
  );
  if (!Array.isArray(type)) return type === undefined ? converted : { type, ...converted };
  const types = (type as string[]).filter((name) => name !== 'null');
  if (types.length === 1) return { type: types[0], nullable: true, ...converted };
  const { items = {}, ...others } = converted;
  const alternatives = types.map((name) =>
    name === 'array' ? { type: name, items } : { type: name },
  );
  return { nullable: true, ...others, oneOf: alternatives as object[] };
}
