import { describe, expect, it } from '@jest/globals';
import { splitCharge, toStorableCharge } from './pricing.js';

const charge = (modelCharge: number, byokPlatformFee = 0, managedToolFee = 0) => ({
  modelCharge,
  byokPlatformFee,
  managedToolFee,
});

describe(splitCharge.name, () => {
  it('leaves an affordable charge whole', () => {
    expect(splitCharge(charge(5, 2, 3), 10)).toEqual({
      charge: charge(5, 2, 3),
      cost: 10,
      shortfall: 0,
    });
  });

  it.each([
    [9, charge(4, 2, 3)],
    [5, charge(0, 2, 3)],
    [4, charge(0, 2, 2)],
    [1, charge(0, 1, 0)],
    [0, charge(0)],
    [-7, charge(0)],
  ])('with %p credits, reduces the model charge first and then the fees', (available, parts) => {
    const cost = Math.max(0, available);
    expect(splitCharge(charge(5, 2, 3), available)).toEqual({
      charge: parts,
      cost,
      shortfall: 10 - cost,
    });
  });

  it('has no shortfall without a charge', () => {
    expect(splitCharge(charge(0), 0)).toEqual({ charge: charge(0), cost: 0, shortfall: 0 });
  });
});

describe(toStorableCharge.name, () => {
  it('returns a valid charge unchanged', () => {
    const good = charge(1, 2, 3);
    expect(toStorableCharge(good)).toBe(good);
  });

  it.each([
    [charge(NaN, -1, 0.2), charge(0, 0, 1)],
    [charge(Infinity, 5, 5), charge(Number.MAX_SAFE_INTEGER)],
    [charge(2 ** 60), charge(Number.MAX_SAFE_INTEGER)],
    [charge(Number.MAX_SAFE_INTEGER - 1, 5), charge(Number.MAX_SAFE_INTEGER - 1, 1)],
  ])('converts %p to amounts', (bad, good) => {
    expect(toStorableCharge(bad)).toEqual(good);
  });
});
