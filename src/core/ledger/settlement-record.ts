import type { QueryConfig } from 'pg';
import type { Usage } from '../../canonical/usage.js';
import type { RequestOutcome } from './request-log/request-log.draft.js';
import type { SettleEntry } from './ledger-entry.js';

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

/** The statements that write the records of those settlements that take place. */
export function recordsOf(settlements: readonly SettleEntry[]): QueryConfig[] {
  return settlements.flatMap(({ record, outcome }) => (record && outcome?.applied ? [record] : []));
}
