import { ValidationPipe, type ArgumentMetadata } from '@nestjs/common';
import { validate } from 'class-validator';
import { InvalidRequestError } from '../errors/gateway-errors.js';

/** Names that class-transformer drops silently at any depth, so that DTOs never see them. */
const PASSED_OVER = ['__proto__', 'constructor', 'prototype'];

/** Rejects every field that a DTO does not declare, whatever its name. */
export class StrictValidationPipe extends ValidationPipe {
  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const { type, metatype } = metadata;
    // Other parameters come from the service itself.
    if (type === 'body' || type === 'query') refusePassedOver(value, '');
    if (type !== 'body' || !metatype) return super.transform(value, metadata);
    // Bodies have JSON types, so nothing needs conversion; class-transformer would take seconds for an object of
    // 100,000 members.
    const dto = Object.assign(new metatype() as object, value);
    const errors = await validate(dto, this.validatorOptions);
    if (errors.length > 0) throw await this.exceptionFactory(errors);
    return dto;
  }
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
  return new InvalidRequestError(name, `\`${name}\` is not taken here; leave it out.`);
}
