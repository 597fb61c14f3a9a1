import type { Logger } from '@nestjs/common';
import { describeError } from './database-failure.js';
import type { MakeRecord, SettleOutcome, SettlementRecord } from './ledger-operations.js';
import type { RequestLogDraft } from '../request-log/request-log-row.js';
import type { AnswerEnding } from './settled-answer.js';

/** Characters of records in memory while the database is unavailable: about 64 MB. */
const MAX_PENDING_CHARACTERS = 64_000_000;

/** Bounds the memory of records awaiting their commit; records beyond it are dropped. */
export class PendingRecords {
  private characters = 0;

  /** Returns the record; undefined when there is no room for it. */
  admit(record: SettlementRecord | undefined): SettlementRecord | undefined {
    if (!record) return undefined;
    const size = sizeOf(record);
    const isFull = this.characters > 0 && this.characters + size > MAX_PENDING_CHARACTERS;
    if (isFull && !record.required) return undefined;
    this.characters += size;
    return record;
  }

  /** Adds to the outcome whether the record was written, and frees its memory. */
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

/** Returns the characters of a record's texts. */
export function sizeOf({ values }: SettlementRecord): number {
  return values.reduce<number>(
    (sum, value) => sum + (typeof value === 'string' ? value.length : 0),
    0,
  );
}

/** Builds the record of an answer. A failure must not prevent the settlement. */
export function recordOf(
  make: MakeRecord,
  { outcome, usage }: RequestLogDraft,
  { failure }: AnswerEnding,
  logger: Pick<Logger, 'error'>,
): SettlementRecord | undefined {
  try {
    return make({ outcome, usage, failure });
  } catch (error) {
    logger.error(`settlement record not built: ${describeError(error)}`);
    return undefined;
  }
}
