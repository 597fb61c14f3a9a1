import { applyDecorators, type Type } from '@nestjs/common';
import { ApiExtraModels, getSchemaPath, type ApiPropertyOptions } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsObject,
  ValidateBy,
  ValidateNested,
  type ValidationOptions,
} from 'class-validator';
import {
  amountRule,
  choiceWords,
  defined,
  lengthPattern,
  stringRule,
  EnumField,
  field,
  type Choice,
  type FieldDecorator,
  type FieldOptions,
  type Validators,
} from './field.decorators.js';
import { isJsonObject, type JsonObject } from './json-body.js';

export interface ListOptions extends FieldOptions {
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  /** A field that is different in each object. */
  readonly uniqueBy?: string;
  /** An error names the invalid item, such as `words.1`, instead of the field. */
  readonly namesItem?: boolean;
}

interface StringListOptions extends ListOptions {
  readonly item?: {
    readonly minLength?: number;
    readonly maxLength?: number;
    readonly pattern?: RegExp;
  };
}

type Instantiate = (value: JsonObject) => object;

const NESTED = Symbol('nested fields');

export function EnumListField<const Value extends Choice, const Options extends ListOptions>(
  values: readonly Value[],
  options?: Options,
): FieldDecorator<readonly Value[], Options> {
  const choices: readonly unknown[] = values;
  const words = choiceWords(values);
  return list({ enum: [...values], isArray: true }, options, `items from ${words}`, (rule) => [
    EachItem((item) => choices.includes(item), rule, options, `must be one of ${words}`),
  ]);
}

export function StringListField<const Options extends StringListOptions>(
  options?: Options,
): FieldDecorator<readonly string[], Options> {
  const { minLength, maxLength, pattern } = { ...(options as StringListOptions | undefined)?.item };
  const items = { type: 'string', ...defined({ minLength, maxLength, pattern: pattern?.source }) };
  const isText = lengthPattern(minLength, maxLength);
  const isItem = (item: unknown): boolean =>
    typeof item === 'string' && isText.test(item) && (!pattern || pattern.test(item));
  const message = stringRule(minLength, maxLength, pattern);
  const words = message
    .replace('must be a string', 'strings')
    .replace(' that matches ', ' that match ');
  return list({ type: 'array', items }, options, words, (rule) => [
    EachItem(isItem, rule, options, message),
  ]);
}

export function IntegerListField<const Options extends ListOptions>(
  { minimum, maximum }: { readonly minimum: number; readonly maximum: number },
  options?: Options,
): FieldDecorator<readonly number[], Options> {
  const items = { type: 'integer', minimum, maximum } as const;
  const isItem = (item: unknown): boolean =>
    Number.isInteger(item) && Number(item) >= minimum && Number(item) <= maximum;
  const range = `from ${minimum} to ${maximum}`;
  return list({ type: 'array', items }, options, `integers ${range}`, (rule) => [
    EachItem(isItem, rule, options, `must be an integer ${range}`),
  ]);
}

/** An object of another DTO. */
export function ObjectField<Value extends object, const Options extends FieldOptions>(
  type: Type<Value>,
  options?: Options,
): FieldDecorator<Value, Options> {
  return field({ type }, options, 'must be an object', (rule) => [
    IsObject(rule),
    Nested((value) => toDto(type, value)),
  ]);
}

/** An array of objects of another DTO. */
export function ObjectListField<Value extends object, const Options extends ListOptions>(
  type: Type<Value>,
  options?: Options,
): FieldDecorator<readonly Value[], Options> {
  return list({ type: [type] }, options, 'objects', () => [Nested((value) => toDto(type, value))]);
}

/**
 * An array of objects of several DTOs.
 *
 * @param discriminator the field that tells them apart
 * @param types DTOs by its value
 */
export function VariantListField<
  const Types extends Readonly<Record<string, Type<object>>>,
  const Options extends ListOptions,
>(
  discriminator: string,
  types: Types,
  options?: Options,
): FieldDecorator<readonly InstanceType<Types[keyof Types]>[], Options> {
  const classes = Object.values(types);
  const items = { oneOf: classes.map((type) => ({ $ref: getSchemaPath(type) })) };
  class UnknownVariant {}
  (EnumField(Object.keys(types)) as PropertyDecorator)(UnknownVariant.prototype, discriminator);
  const toVariant = (value: JsonObject): object => {
    const name = value[discriminator];
    if (typeof name === 'string' && Object.hasOwn(types, name)) return toDto(types[name]!, value);
    return toDto(UnknownVariant, { [discriminator]: name });
  };
  return applyDecorators(
    Describes(classes),
    list({ type: 'array', items }, options, 'objects', () => [Nested(toVariant)]),
  );
}

