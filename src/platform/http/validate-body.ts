import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { InvalidRequestError } from '../errors/gateway-errors.js';
import type { ApiBody } from '@nestjs/swagger';

// Schemas also carry OpenAPI keywords (`example`), which ajv's strict mode would refuse.
// `strictNumbers` keeps out what JSON spells as 1e999, which would be Infinity here.
const ajv = new Ajv({
  allErrors: false,
  allowUnionTypes: true,
  strict: false,
  strictNumbers: true,
});

/** Compiles a JSON Schema once; the result checks a body in a few µs. */
export function compileSchema(schema: object): ValidateFunction {
  return ajv.compile(schema);
}

/**
 * @throws InvalidRequestError that names the first field at fault by its dotted path
 */
export function assertValid(validate: ValidateFunction, value: unknown): void {
  if (validate(value)) return;
  const error = validate.errors?.[0];
  if (!error) throw new InvalidRequestError('body', 'The body is not valid.');
  const param = paramOf(error);
  throw new InvalidRequestError(param, `\`${param}\` ${messageOf(error)}.`);
}

function paramOf(error: ErrorObject): string {
  const path = error.instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~').slice(0, 100));
  if (error.keyword === 'required') path.push(String(error.params.missingProperty));
  return path.join('.') || 'body';
}

function messageOf(error: ErrorObject): string {
  if (error.propertyName !== undefined) return `has a name that ${error.message ?? 'is not valid'}`;
  switch (error.keyword) {
    case 'type':
      return `must be ${listTypes(error.params.type as string | string[])}`;
    case 'enum':
      return `must be one of ${(error.params.allowedValues as unknown[])
        .filter((value) => value !== null)
        .map((value) => JSON.stringify(value))
        .join(', ')}`;
    case 'required':
      return 'is required';
    default:
      return error.message ?? 'is not valid';
  }
}

function listTypes(types: string | string[]): string {
  const names = (Array.isArray(types) ? types : [types]).filter((type) => type !== 'null');
  return names.map((name) => (/^[aeiou]/.test(name) ? `an ${name}` : `a ${name}`)).join(' or ');
}

/**
 * The value, which has to be a string.
 *
 * @param path dotted path of the field, as `messages.0.content`
 * @throws InvalidRequestError naming the path
 */
export function requireString(value: unknown, path: string): string {
  if (typeof value === 'string') return value;
  throw new InvalidRequestError(path, `\`${path}\` must be a string.`);
}

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
