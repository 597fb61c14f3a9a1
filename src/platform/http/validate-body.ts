import { setImmediate as nextTurn } from 'node:timers/promises';
import { Ajv, type AnySchema, type ErrorObject, type ValidateFunction } from 'ajv';
import type { FromSchema, JSONSchema } from 'json-schema-to-ts';
import { InvalidRequestError } from '../errors/gateway-errors.js';
import { isJsonObject, type JsonBody, type JsonObject } from './json-body.js';
import type { ApiBody } from '@nestjs/swagger';

// Schemas also carry OpenAPI keywords (`example`), which ajv's strict mode rejects. `strictNumbers` rejects 1e999,
// which JSON allows and JavaScript reads as Infinity. The first caller waits for the compilation, over half of
// which would validate the schema itself, which a test does, and optimize the code.
const ajv = new Ajv({
  allErrors: false,
  allowUnionTypes: true,
  strict: false,
  strictNumbers: true,
  meta: false,
  validateSchema: false,
  code: { optimize: false },
});

/** The type that a schema accepts, as sent: defaults are documented, not filled in. */
export type BodyOf<Schema extends JSONSchema> = FromSchema<
  Schema,
  { keepDefaultedPropertiesOptional: true }
>;

/** Validates a value. `errors` describes the last failure, as in `ajv`. */
export interface SchemaCheck<Value> {
  (value: unknown): value is Value;
  errors?: ErrorObject[] | null | undefined;
  readonly schema: AnySchema;
  /** Compiles now instead of on first use. */
  compile(): void;
}

/** All schema checks. */
export const schemaChecks: SchemaCheck<unknown>[] = [];

/**
 * Compiles a JSON Schema on first use; a check takes a few µs. It is a type guard: a literal schema (`as const`)
 * gives the type that it accepts.
 */
export function compileSchema<const Schema extends JSONSchema>(
  schema: Schema,
): SchemaCheck<BodyOf<Schema>> {
  return compileLater(schema);
}

/** Compiling all of them takes 100 ms, which no start should wait for. */
function compileLater<Value>(schema: AnySchema): SchemaCheck<Value> {
  let compiled: ValidateFunction<Value> | undefined;
  const compile = (): ValidateFunction<Value> => (compiled ??= ajv.compile<Value>(schema));
  const check: SchemaCheck<Value> = Object.assign(
    (value: unknown): value is Value => {
      const validate = compile();
      const isValid = validate(value);
      check.errors = validate.errors;
      return isValid;
    },
    { schema, compile },
  );
  schemaChecks.push(check);
  return check;
}

/** Compiles schemas that no caller has needed yet, one per turn of the event loop. */
export async function compileSchemas(): Promise<void> {
  for (const check of schemaChecks) {
    await nextTurn();
    check.compile();
  }
}

/** @throws InvalidRequestError that names the first invalid field by its dotted path */
export function assertValid<Value>(
  validate: SchemaCheck<Value>,
  value: unknown,
): asserts value is Value {
  if (validate(value)) return;
  const error = validate.errors?.[0];
  if (!error) throw new InvalidRequestError('body', 'The body is not valid.');
  const param = paramOf(error);
  throw new InvalidRequestError(param, `\`${param}\` ${messageOf(error)}.`);
}

/** Validates a whole body, which may parse its value again. @throws as `assertValid` does */
export function assertValidBody<Value extends JsonObject>(
  validate: SchemaCheck<Value>,
  body: JsonBody,
): asserts body is JsonBody<Value> {
  assertValid(validate, body.value);
}

/**
 * Validates a part of a body whose shape depends on its type, such as a content part. Reports a missing
 * member like one of a wrong type, and a wrong object by its first required member: `image_url.url` must
 * be a string.
 *
 * @param path dotted path of the part
 * @throws InvalidRequestError as `assertValid`
 */
export function assertPart<Part>(
  validate: SchemaCheck<Part>,
  part: unknown,
  path: string,
): asserts part is Part {
  if (validate(part)) return;
  const error = validate.errors?.[0];
  if (error?.keyword !== 'type' && error?.keyword !== 'required') {
    throw new InvalidRequestError(path, `\`${path}\` ${error?.message ?? 'is not valid'}.`);
  }
  const steps = stepsOf(error);
  let schema: unknown = validate.schema;
  for (const step of steps) schema = memberSchema(schema, step);
  while (isJsonObject(schema) && Array.isArray(schema.required)) {
    const step = String(schema.required[0]);
    steps.push(step);
    schema = memberSchema(schema, step);
  }
  const types = isJsonObject(schema) ? listTypes(schema.type) : '';
  const param = [path, ...steps].join('.');
  throw new InvalidRequestError(param, `\`${param}\` must be ${types}.`);
}

/** Returns the schema of a member, or of the elements of an array. */
function memberSchema(schema: unknown, step: string): unknown {
  if (!isJsonObject(schema)) return undefined;
  return isJsonObject(schema.properties) ? schema.properties[step] : schema.items;
}

function paramOf(error: ErrorObject): string {
  return stepsOf(error).join('.') || 'body';
}

function stepsOf(error: ErrorObject): string[] {
  const steps = error.instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~').slice(0, 100));
  if (error.keyword === 'required') steps.push(String(error.params.missingProperty));
  if (error.keyword === 'additionalProperties') {
    steps.push(String(error.params.additionalProperty).slice(0, 100));
  }
  return steps;
}

function messageOf(error: ErrorObject): string {
  if (error.propertyName !== undefined) return `has a name that ${error.message ?? 'is not valid'}`;
  switch (error.keyword) {
    case 'type':
      return `must be ${listTypes(error.params.type)}`;
    case 'enum':
      return `must be one of ${listOf(error.params.allowedValues)
        .filter((value) => value !== null)
        .map((value) => JSON.stringify(value))
        .join(', ')}`;
    case 'required':
      return 'is required';
    case 'additionalProperties':
      return 'is not known; leave it out';
    default:
      return error.message ?? 'is not valid';
  }
}

function listTypes(types: unknown): string {
  const names = listOf(types).map(String);
  return names
    .filter((name) => name !== 'null')
    .map((name) => (/^[aeiou]/.test(name) ? `an ${name}` : `a ${name}`))
    .join(' or ');
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [value];
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

/** A schema in the OpenAPI description. */
export type OpenApiSchema = NonNullable<
  Extract<Parameters<typeof ApiBody>[0], { schema: object }>['schema']
>;

/** A JSON Schema for the decorators of the OpenAPI description, which is of 3.1 and so takes any. */
export function toOpenApiSchema(schema: object): OpenApiSchema {
  return schema;
}
