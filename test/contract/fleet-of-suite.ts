import { afterAll, beforeAll, beforeEach, expect } from '@jest/globals';
import { findLedgerFaults } from '../support/ledger-invariants.js';
import { VendorFleet } from './vendor-fleet.js';

/**
 * Starts a fleet for the calling suite. Clears its calls before each test and checks its ledger at the end.
 *
 * @param onStart gets the fleet before the first test
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
