import type { RequestLogDraft, RequestOutcome } from '../request-log/request-log-row.js';
import type { BudgetPeriod, LimitScope, LimitedSubject } from '../../canonical/limits.js';
import type { Usage } from '../../canonical/usage.js';

/** How far a hold may grow beyond its minimum; see `shareOf`. */
export interface CreditRange {
  /** Credits that cover the longest output. */
  most: number;
  /** The part of the minimum that is not for output: the prompt and the price per request. */
  base: number;
}

/** A reservation of credits before a vendor is called. Integers: 1 credit = 0.000001 USD. */
export interface HoldOperation {
  requestId: string;
  tenantId: string;
  apiKeyId: string;
  /** The minimum; without a range, the exact amount. */
  amount: number;
  /** Set when more may be reserved for a longer output. */
  range?: CreditRange;
  /** For the log row if the process dies before the settlement. */
  endpoint: string;
  model: string;
  provider: string;
  streamed: boolean;
  createdAt: Date;
  /** True when the tenant or the key has a monthly spend limit to check. */
  spendLimited?: boolean;
  /** Subjects whose budgets and concurrency limits to check; undefined: none. */
  subjects?: readonly LimitedSubject[] | undefined;
}

/** A growth of an open hold, for a more expensive route. */
export interface CoverOperation {
  requestId: string;
  tenantId: string;
  /** The minimum to add; without a range, the exact amount. */
  additional: number;
  /** Set when more may be added for a longer output. Applies to the whole hold, whose size is `held`. */
  range?: CreditRange & { held: number };
  /** The request's key, when the key or its tenant has a spend limit. */
  limitedKeyId?: string | undefined;
  /** Subjects whose budgets to check; undefined: none. */
  subjects?: readonly LimitedSubject[] | undefined;
}

/** A monthly spend limit that a hold would exceed. */
export interface SpendLimitExcess {
  scope: 'key' | 'tenant';
  limit: number;
  /** Remaining credits, open holds counted as spent. */
  left: number;
}

/** A budget that a hold would exceed. */
export interface BudgetExcess {
  scope: LimitScope;
  period: BudgetPeriod;
  limit: number;
  /** Remaining credits, open holds counted as spent. */
  left: number;
  /** When the next period starts; null: never. */
  renewsAt: Date | null;
}

/** A limit of concurrent requests that is reached. */
export interface OpenRequestsExcess {
  scope: LimitScope;
  maxInFlight: number;
}

export type LimitExcess = SpendLimitExcess | BudgetExcess | OpenRequestsExcess;

export type HoldOutcome =
  /** `granted`: the credits reserved for an operation with a range. */
  | { admitted: true; granted?: number }
  | { admitted: false; available: number; excess?: LimitExcess };

/** The parts of a charge in credits; their sum is charged. */
export interface Charge {
  modelCharge: number;
  byokPlatformFee: number;
  managedToolFee: number;
}

/** The end of a request: charge and log row, committed together and at most once. */
export interface SettleOperation {
  charge: Charge;
  log: RequestLogDraft;
  /** Written in the same transaction. */
  record?: SettlementRecord;
}

export interface SettleOutcome {
  /** Credits taken from the tenant: the charge less the shortfall. */
  cost: number;
  /** Credits of the charge that the operator writes off. */
  shortfall: number;
  /** False when the request was settled before; nothing was written then. */
  applied: boolean;
  /** True when the record was written; undefined without one. */
  recorded?: boolean;
}

/**
 * A statement committed atomically with a settlement, for state that the caller may read as soon as its
 * answer ends. The ledger does not know the table. Must be idempotent, and fast, since accounts are
 * locked meanwhile.
 */
export interface SettlementRecord {
  /** The statement's name, so that PostgreSQL plans it once per connection. */
  name: string;
  text: string;
  values: (string | number | Date | null)[];
  /** True when a settlement must not be stored without its record: both wait or fail together. */
  required?: boolean;
}

/** How a request ended, for its record. */
export interface SettlementEnding {
  outcome: RequestOutcome;
  usage: Usage;
  /** The thrown error, unless the answer is complete. */
  failure: unknown;
}

/** Builds the record of a finished request; undefined when there is nothing to store. */
export type MakeRecord = (ending: SettlementEnding) => SettlementRecord | undefined;
