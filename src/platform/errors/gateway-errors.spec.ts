import { describe, expect, it } from '@jest/globals';
import { GatewayError, InternalError, NotFoundError, RateLimitError } from './gateway-errors.js';

describe(GatewayError.name, () => {
  it.each([
    new NotFoundError('id', 'There is none.'),
    new RateLimitError('credits', 'Too many.', 1),
  ])('captures no stack for a refusal: $type', (error) => {
    expect(error.stack).toBe(`${error.constructor.name}: ${error.message}`);
  });

  it('captures the stack of internal errors, also after a refusal', () => {
    expect(new InternalError().stack).toContain('gateway-errors.spec');
    expect(new Error('other').stack).toContain('gateway-errors.spec');
  });
});
