import { ValidationPipe, type ArgumentMetadata } from '@nestjs/common';
import { InvalidRequestError } from '../errors/gateway-errors.js';

/** Names that are left out without a word, at any depth, so that no DTO ever sees them. */
const PASSED_OVER = ['__proto__', 'constructor', 'prototype'];

/** Refuses every field that a DTO does not have, whatever its name. */
export class StrictValidationPipe extends ValidationPipe {
  override transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    // What other parameters hold is made by the service itself.
    if (metadata.type === 'body' || metadata.type === 'query') refusePassedOver(value, '');
    return super.transform(value, metadata);
  }
}

/** @param path of the value, with a dot at its end; the body itself has none */
function refusePassedOver(value: unknown, path: string): void {
  if (typeof value !== 'object' || value === null) return;
  for (const name of PASSED_OVER) {
    if (Object.hasOwn(value, name)) throw unknownField(`${path}${name}`);
  }
  for (const [name, member] of Object.entries(value)) refusePassedOver(member, `${path}${name}.`);
}

function unknownField(name: string): InvalidRequestError {
  return new InvalidRequestError(name, `\`${name}\` is not taken here; leave it out.`);
}
