import { applyDecorators } from '@nestjs/common';
import { ApiHideProperty, ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import {
  Allow,
  IsBoolean,
  IsIn,
  IsInt,
  IsNumber,
  IsObject,
  IsOptional,
  IsString,
  Matches,
  Max,
  Min,
  ValidateBy,
  ValidateIf,
  type ValidationOptions,
} from 'class-validator';
import { UUID } from '../database/stored-text.js';
import { parseIsoDateTime } from '../time/dates.js';

/** Options of every kind of field. */
export interface FieldOptions {
  readonly description?: string | undefined;
  readonly example?: unknown;
  /** The field may be omitted. */
  readonly optional?: boolean;
  /** The field may be null. */
  readonly nullable?: boolean;
  /** Documents the value of an omitted field, which makes the field optional. */
  readonly default?: unknown;
  /** Ends the error message, after the path of the field. By default derived from the other options. */
  readonly message?: string;
}

/**
 * Declares a field of a DTO: its validation, its error message and its schema in the OpenAPI description. The compiler
 * rejects it on a field of another type.
 */
export type FieldDecorator<Value, Options> = <
  Target extends object,
  Name extends string & keyof Target,
>(
  target: Target,
  name: Agree<Target[Name], Value, Options> extends true ? Name : Name & Declares<Value, Options>,
) => void;

/** Shown by the compiler for a field whose type differs from its decorator. */
interface Declares<Value, Options> {
  readonly value: Value;
  readonly options: Options;
}

type Agree<Actual, Value, Options> = [
  Exclude<Actual, null | undefined>,
  null extends Actual ? true : false,
  undefined extends Actual ? true : false,
] extends [
  Value,
  Options extends { nullable: true } ? true : false,
  Options extends { optional: true }
    ? true
    : Options extends { default: unknown }
      ? boolean
      : false,
]
  ? true
  : false;

interface StringOptions extends FieldOptions {
  /** In code points, as in JSON Schema. */
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: RegExp;
  /** Documented only. */
  readonly format?: string;
  readonly anyOf?: readonly object[];
}

interface NumberOptions extends FieldOptions {
  readonly minimum?: number;
  readonly maximum?: number;
}

/** A value of an enumeration. */
export type Choice = string | number | boolean;

export type Validators = (rule: ValidationOptions) => PropertyDecorator[];

export function StringField<const Options extends StringOptions>(
  options?: Options,
): FieldDecorator<string, Options> {
  const { minLength, maxLength, pattern, format, anyOf } = { ...options } as StringOptions;
  const hasLength = minLength !== undefined || maxLength !== undefined;
  return field(
    {
      type: 'string',
      minLength,
      maxLength,
      format,
      anyOf,
      pattern: pattern?.source,
    } as ApiPropertyOptions,
    options,
    stringRule(minLength, maxLength, pattern),
    (rule) => [
      IsString(rule),
      ...(hasLength ? [Matches(lengthPattern(minLength, maxLength), rule)] : []),
      ...(pattern ? [Matches(pattern, rule)] : []),
    ],
  );
}

/** A name chosen by a tenant. */
export function NameField<const Options extends FieldOptions>(
  options?: Options,
): FieldDecorator<string, Options> {
  return StringField({ ...options, minLength: 1, maxLength: 255 } as unknown as Options);
}

export function UuidField<const Options extends FieldOptions>(
  options?: Options,
): FieldDecorator<string, Options> {
  const schema = { type: 'string', format: 'uuid' } as const;
  return field(schema, options, 'must be a UUID', (rule) => [Matches(UUID, rule)]);
}

export function DateTimeField<const Options extends FieldOptions>(
  options?: Options,
): FieldDecorator<string, Options> {
  const message = 'must be an ISO 8601 date-time such as 2030-12-31T23:59:59Z';
  const validate = (value: unknown): boolean =>
    typeof value === 'string' && parseIsoDateTime(value) !== undefined;
  return field({ type: 'string', format: 'date-time' }, options, message, (rule) => [
    ValidateBy({ name: 'isIsoDateTime', validator: { validate } }, rule),
  ]);
}

export function IntegerField<const Options extends NumberOptions>(
  options?: Options,
): FieldDecorator<number, Options> {
  const { minimum, maximum } = { ...options } as NumberOptions;
  const message = `must be an integer${rangeRule(minimum, maximum)}`;
  return field({ type: 'integer', minimum, maximum }, options, message, (rule) => [
    IsInt(rule),
    ...inRange(minimum, maximum, rule),
  ]);
}

/**
 * A query parameter of decimal digits. Other texts are rejected, unlike by `Number()`, which reads an empty value as 0
 * and `1e3` as 1000.
 */
export function QueryIntegerField<const Options extends NumberOptions>(
  options?: Options,
): FieldDecorator<number, Options> {
  return applyDecorators(
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value,
    ),
    IntegerField(options) as PropertyDecorator,
  );
}