/** The base of decorators of arrays. @param items what they contain, in an error message */
function list(
  schema: ApiPropertyOptions,
  options: ListOptions = {},
  items: string,
  validators: Validators,
): PropertyDecorator {
  const { minItems, maxItems, uniqueItems, uniqueBy } = options;
  const words = [
    amountRule(minItems, maxItems),
    uniqueItems ? 'different' : '',
    items,
    uniqueBy && `with different ${uniqueBy}s`,
  ];
  const message = `must be an array of ${words.filter(Boolean).join(' ')}`;
  const withAmount = { ...schema, minItems, maxItems, uniqueItems } as ApiPropertyOptions;
  return field(withAmount, options, message, (rule) => [
    IsArray(rule),
    ...(minItems === undefined ? [] : [ArrayMinSize(minItems, rule)]),
    ...(maxItems === undefined ? [] : [ArrayMaxSize(maxItems, rule)]),
    ...(uniqueItems ? [Different((item) => item, rule)] : []),
    ...validators(rule),
    ...(uniqueBy ? [Different((one) => (one as JsonObject | null)?.[uniqueBy], rule)] : []),
  ]);
}

/** An object of one of several DTOs. `readDto` validates it where it is known which one. */
export function AnyObjectField<const Options extends FieldOptions>(
  types: readonly Type<object>[],
  options?: Options,
): FieldDecorator<object, Options> {
  const schema = { anyOf: types.map((type) => ({ $ref: getSchemaPath(type) })) } as object;
  return applyDecorators(
    Describes(types),
    field(schema, options, 'must be an object', (rule) => [IsObject(rule)]),
  );
}

/** Returns an instance of a DTO and of those in its fields, ready for validation. */
export function toDto<Value extends object>(DtoClass: Type<Value>, value: object): Value {
  const dto = Object.assign(new DtoClass(), value);
  const members = dto as JsonObject;
  for (const [name, instantiate] of Object.entries(nestedFields(DtoClass.prototype as object))) {
    const member = members[name];
    if (Array.isArray(member)) {
      // ValidateNested rejects null, but accepts an array in an array.
      members[name] = member.map((one) => (isJsonObject(one) ? instantiate(one) : null));
    } else if (isJsonObject(member)) {
      members[name] = instantiate(member);
    }
  }
  return dto;
}

function EachItem(
  isItem: (item: unknown) => boolean,
  rule: ValidationOptions,
  options: ListOptions | undefined,
  itemMessage: string,
): PropertyDecorator {
  const validate = (value: unknown): boolean => Array.isArray(value) && value.every(isItem);
  const named = { message: itemMessage, context: { isItem } };
  return ValidateBy({ name: 'items', validator: { validate } }, options?.namesItem ? named : rule);
}

/** Does what ArrayUnique does, but in linear time. */
function Different(keyOf: (item: unknown) => unknown, rule: ValidationOptions): PropertyDecorator {
  const validate = (value: unknown): boolean =>
    Array.isArray(value) && new Set(value.map(keyOf)).size === value.length;
  return ValidateBy({ name: 'different', validator: { validate } }, rule);
}

/** Adds DTOs to the description, which refers to them by name. */
function Describes(types: readonly Type<object>[]): PropertyDecorator {
  return (target) => {
    ApiExtraModels(...types)(target.constructor);
  };
}

/**
 * Validates the objects in a field as instances of a DTO. `@Type()` of class-transformer would do the same, but copies
 * whole bodies, which takes seconds for an object of 100,000 members.
 */
function Nested(instantiate: Instantiate): PropertyDecorator {
  return applyDecorators(
    (target: object, name: string | symbol) =>
      Reflect.defineMetadata(NESTED, { ...nestedFields(target), [name]: instantiate }, target),
    ValidateNested({ message: 'must be an object' }),
  );
}

function nestedFields(target: object): Record<string, Instantiate> {
  return (Reflect.getMetadata(NESTED, target) ?? {}) as Record<string, Instantiate>;
}
