import { describe, expect, it } from '@jest/globals';
import { GIVEN_RIGHTS, hasRight, TENANT_ROLES } from '../../../../src/core/access/roles.js';
import { ABILITIES } from './abilities';

describe('ABILITIES', () => {
  it('covers every right', () => {
    expect(['any', ...ABILITIES.map(({ right }) => right)]).toEqual(GIVEN_RIGHTS);
  });

  it.each(ABILITIES)('matches the roles that have $right', ({ right, roles }) => {
    expect(TENANT_ROLES.filter((role) => hasRight(role, right))).toEqual(roles);
  });
});
