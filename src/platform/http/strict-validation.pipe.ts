import { ValidationPipe, type ArgumentMetadata, type Type } from '@nestjs/common';
import { validate, validateSync, type ValidationError } from 'class-validator';
import { toDto } from './nested-field.decorators.js';
import { InvalidRequestError } from '../errors/gateway-errors.js';

/**
 * Names that every object inherits. class-transformer drops some silently, and class-validator takes others, such as
 * `hasOwnProperty`, for declared fields.
 */
const PASSED_OVER = [...Object.getOwnPropertyNames(Object.prototype), 'prototype'];

/** How much of a field's name, which the caller may have made up, errors repeat. */
const MAX_NAME_LENGTH = 100;
const MAX_MESSAGE_LENGTH = 300;

/** Stops at the first error of a field, so that an oversized list is rejected before its elements are validated. */
const STRICT = {
  whitelist: true,
  forbidNonWhitelisted: true,
  stopAtFirstError: true,
  forbidUnknownValues: false,
};

/** Rejects every field that a DTO does not declare, whatever its name. */
export class StrictValidationPipe extends ValidationPipe {
  constructor() {
    super({ ...STRICT, transform: true, exceptionFactory: describeViolations });
  }

  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const { type, metatype } = metadata;
    // Other parameters come from the service itself.
    if (type === 'body' || type === 'query') refusePassedOver(value, '');
    if (type !== 'body' || !metatype) return super.transform(value, metadata);
    // Bodies have JSON types, so nothing needs conversion; class-transformer would take seconds for an object of
    // 100,000 members.
    const dto = toDto(metatype as Type<object>, value as object);
    const errors = await validate(dto, this.validatorOptions);
    if (errors.length > 0) throw describeViolations(errors);
    return dto;
  }
}

/**
 * Returns a part of a body as the DTO that another field selects.
 *
 * @param path of the part
 * @throws InvalidRequestError naming the invalid field
 */
export function readDto<Value extends object>(
  DtoClass: Type<Value>,
  value: object,
  path: string,
): Value {
  const dto = toDto(DtoClass, value);
  const errors = validateSync(dto, STRICT);
  if (errors.length > 0) throw describeViolations(errors, path);
  return dto;
}

/** Describes the first violation, by the dotted path of its field. */
function describeViolations(violations: ValidationError[], path?: string): InvalidRequestError {
  const names = path === undefined ? [] : [path];
  let violation = violations[0];
  while (violation) {
    names.push(violation.property.slice(0, MAX_NAME_LENGTH));
    const [constraint] = Object.entries(violation.constraints ?? {});
    if (constraint) {
      const [name, message] = constraint;
      const item = findInvalidItem(violation);
      if (item !== undefined) names.push(item);
      const param = names.join('.') || 'body';
      const rule =
        name === 'whitelistValidation'
          ? 'is not a known field; remove it'
          : message.slice(0, MAX_MESSAGE_LENGTH);
      return new InvalidRequestError(param, `\`${param}\` ${rule}.`);
    }
    violation = violation.children?.[0];
  }
  return new InvalidRequestError('body', 'The request is not valid.');
}

function findInvalidItem({ constraints, contexts, value }: ValidationError): string | undefined {
  const { isItem } = { ...contexts?.items } as { isItem?: (item: unknown) => boolean };
  if (!isItem || constraints?.items === undefined || !Array.isArray(value)) return undefined;
  return String(value.findIndex((item) => !isItem(item)));
}

/** @param path of the value, with a trailing dot; empty for the body */
function refusePassedOver(value: unknown, path: string): void {
  if (typeof value !== 'object' || value === null) return;
  for (const name of PASSED_OVER) {
    if (Object.hasOwn(value, name)) throw unknownField(`${path}${name}`);
  }
  if (Array.isArray(value)) {
    value.forEach((item, index) => refuseWithin(item, path, index));
  } else {
    for (const [name, member] of Object.entries(value)) refuseWithin(member, path, name);
  }
}

/** Most members contain no others and need no path. */
function refuseWithin(member: unknown, path: string, name: string | number): void {
  if (typeof member === 'object') refusePassedOver(member, `${path}${name}.`);
}

function unknownField(name: string): InvalidRequestError {
  return new InvalidRequestError(name, `\`${name}\` is not a known field; remove it.`);
}
