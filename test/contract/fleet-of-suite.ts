import { afterAll, beforeAll, beforeEach, expect } from '@jest/globals';
import { findLedgerFaults } from '../support/ledger-invariants.js';
import { VendorFleet } from './vendor-fleet.js';

/**
 * A fleet for the suite that this is called in. Its calls are forgotten before each test, and its books have to
 * be sound at the end.
 *
 * @param onStart is given it before the first test
 */
export function startFleet(onStart: (fleet: VendorFleet) => void): void {
  let fleet: VendorFleet;
  beforeAll(async () => {
    fleet = await VendorFleet.start();
    onStart(fleet);
  });
  beforeEach(() => fleet.forgetCalls());
  afterAll(async () => {
    expect(await findLedgerFaults(fleet.gateway.database)).toEqual([]);
    await fleet.close();
  });
}
