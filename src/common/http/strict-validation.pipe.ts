import { ValidationPipe, type ArgumentMetadata } from '@nestjs/common';
import { InvalidRequestError } from '../errors/gateway-errors.js';

/** Names that class-transformer leaves out without a word, so that no DTO ever sees them. */
const PASSED_OVER = ['__proto__', 'constructor'];

/** Refuses every field that a DTO does not have, whatever its name. */
export class StrictValidationPipe extends ValidationPipe {
  override transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    if (metadata.type !== 'param' && typeof value === 'object' && value !== null) {
      for (const name of PASSED_OVER) {
        if (Object.hasOwn(value, name)) throw unknownField(name);
      }
    }
    return super.transform(value, metadata);
  }
}

function unknownField(name: string): InvalidRequestError {
  return new InvalidRequestError(name, `\`${name}\` is not taken here; leave it out.`);
}
