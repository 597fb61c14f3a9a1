import { ValidationPipe, type ArgumentMetadata } from '@nestjs/common';
import { validate } from 'class-validator';
import { InvalidRequestError } from '../errors/gateway-errors.js';

/** Names that are left out without a word, at any depth, so that no DTO ever sees them. */
const PASSED_OVER = ['__proto__', 'constructor', 'prototype'];

/** Refuses every field that a DTO does not have, whatever its name. */
export class StrictValidationPipe extends ValidationPipe {
  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const { type, metatype } = metadata;
    // What other parameters hold is made by the service itself.
    if (type === 'body' || type === 'query') refusePassedOver(value, '');
    if (type !== 'body' || !metatype) return super.transform(value, metadata);
    // Bodies come as the types that JSON has, so nothing is to be converted; class-transformer would
    // take seconds for an object of 100,000 members.
    const dto = Object.assign(new metatype() as object, value);
    const errors = await validate(dto, this.validatorOptions);
    if (errors.length > 0) throw await this.exceptionFactory(errors);
    return dto;
  }
}

/** @param path of the value, with a dot at its end; the body itself has none */
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

/** Most members hold no others, and need no path. */
function refuseWithin(member: unknown, path: string, name: string | number): void {
  if (typeof member === 'object') refusePassedOver(member, `${path}${name}.`);
}

function unknownField(name: string): InvalidRequestError {
  return new InvalidRequestError(name, `\`${name}\` is not taken here; leave it out.`);
}
