import { describe, expect, it } from '@jest/globals';
import { GIVEN_RIGHTS, hasRight, TENANT_ROLES } from '../../../../src/core/people/roles.js';
import { ABILITIES } from './abilities';

describe('what the console says of roles', () => {
  it('names each right', () => {
    expect(['any', ...ABILITIES.map(({ right }) => right)]).toEqual(GIVEN_RIGHTS);
  });

  it.each(ABILITIES)('is true of $right', ({ right, roles }) => {
    expect(TENANT_ROLES.filter((role) => hasRight(role, right))).toEqual(roles);
  });
});
