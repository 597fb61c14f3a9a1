import { afterEach, describe, expect, it } from '@jest/globals';
import { CoarseTimer } from '../../platform/time/coarse-timer.js';
import { AccountStates } from './account-states.js';
import { admitRequests } from './admit-requests.js';
import { CoverEntry, HoldEntry, type Reservation } from './ledger-entry.js';
import { SpendLimits } from './spend-limits.js';

const timer = new CoarseTimer();
const reservations: Reservation[] = [];

// Resolves the entries, so that their timers do not keep running.
afterEach(() => reservations.splice(0).forEach((reservation) => reservation.succeed()));

function hold(amount: number, apiKeyId = 'key'): HoldEntry {
  const entry = new HoldEntry(
    {
      requestId: `${apiKeyId} ${reservations.length}`,
      tenantId: 'tenant',
      apiKeyId,
      amount,
      endpoint: 'chat',
      model: 'm',
      provider: 'p',
      streamed: false,
      createdAt: new Date(),
      spendLimited: true,
    },
    timer,
  );
  reservations.push(entry);
  return entry;
}

function cover(requestId: string, credits: number): CoverEntry {
  const operation = { requestId, tenantId: 'tenant', additional: credits, limitedKeyId: 'key' };
  const entry = new CoverEntry(operation, timer);
  reservations.push(entry);
  return entry;
}

/** A tenant with 1,000 credits, 100 of them held. */
function makeAccounts(): AccountStates {
  const accounts = new AccountStates();
  accounts.add('tenant', 1_000, 100);
  return accounts;
}

const keyRow = { scope: 'key', id: 'key', spend_limit: 300, used: 250, key_ids: ['key'] } as const;
const tenantRow = {
  scope: 'tenant',
  id: 'tenant',
  spend_limit: 400,
  used: 260,
  key_ids: [],
} as const;

describe(SpendLimits.name, () => {
  it('counts what it admits, so that later entries see less', () => {
    const accounts = makeAccounts();
    const limits = new SpendLimits([keyRow], accounts);
    const group = [hold(30), hold(30), hold(20), hold(1)];
    const admitted = admitRequests(accounts, group, new Set(), limits);
    expect(admitted.holds).toEqual([group[0], group[2]]);
    expect(group[1]!.outcome).toEqual({
      admitted: false,
      available: 870,
      excess: { scope: 'key', limit: 300, left: 20 },
    });
  });

  it("counts a tenant's open holds as spent", () => {
    const limits = new SpendLimits([tenantRow], makeAccounts());
    expect(limits.excessOf(hold(40), 40)).toBeUndefined();
    expect(limits.excessOf(hold(41), 41)).toEqual({ scope: 'tenant', limit: 400, left: 40 });
  });

  it('keeps the keys of a tenant apart, but applies the tenant’s limit to all', () => {
    const accounts = makeAccounts();
    const limits = new SpendLimits([keyRow, tenantRow], accounts);
    const group = [hold(40, 'other'), hold(1)];
    admitRequests(accounts, group, new Set(), limits);
    expect(group[0]!.outcome).toEqual({ admitted: true });
    expect(group[1]!.outcome).toMatchObject({ excess: { scope: 'tenant', left: 0 } });
    expect([limits.limitedKeysOf('key'), limits.limitedKeysOf('other')]).toEqual([['key'], []]);
  });

  it('counts a key toward its parent keys’ limits, which are shared', () => {
    const own = { ...keyRow, id: 'child', spend_limit: 30, used: 0, key_ids: ['child'] } as const;
    const shared = { ...keyRow, key_ids: ['key', 'child'] } as const;
    const limits = new SpendLimits([shared, own], makeAccounts());
    const group = [hold(31, 'child'), hold(30, 'child'), hold(21), hold(20)];
    const { holds } = admitRequests(makeAccounts(), group, new Set(), limits);
    expect(holds).toEqual([group[1], group[3]]);
    expect(group[2]!.outcome).toMatchObject({ excess: { scope: 'key', limit: 300, left: 20 } });
    expect(limits.limitedKeysOf('child')).toEqual(['key', 'child']);
  });

  it('leaves 0 when a limit is exceeded', () => {
    const limits = new SpendLimits([{ ...keyRow, used: 900 }], makeAccounts());
    expect(limits.excessOf(hold(0), 0)).toBeUndefined();
    expect(limits.excessOf(hold(1), 1)).toEqual({ scope: 'key', limit: 300, left: 0 });
  });

  it('applies to covers as well', () => {
    const accounts = makeAccounts();
    const limits = new SpendLimits([keyRow], accounts);
    const group = [cover('open', 51), cover('open', 50), cover('open', 1)];
    const { covers } = admitRequests(accounts, group, new Set(['open']), limits);
    expect(group.map(({ outcome }) => outcome)).toEqual([false, true, false]);
    expect(covers).toEqual(new Map([['open', 50]]));
  });
});
