import { renameSync, rmSync, statSync } from 'node:fs';
import { Injectable, Logger } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { codeOf, messageOf } from '../../platform/errors/thrown.js';
import type { JournalledSettlement, JournalText } from './journal-lines.js';
import { LedgerStore } from './ledger-store.js';
import { SettlementJournal } from './settlement-journal.js';

/** Settlements that wait together for their commit: a fraction of what may wait in a process. */
const BATCH = 1_000;
/** A journal without its end may be still in the making, for as long. */
const FRESH_MS = 10_000;
const DAMAGED = '.damaged';

/** What became of one journal. */
export interface RecoveredJournal {
  /** Settlements that were booked now, … */
  readonly booked: number;
  /** … that stood in the books before, … */
  readonly known: number;
  /** … and that this database cannot take, because it does not know their tenants as a rule. */
  readonly refused: number;
  /** Numbers of lines that cannot be read; the last one as a rule, when a process died over it. */
  readonly damagedLines: readonly number[];
  /** What the file is called now; undefined when all of it is booked and it has been removed. */
  readonly path: string | undefined;
}

/**
 * Books what processes could not write before they ended. Each settlement is booked once, however often
 * its journal is read and by however many at once, since a request has one row in the log; a row
 * `crashed`, which a sweeper wrote meanwhile, is replaced by it.
 */
@Injectable()
export class SettlementRecovery {
  private readonly logger = new Logger(SettlementRecovery.name);

  constructor(
    private readonly database: Database,
    private readonly store: LedgerStore,
    private readonly journal: SettlementJournal,
  ) {}

  /** Books the journals of the data folder. What cannot be booked is told, and keeps nobody. */
  async recoverAll(): Promise<void> {
    for (const path of this.journal.list()) {
      try {
        this.tell(path, await this.recover(path));
      } catch (error) {
        // Another process has booked and removed it.
        if (codeOf(error) === 'ENOENT') continue;
        this.logger.error(`The settlements in ${path} are not booked: ${messageOf(error)}`);
      }
    }
    this.journal.reserve();
  }

  /**
   * Books one journal, and removes it when nothing of it is left to do. A damaged one is renamed, so
   * that it is not read again at each start.
   *
   * @throws Error when it cannot be read
   */
  async recover(path: string): Promise<RecoveredJournal> {
    const text = this.journal.read(path);
    const { settlements, damagedLines } = text;
    const tenants = await this.findTenants(settlements);
    const counts = { booked: 0, known: 0, refused: 0 };
    for (let start = 0; start < settlements.length; start += BATCH) {
      const batch = settlements.slice(start, start + BATCH);
      const fates = await Promise.all(batch.map((settlement) => this.book(settlement, tenants)));
      for (const fate of fates) counts[fate]++;
    }
    this.journal.observeRecovery(counts.booked);
    return { ...counts, damagedLines, path: putAway(path, text, counts.refused) };
  }

  private async book(
    settlement: JournalledSettlement,
    tenants: ReadonlySet<string>,
  ): Promise<'booked' | 'known' | 'refused'> {
    if (!tenants.has(settlement.log.tenantId)) return 'refused';
    try {
      return (await this.store.recover(settlement)).applied ? 'booked' : 'known';
    } catch {
      // The store has said why.
      return 'refused';
    }
  }

  /** In the wrong database a charge would find no account, and be written off. */
  private async findTenants(
    settlements: readonly JournalledSettlement[],
  ): Promise<ReadonlySet<string>> {
    const ids = new Set(settlements.map(({ log }) => log.tenantId));
    const { rows } = await this.database.query<{ id: string }>(
      'SELECT id FROM tenants WHERE id = ANY ($1::uuid[])',
      [[...ids]],
    );
    return new Set(rows.map(({ id }) => id));
  }

  private tell(path: string, { booked, known, refused, damagedLines }: RecoveredJournal): void {
    if (booked > 0) {
      this.logger.warn(`Booked ${booked} settlements of a process that could not: ${path}`);
    } else if (known > 0) this.logger.log(`All settlements of ${path} were booked already`);
    if (refused > 0) {
      this.logger.error(`${refused} settlements are of no tenant in this database: ${path} stays`);
    }
    if (damagedLines.length > 0) this.logger.error(describeDamage(path, damagedLines));
  }
}

/** For the operator: which lines of which file cannot be booked. */
export function describeDamage(path: string, lines: readonly number[]): string {
  return `Of ${path} cannot be read, and are not booked: line ${lines.join(', ')}`;
}

function putAway(path: string, text: JournalText, refused: number): string | undefined {
  const writtenAtMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  // Another process has put it away.
  if (writtenAtMs === undefined) return undefined;
  const isFresh = !text.isComplete && Date.now() - writtenAtMs < FRESH_MS;
  if (refused > 0 || isFresh) return path;
  if (text.damagedLines.length === 0) {
    rmSync(path, { force: true });
    return undefined;
  }
  if (path.endsWith(DAMAGED)) return path;
  renameSync(path, path + DAMAGED);
  return path + DAMAGED;
}
