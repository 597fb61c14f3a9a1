import { describe, expect, it } from '@jest/globals';
import { CoarseTimer } from '../../platform/time/coarse-timer.js';
import { AccountStates } from './account-states.js';
import { admitRequests } from './admit-requests.js';
import { CoverEntry, HoldEntry, type Reservation } from './ledger-entry.js';

const timer = new CoarseTimer();

function hold(tenantId: string, amount: number): HoldEntry {
  const operation = {
    requestId: `request of ${amount}`,
    tenantId,
    apiKeyId: 'key',
    amount,
    endpoint: 'chat',
    model: 'm',
    provider: 'p',
    streamed: false,
    createdAt: new Date(),
  };
  return new HoldEntry(operation, timer);
}

const cover = (requestId: string, additional: number) =>
  new CoverEntry({ requestId, tenantId: 'a', additional }, timer);

/** Account `a` has 100 credits, 20 of them held; account `b` has 10. */
function twoAccounts(): AccountStates {
  const accounts = new AccountStates();
  accounts.add('a', 100, 20);
  accounts.add('b', 10, 0);
  return accounts;
}

function outcomes(reservations: Reservation[]): unknown[] {
  return reservations.map((reservation) => {
    timer.unwatch(reservation);
    return reservation.outcome;
  });
}

describe(admitRequests.name, () => {
  it('admits per tenant in order of arrival and skips what does not fit', () => {
    const accounts = twoAccounts();
    const reservations = [
      hold('a', 50),
      hold('b', 11),
      hold('a', 31),
      hold('b', 10),
      hold('a', 30),
    ];
    const admitted = admitRequests(accounts, reservations, new Set());
    expect(outcomes(reservations)).toEqual([
      { admitted: true },
      { admitted: false, available: 10 },
      { admitted: false, available: 30 },
      { admitted: true },
      { admitted: true },
    ]);
    expect(admitted.holds).toEqual([reservations[0], reservations[3], reservations[4]]);
    expect(accounts.openedAccounts()).toEqual([
      { tenant_id: 'a', credits: 80 },
      { tenant_id: 'b', credits: 10 },
    ]);
  });

  it('rejects every nonzero hold of a tenant without an account', () => {
    const reservations = [hold('unknown', 1), hold('unknown', 0)];
    admitRequests(twoAccounts(), reservations, new Set());
    expect(outcomes(reservations)).toEqual([{ admitted: false, available: 0 }, { admitted: true }]);
  });

  it('adds up the covers of one hold and rejects covers of released holds', () => {
    const accounts = twoAccounts();
    const reservations = [
      cover('open', 30),
      cover('released', 1),
      cover('open', 51),
      cover('open', 50),
    ];
    const admitted = admitRequests(accounts, reservations, new Set(['open']));
    expect(outcomes(reservations)).toEqual([true, false, false, true]);
    expect([...admitted.covers]).toEqual([['open', 80]]);
    expect(accounts.available('a')).toBe(0);
  });
});