export function NumberField<const Options extends NumberOptions>(
  options?: Options,
): FieldDecorator<number, Options> {
  const { minimum, maximum } = { ...options } as NumberOptions;
  const message = `must be a number${rangeRule(minimum, maximum)}`;
  return field({ type: 'number', minimum, maximum }, options, message, (rule) => [
    IsNumber({ allowInfinity: false, allowNaN: false }, rule),
    ...inRange(minimum, maximum, rule),
  ]);
}

export function BooleanField<const Options extends FieldOptions>(
  options?: Options,
): FieldDecorator<boolean, Options> {
  return field({ type: 'boolean' }, options, 'must be true or false', (rule) => [IsBoolean(rule)]);
}

export function EnumField<const Value extends Choice, const Options extends FieldOptions>(
  values: readonly Value[],
  options?: Options,
): FieldDecorator<Value, Options> {
  const message = `must be ${values.length > 1 ? 'one of ' : ''}${choiceWords(values)}`;
  return field({ enum: [...values] }, options, message, (rule) => [IsIn(values, rule)]);
}

/**
 * An object with members of any name. Their values are documented, and left to the code that reads them.
 *
 * @param values their JSON schema, or true for any value
 */
export function MapField<const Options extends FieldOptions>(
  values: object | true,
  options?: Options,
): FieldDecorator<object, Options> {
  const schema = { type: 'object', additionalProperties: values } as ApiPropertyOptions;
  return field(schema, options, 'must be an object', (rule) => [IsObject(rule)]);
}

/** A field of another kind, of which any value is accepted. */
export function SchemaField(schema: ApiPropertyOptions, options?: FieldOptions): PropertyDecorator {
  return field(schema, options, '', () => [Allow()]);
}

/** A query parameter that is accepted, but not documented. */
export function HiddenField(): PropertyDecorator {
  return applyDecorators(ApiHideProperty(), Allow());
}

/**
 * The base of all field decorators.
 *
 * @param message the end of the error message, where `options` has none
 */
export function field(
  { ...schema }: ApiPropertyOptions,
  options: FieldOptions = {},
  message: string,
  validators: Validators,
): PropertyDecorator {
  const { description, example, nullable = false, default: whenOmitted } = options;
  const isOptional = options.optional === true || whenOmitted !== undefined;
  const documented = { ...schema, description, example, default: whenOmitted };
  return applyDecorators(
    ApiProperty({
      ...defined(documented),
      ...(nullable && { nullable }),
      required: !isOptional,
    } as ApiPropertyOptions),
    ...presence(isOptional, nullable),
    ...validators({ message: options.message ?? (nullable ? `${message}, or null` : message) }),
  );
}

/** Skips the validation of absent values that are allowed. */
function presence(isOptional: boolean, isNullable: boolean): PropertyDecorator[] {
  if (isOptional && isNullable) return [IsOptional()];
  if (isOptional) return [ValidateIf((_, value) => value !== undefined)];
  return isNullable ? [ValidateIf((_, value) => value !== null)] : [];
}

function inRange(
  minimum: number | undefined,
  maximum: number | undefined,
  rule: ValidationOptions,
): PropertyDecorator[] {
  return [
    ...(minimum === undefined ? [] : [Min(minimum, rule)]),
    ...(maximum === undefined ? [] : [Max(maximum, rule)]),
  ];
}

function rangeRule(minimum: number | undefined, maximum: number | undefined): string {
  if (maximum === undefined) return minimum === undefined ? '' : ` of ${minimum} or more`;
  return minimum === undefined ? ` of at most ${maximum}` : ` from ${minimum} to ${maximum}`;
}

/** Returns a number of characters or items in words; empty without bounds. */
export function amountRule(least: number | undefined, most: number | undefined): string {
  if (most === undefined) return least === undefined ? '' : `${least} or more`;
  return least === undefined ? `at most ${most}` : `${least} to ${most}`;
}

export function choiceWords(values: readonly Choice[]): string {
  return values.map((value) => JSON.stringify(value)).join(', ');
}

export function stringRule(
  minLength: number | undefined,
  maxLength: number | undefined,
  pattern: RegExp | undefined,
): string {
  const amount = amountRule(minLength, maxLength);
  const matching = pattern ? ` that matches ${pattern.source}` : '';
  return `must be a string${amount && ` of ${amount} characters`}${matching}`;
}

/** Counts code points, as JSON Schema does. */
export function lengthPattern(least = 0, most?: number): RegExp {
  return new RegExp(`^[^]{${least},${most ?? ''}}$`, 'u');
}

/** Returns the members that are not undefined. */
export function defined<Members extends object>(members: Members): Partial<Members> {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Partial<Members>;
}
