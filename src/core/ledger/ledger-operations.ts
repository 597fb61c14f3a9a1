import type { RequestLogDraft, RequestOutcome } from '../request-log/request-log-row.js';
import type { BudgetPeriod, LimitScope, LimitedSubject } from '../../canonical/limits.js';
import type { Usage } from '../../canonical/usage.js';

/** How far a hold may reach beyond its least; see `shareOf`. */
export interface CreditRange {
  /** Credits for the longest output. */
  most: number;
  /** Credits of the least that are not for output: the prompt, the price of a request. */
  base: number;
}

/** Credits to set aside before a vendor is called. Integers throughout: 1 credit = 0.000001 USD. */
export interface HoldOperation {
  requestId: string;
  tenantId: string;
  apiKeyId: string;
  /** What is needed at least; all that is set aside unless there is a range. */
  amount: number;
  /** Where more may be set aside, because the output may be longer. */
  range?: CreditRange;
  /** What the log row says if the process dies before the settlement. */
  endpoint: string;
  model: string;
  provider: string;
  streamed: boolean;
  createdAt: Date;
  /** True when the tenant or the key has a monthly spend limit, which is then looked at. */
  spendLimited?: boolean;
  /** Whose budgets and open requests are looked at; absent: nobody's. */
  subjects?: readonly LimitedSubject[] | undefined;
}

/** Credits by which an open hold is to grow, for a route that is dearer than the ones before. */
export interface CoverOperation {
  requestId: string;
  tenantId: string;
  /** What is needed at least; all that is added unless there is a range. */
  additional: number;
  /** Where more may be added, because the output may be longer: of the hold as a whole, of which so much is `held`. */
  range?: CreditRange & { held: number };
  /** The request's key, when it or its tenant has a spend limit. */
  limitedKeyId?: string | undefined;
  /** Whose budgets it counts on; absent: nobody's. */
  subjects?: readonly LimitedSubject[] | undefined;
}

/** A monthly spend limit that a hold would have passed. */
export interface SpendLimitExcess {
  scope: 'key' | 'tenant';
  limit: number;
  /** What is left of it, open holds counted as spent. */
  left: number;
}

/** A budget that a hold would have passed. */
export interface BudgetExcess {
  scope: LimitScope;
  period: BudgetPeriod;
  limit: number;
  /** What is left of it, open holds counted as spent. */
  left: number;
  /** When it begins anew; null: never. */
  renewsAt: Date | null;
}

/** As many requests are open already as may be. */
export interface OpenRequestsExcess {
  scope: LimitScope;
  maxInFlight: number;
}

export type LimitExcess = SpendLimitExcess | BudgetExcess | OpenRequestsExcess;

export type HoldOutcome =
  /** `granted`: the credits set aside for an operation with a range. */
  | { admitted: true; granted?: number }
  | { admitted: false; available: number; excess?: LimitExcess };

/** The parts of a charge, in credits; what is charged is their sum. */
export interface Charge {
  modelCharge: number;
  byokPlatformFee: number;
  managedToolFee: number;
}

/** The end of a request: its charge and its log row, committed together and at most once. */
export interface SettleOperation {
  charge: Charge;
  log: RequestLogDraft;
  /** What is written in the same transaction, if anything. */
  record?: SettlementRecord;
}

export interface SettleOutcome {
  /** Credits taken from the tenant: the charge, less what no longer was there to take. */
  cost: number;
  /** Credits of the charge that the operator bears. */
  shortfall: number;
  /** False when this request id had been settled before; nothing was written then. */
  applied: boolean;
  /** Whether the record was written; undefined when there was none. */
  recorded?: boolean;
}

/**
 * One statement that is committed together with a settlement, or not at all: state that a caller
 * may ask for as soon as its answer has ended. The ledger knows nothing of the table. It must do
 * no harm when it is carried out twice, and be quick, as accounts are locked meanwhile.
 */
export interface SettlementRecord {
  /** The statement's name, so that PostgreSQL plans it once per connection. */
  name: string;
  text: string;
  values: (string | number | Date | null)[];
  /**
   * True where a settlement without its record would be worse than none: both wait, or fail,
   * together.
   */
  required?: boolean;
}

/** How a request ended, for whoever keeps a record of it. */
export interface SettlementEnding {
  outcome: RequestOutcome;
  usage: Usage;
  /** What was thrown, unless the answer is complete. */
  failure: unknown;
}

/** Makes the record of a request that has ended; undefined when there is nothing to keep. */
export type MakeRecord = (ending: SettlementEnding) => SettlementRecord | undefined;
