import type { Logger } from '@nestjs/common';
import { describeError } from './database-failure.js';
import type { MakeRecord, SettleOutcome, SettlementRecord } from './ledger-operations.js';
import type { RequestLogDraft } from '../request-log/request-log-row.js';
import type { AnswerEnding } from './settled-answer.js';

/** Characters of records kept in memory while the database is away: about 64 MB. */
const MAX_PENDING_CHARACTERS = 64_000_000;

/** Bounds the memory of records that wait for their commit; a record beyond it is given up. */
export class PendingRecords {
  private characters = 0;

  /** The record, or undefined when there is no room for it. */
  admit(record: SettlementRecord | undefined): SettlementRecord | undefined {
    if (!record) return undefined;
    const size = sizeOf(record);
    const isFull = this.characters > 0 && this.characters + size > MAX_PENDING_CHARACTERS;
    if (isFull && !record.required) return undefined;
    this.characters += size;
    return record;
  }

  /** Says in the outcome whether the record was written, and makes room for others. */
  async track(
    settled: Promise<SettleOutcome>,
    admitted: SettlementRecord | undefined,
    isWritten: () => boolean,
  ): Promise<SettleOutcome> {
    try {
      const outcome = await settled;
      return { ...outcome, recorded: outcome.applied && isWritten() };
    } finally {
      if (admitted) this.characters -= sizeOf(admitted);
    }
  }
}

/** Characters of its texts. */
export function sizeOf({ values }: SettlementRecord): number {
  return values.reduce<number>(
    (sum, value) => sum + (typeof value === 'string' ? value.length : 0),
    0,
  );
}

/** The record of an answer. One that cannot be made must not keep the settlement back. */
export function recordOf(
  make: MakeRecord,
  { outcome, usage }: RequestLogDraft,
  { failure }: AnswerEnding,
  logger: Pick<Logger, 'error'>,
): SettlementRecord | undefined {
  try {
    return make({ outcome, usage, failure });
  } catch (error) {
    logger.error(`A record could not be made: ${describeError(error)}`);
    return undefined;
  }
}
