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

/** Settlements queued at once: a fraction of what a process may queue. */
const BATCH = 1_000;
/** How long another process may still be writing a journal without an end marker. */
const FRESH_MS = 10_000;
const DAMAGED = '.damaged';

interface Counts {
  /** Settled now. */
  readonly booked: number;
  /** Settled before. */
  readonly known: number;
  /** Rejected by this database, usually because their tenants are unknown. */
  readonly refused: number;
}

/** The result of recovering one journal. */
export interface RecoveredJournal extends Counts {
  /** Numbers of unreadable lines; usually the last one, when a process died while writing it. */
  readonly damagedLines: readonly number[];
  /** The file's current path; undefined when everything was settled and the file removed. */
  readonly path: string | undefined;
}

/**
 * Settles what processes could not write before they ended. Each settlement is applied once, however
 * often and concurrently its journal is read, because a request has a single log row. It replaces the
 * `crashed` row of a sweeper.
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

  /** Recovers the data folder's journals at start. Failures are logged and do not prevent the start. */
  async recoverAtStart(): Promise<void> {
    for await (const { booked, done, problems } of this.recoverAll(BOOTSTRAP_AUTHOR)) {
      if (booked > 0) this.logger.warn(done);
      else if (done !== '') this.logger.log(done);
      for (const problem of problems) this.logger.error(problem);
    }
    this.journal.reserve();
  }

  /** Recovers the journals of the data folder one by one, including other processes'. */
  async *recoverAll(author: Author): AsyncGenerator<RecoveryReport> {
    for (const path of this.journal.list()) {
      try {
        yield reportOf(path, await this.recover(path, author));
      } catch (error) {
        // Another process has recovered and removed it.
        if (codeOf(error) === 'ENOENT') continue;
        const problem = `settlements of ${path} not booked: ${messageOf(error)}`;
        yield { booked: 0, done: '', problems: [problem] };
      }
    }
  }

  /**
   * Recovers one journal, and removes it when nothing is left to do. Renames a damaged one, so that it
   * is not read at every start.
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
      const results = await Promise.all(batch.map((settlement) => this.book(settlement, tenants)));
      for (const result of results) counts[result]++;
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
      // Logged by the store.
      return 'refused';
    }
  }

  /** Without this check, a charge in the wrong database would find no account and be written off. */
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
   * Records the recovery before the file is removed. If the process dies midway, the file is read again.
   * A file that stays because of unknown tenants is recorded once.
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

/** The result of recovering a journal, as texts for the operator. */
export interface RecoveryReport {
  readonly booked: number;
  /** Empty when nothing was done. */
  readonly done: string;
  /** Settlements that need attention, and why. */
  readonly problems: readonly string[];
}

export function reportOf(file: string, recovered: RecoveredJournal): RecoveryReport {
  const { booked, known, refused, damagedLines, path } = recovered;
  const problems: string[] = [];
  if (refused > 0) problems.push(`${refused} settlements belong to no tenant of this database`);
  if (damagedLines.length > 0) {
    const lines = damagedLines.join(', ');
    problems.push(`${file} has unreadable lines, which are not booked: ${lines}`);
  }
  const kept = path === undefined ? 'file removed' : `file kept: ${path}`;
  const done = `Booked ${booked} settlements of ${file} (${known} booked before); ${kept}`;
  return { booked, done, problems };
}

function putAway(path: string, text: JournalText, refused: number): string | undefined {
  const writtenAtMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  // Another process has removed it.
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
