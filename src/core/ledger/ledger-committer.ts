import { setTimeout as pause } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type { Pool } from 'pg';
import { gatewayErrorOf } from '../../platform/database/database-outage.js';
import { classifyFailure, describeError, describeLoss } from './database-failure.js';
import {
  toGroup,
  type Reservation,
  type Ending,
  type HoldEntry,
  type LedgerGroup,
  type SettleEntry,
} from './ledger-entry.js';
import { flushGroup } from './ledger-flush.js';
import { blankLog } from './ledger-rows.js';
import { quickFlush } from './quick-flush.js';
import { withConnection } from './statement-runner.js';

/** Total attempts of a transaction that conflicts with others. */
const CONFLICT_ATTEMPTS = 6;
const LONGEST_CONFLICT_PAUSE_MS = 20;

/**
 * Commits groups. Retries on conflicts, and splits a group in which an entry cannot be stored until
 * only that entry fails.
 */
export class LedgerCommitter {
  private readonly logger = new Logger(LedgerCommitter.name);

  /**
   * @param releaseLate receives holds that were opened after their callers had timed out
   * @param onLoss receives settlements that cannot be stored at all
   */
  constructor(
    private readonly pool: () => Pool,
    private readonly instanceId: string,
    private readonly releaseLate: (hold: HoldEntry) => void,
    private readonly onLoss: (entry: SettleEntry) => void,
  ) {}

  /**
   * Resolves every entry of the group. Throws when the database cannot take the group now; entries
   * not yet resolved must then be retried.
   */
  async commit(group: LedgerGroup): Promise<void> {
    const limited = group.reservations.filter(({ isLimited }) => isLimited);
    if (limited.length === 0) return this.commitTogether(group);
    // Separately: the others keep the quick path, and the limits are checked after their writes.
    const others = group.reservations.filter(({ isLimited }) => !isLimited);
    if (group.endings.length + others.length > 0) {
      await this.commitTogether({ endings: group.endings, reservations: others });
    }
    await this.commitTogether({ endings: [], reservations: limited });
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
    for (const reservation of group.reservations) {
      if (!reservation.answered) reservation.succeed();
      else if (reservation.kind === 'hold' && reservation.timedOut) {
        reservation.maybeCommitted = false;
        if (reservation.outcome?.admitted) this.releaseLate(reservation);
      }
    }
  }

  /** Finds the entry that cannot be stored by halving the group. */
  private async isolate(group: LedgerGroup, error: unknown): Promise<void> {
    const entries = [...group.endings, ...group.reservations];
    const [entry] = entries;
    if (entries.length === 1 && entry) return this.failAlone(entry, error);
    const middle = Math.ceil(entries.length / 2);
    await this.commit(toGroup(entries.slice(0, middle)));
    await this.commit(toGroup(entries.slice(middle)));
  }

  private async failAlone(entry: Ending | Reservation, error: unknown): Promise<void> {
    const subject = `(request ${entry.requestId}): ${describeError(error)}`;
    if (entry.kind === 'settle' && entry.record && !entry.record.required) {
      this.logger.error(`settlement stored without its record ${subject}`);
      entry.record = undefined;
      return this.commit(toGroup([entry]));
    }
    if (entry.kind === 'settle' && !entry.blanked) {
      this.logger.error(`log row stored without its texts ${subject}`);
      entry.blanked = true;
      entry.log = blankLog(entry.log);
      return this.commit(toGroup([entry]));
    }
    if (entry.kind === 'settle') {
      this.logger.error(`${describeLoss(entry)} ${subject}`);
      this.onLoss(entry);
    } else {
      this.logger.error(`${entry.kind} failed ${subject}`);
    }
    if (entry.kind === 'hold' && entry.maybeCommitted) this.releaseLate(entry);
    entry.fail(gatewayErrorOf(error));
  }
}

/** Rejects covers after an uncertain commit, since a retry could enlarge their holds twice. */
function refuseCoversInDoubt(group: LedgerGroup, error: unknown): void {
  group.reservations = group.reservations.filter((reservation) => {
    if (reservation.kind !== 'cover' || !reservation.maybeCommitted) return true;
    reservation.fail(gatewayErrorOf(error));
    return false;
  });
}
