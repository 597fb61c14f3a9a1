import { renameSync, rmSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { Injectable, Logger } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { codeOf, messageOf } from '../../platform/errors/thrown.js';
import { BOOTSTRAP_AUTHOR, type Author } from '../access/author.js';
import { AuditLog } from '../audit/audit-log.js';
import type { JournalledSettlement, JournalText } from './journal-lines.js';
import { LedgerStore } from './ledger-store.js';
import { SettlementJournal } from './settlement-journal.js';

/** Settlements that wait together for their commit: a fraction of what may wait in a process. */
const BATCH = 1_000;
/** A journal without its end may be still in the making, for as long. */
const FRESH_MS = 10_000;
const DAMAGED = '.damaged';

interface Counts {
  /** Settlements that were booked now, … */
  readonly booked: number;
  /** … that stood in the books before, … */
  readonly known: number;
  /** … and that this database cannot take, because it does not know their tenants as a rule. */
  readonly refused: number;
}

/** What became of one journal. */
export interface RecoveredJournal extends Counts {
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
    private readonly audit: AuditLog,
  ) {}

  /** Books the journals of the data folder, at a start. What cannot be booked is told, and keeps nobody. */
  async recoverAtStart(): Promise<void> {
    for await (const { booked, done, problems } of this.recoverAll(BOOTSTRAP_AUTHOR)) {
      if (booked > 0) this.logger.warn(done);
      else if (done !== '') this.logger.log(done);
      for (const problem of problems) this.logger.error(problem);
    }
    this.journal.reserve();
  }

  /** Books the journals of the data folder, one after the other, those of other processes among them. */
  async *recoverAll(author: Author): AsyncGenerator<RecoveryReport> {
    for (const path of this.journal.list()) {
      try {
        yield reportOf(path, await this.recover(path, author));
      } catch (error) {
        // Another process has booked and removed it.
        if (codeOf(error) === 'ENOENT') continue;
        const problem = `The settlements in ${path} are not booked: ${messageOf(error)}`;
        yield { booked: 0, done: '', problems: [problem] };
      }
    }
  }

  /**
   * Books one journal, and removes it when nothing of it is left to do. A damaged one is renamed, so
   * that it is not read again at each start.
   *
   * @throws Error when it cannot be read
   */
  async recover(path: string, author: Author): Promise<RecoveredJournal> {
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
    await this.record(author, path, counts);
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

  /**
   * Before the file goes: it is booked in many transactions, of which the process may not live to see the
   * last, and is read again then. A file that stays because of other tenants is told of once.
   */
  private async record(author: Author, path: string, counts: Counts): Promise<void> {
    if (counts.booked === 0 && (counts.known === 0 || counts.refused > 0)) return;
    await this.audit.record(this.database, author, {
      tenantId: null,
      action: 'settlements.recover',
      target: { type: 'settlement_journal', id: basename(path) },
      before: null,
      after: { ...counts },
    });
  }
}

/** What became of a journal, for the operator. */
export interface RecoveryReport {
  readonly booked: number;
  /** Empty: nothing was done. */
  readonly done: string;
  /** What is left to do, and why. */
  readonly problems: readonly string[];
}

export function reportOf(file: string, recovered: RecoveredJournal): RecoveryReport {
  const { booked, known, refused, damagedLines, path } = recovered;
  const problems: string[] = [];
  if (refused > 0) problems.push(`${refused} settlements are of no tenant in this database`);
  if (damagedLines.length > 0) {
    const lines = damagedLines.join(', ');
    problems.push(`Of ${file} cannot be read, and are not booked: line ${lines}`);
  }
  const fate = path === undefined ? 'the file is removed' : `the file is kept: ${path}`;
  const done = `Booked ${booked} settlements of ${file}, ${known} were booked before; ${fate}`;
  return { booked, done, problems };
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
