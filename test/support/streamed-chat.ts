import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import type { BootedGateway } from './boot-gateway.js';
import { bootWithVendor, type VendorSetUp } from './boot-with-vendor.js';
import { politeAnswer, type FakeOpenAi } from './fake-openai.js';
import { findLedgerFaults } from './ledger-invariants.js';
import { loggedRequest, type LoggedRequest } from './logged-request.js';
import { CHAT } from './paths.js';

export interface StreamedChat {
  readonly fake: FakeOpenAi;
  readonly gateway: BootedGateway;
  bodyOf(fields: object): object;
  /** Requests a stream. */
  ask(fields?: object): Promise<Response>;
  rowOf(id: string | null | undefined): Promise<LoggedRequest>;
}

/**
 * A gateway with one vendor for all tests of a suite. Each test starts with a polite vendor and must leave
 * a balanced ledger. The result can be used from `beforeAll` on.
 *
 * @param pricing see `bootWithVendor`
 */
export function setUpStreamedChat(pricing?: Record<string, string>): StreamedChat {
  let vendor: VendorSetUp;
  beforeAll(async () => {
    vendor = await bootWithVendor(pricing);
  });
  afterEach(async () => {
    vendor.fake.calls.length = 0;
    vendor.fake.answer = politeAnswer();
    expect(await findLedgerFaults(vendor.gateway.database)).toEqual([]);
  });
  afterAll(() => vendor.close());

  const bodyOf = (fields: object): object => ({
    model: 'one/a',
    messages: [{ role: 'user', content: 'x'.repeat(400) }],
    ...fields,
  });
  return {
    get fake() {
      return vendor.fake;
    },
    get gateway() {
      return vendor.gateway;
    },
    bodyOf,
    ask: (fields = {}) => vendor.gateway.post(CHAT, bodyOf({ stream: true, ...fields })),
    rowOf: (id) => loggedRequest(vendor.gateway.database, id),
  };
}
