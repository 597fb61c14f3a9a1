import { setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type { Pool } from 'pg';
import { gatewayErrorOf } from '../../platform/database/database-outage.js';
import { classifyFailure, describeError, describeLoss } from './database-failure.js';
import {
  toGroup,
  type Ask,
  type Ending,
  type HoldEntry,
  type LedgerGroup,
  type SettleEntry,
} from './ledger-entry.js';
import { flushGroup } from './ledger-flush.js';
import { blankLog } from './ledger-rows.js';
import { quickFlush } from './quick-flush.js';
import { withConnection } from './statement-runner.js';

/** Transactions that lose against others are tried so often in all. */
const CONFLICT_ATTEMPTS = 6;
const LONGEST_CONFLICT_PAUSE_MS = 20;

/**
 * Commits groups: again where they lost against another transaction, and in ever smaller parts
 * where an entry can't be stored, so that only that entry fails.
 */
export class LedgerCommitter {
  private readonly logger = new Logger(LedgerCommitter.name);

  /**
   * `giveBack` gets holds that were opened after their callers had given up; `onLoss` is called for
   * each settlement that cannot be stored at all.
   */
  constructor(
    private readonly pool: () => Pool,
    private readonly instanceId: string,
    private readonly giveBack: (hold: HoldEntry) => void,
    private readonly onLoss: (entry: SettleEntry) => void,
  ) {}

  /**
   * Answers every entry of the group. Throws when the database can't take the group now; entries
   * without an answer are then to be tried again.
   */
  async commit(group: LedgerGroup): Promise<void> {
    const limited = group.asks.filter(({ isLimited }) => isLimited);
    if (limited.length === 0) return this.commitTogether(group);
    // On their own, so that asks without a limit go the quick way as ever, and that what they look
    // at has been written.
    const others = group.asks.filter(({ isLimited }) => !isLimited);
    if (group.endings.length + others.length > 0) {
      await this.commitTogether({ endings: group.endings, asks: others });
    }
    await this.commitTogether({ endings: [], asks: limited });
  }

  private async commitTogether(group: LedgerGroup): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await withConnection(this.pool(), async (client) => {
          if (await quickFlush(client, this.instanceId, group)) return;
          await flushGroup(client, this.instanceId, group);
        });
        break;
      } catch (error) {
        refuseCoversInDoubt(group, error);
        const kind = classifyFailure(error);
        if (kind === 'data') return this.isolate(group, error);
        if (kind !== 'conflict' || attempt === CONFLICT_ATTEMPTS) throw error;
        await pause(Math.random() * LONGEST_CONFLICT_PAUSE_MS);
      }
    }
    this.announce(group);
  }

  private announce(group: LedgerGroup): void {
    for (const ending of group.endings) ending.succeed();
    for (const ask of group.asks) {
      if (!ask.answered) ask.succeed();
      else if (ask.kind === 'hold' && ask.timedOut) {
        ask.maybeCommitted = false;
        if (ask.outcome?.admitted) this.giveBack(ask);
      }
    }
  }

  /** Finds the entry that can't be stored by halving the group. */
  private async isolate(group: LedgerGroup, error: unknown): Promise<void> {
    const entries = [...group.endings, ...group.asks];
    const [entry] = entries;
    if (entries.length === 1 && entry) return this.failAlone(entry, error);
    const middle = Math.ceil(entries.length / 2);
    await this.commit(toGroup(entries.slice(0, middle)));
    await this.commit(toGroup(entries.slice(middle)));
  }

  private async failAlone(entry: Ending | Ask, error: unknown): Promise<void> {
    const subject = `request ${entry.requestId}: ${describeError(error)}`;
    if (entry.kind === 'settle' && entry.record && !entry.record.required) {
      this.logger.error(`A settlement is stored without its record, ${subject}`);
      entry.record = undefined;
      return this.commit(toGroup([entry]));
    }
    if (entry.kind === 'settle' && !entry.blanked) {
      this.logger.error(`A log row is stored without its texts, ${subject}`);
      entry.blanked = true;
      entry.log = blankLog(entry.log);
      return this.commit(toGroup([entry]));
    }
    if (entry.kind === 'settle') {
      this.logger.error(`${describeLoss(entry)}, ${subject}`);
      this.onLoss(entry);
    } else {
      this.logger.error(`A ${entry.kind} can't be stored, ${subject}`);
    }
    if (entry.kind === 'hold' && entry.maybeCommitted) this.giveBack(entry);
    entry.fail(gatewayErrorOf(error));
  }
}

/** Enlarging a hold twice would be wrong, so a cover is not tried again after a commit in doubt. */
function refuseCoversInDoubt(group: LedgerGroup, error: unknown): void {
  group.asks = group.asks.filter((ask) => {
    if (ask.kind !== 'cover' || !ask.maybeCommitted) return true;
    ask.fail(gatewayErrorOf(error));
    return false;
  });
}
