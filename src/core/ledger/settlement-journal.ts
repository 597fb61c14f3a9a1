import {
  closeSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { Inject, Injectable } from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { codeOf } from '../../platform/errors/thrown.js';
import { GatewayMetrics } from '../../platform/metrics/gateway-metrics.js';
import {
  readJournalText,
  toJournalEnd,
  toJournalLine,
  type JournalledSettlement,
  type JournalText,
} from './journal-lines.js';
import type { SettlementRecord } from './ledger-operations.js';

/** Limit of all journals together: two shutdowns with the maximum of pending settlements. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Room for some 6,000 settlements. A full disk stops the database on it, and would stop the journal. */
const RESERVE_BYTES = 4 * 1024 * 1024;
const RESERVE = 'reserve';
/** Error codes of a full disk. */
const FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);
const SUFFIX = '.jsonl';

/**
 * Stores settlements that could not be committed before the process ended, as files in the data folder.
 * Each file is written and synced at once, and never changed. Everything here is synchronous, since it
 * is the last thing a process does.
 */
@Injectable()
export class SettlementJournal {
  /** Shared by all processes with this data folder. */
  readonly folder: string;
  private files = 0;

  constructor(
    @Inject(APP_CONFIG) private readonly config: Pick<AppConfig, 'dataDirectory'>,
    @Inject(GatewayMetrics) private readonly metrics: Pick<GatewayMetrics, 'observeSettlements'>,
  ) {
    this.folder = join(config.dataDirectory, 'settlements');
  }

  /** Reserves disk space that a journal uses when the disk is full. Best effort. */
  reserve(): void {
    try {
      this.makeFolder();
      const file = openSync(join(this.folder, RESERVE), 'ax', 0o600);
      try {
        // Not zeros, which some file systems store as holes.
        writeFully(file, Buffer.alloc(RESERVE_BYTES, 'reserved '));
      } finally {
        closeSync(file);
      }
    } catch (error) {
      // A partial reserve is useless.
      if (codeOf(error) !== 'EEXIST') rmSync(join(this.folder, RESERVE), { force: true });
    }
  }

  /** Counts a dropped settlement as lost, unless its work will be settled later. */
  observeLoss(entry: { readonly record?: SettlementRecord }): void {
    if (!entry.record?.required) this.metrics.observeSettlements('lost', 1);
  }

  observeRecovery(count: number): void {
    this.metrics.observeSettlements('recovered', count);
  }

  /**
   * Writes settlements and reports their location, or their loss, to the operator.
   *
   * @param ownerId identifies the process, so that no two write the same file
   */
  write(ownerId: string, settlements: readonly JournalledSettlement[]): void {
    let size = this.size();
    const lines: string[] = [];
    for (const settlement of settlements) {
      const line = lineOf(settlement);
      size += line.length;
      if (line !== '' && size <= MAX_BYTES) lines.push(line);
    }
    const path = join(this.folder, `${ownerId}-${this.files++}${SUFFIX}`);
    const text = Buffer.from(lines.join('') + toJournalEnd(lines.length));
    const written = lines.length > 0 && this.store(path, text) ? lines.length : 0;
    const lost = settlements.length - written;
    this.metrics.observeSettlements('journalled', written);
    this.metrics.observeSettlements('lost', lost);
    // Directly to stderr, since the log may be closed already.
    if (written > 0) process.stderr.write(describeJournal(path, written));
    if (lost > 0) {
      const loss = `neither the database nor ${this.folder} accepted them`;
      process.stderr.write(`${lost} settlements lost: ${loss}\n`);
    }
  }

  /** Returns the paths of all journals in the data folder, including other processes'. */
  list(): string[] {
    try {
      const names = readdirSync(this.folder).filter((name) => name.endsWith(SUFFIX));
      return names.sort().map((name) => join(this.folder, name));
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return [];
      throw error;
    }
  }

  /** @throws the system's error when the file is missing or unreadable */
  read(path: string): JournalText {
    return readJournalText(readFileSync(path, 'utf8'));
  }

  private makeFolder(): void {
    // Other processes must be able to traverse the data folder.
    mkdirSync(this.config.dataDirectory, { recursive: true });
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
  }

  /** Returns the size of all journals in bytes. */
  private size(): number {
    try {
      const sizes = this.list().map((path) => statSync(path, { throwIfNoEntry: false })?.size ?? 0);
      return sizes.reduce((sum, size) => sum + size, 0);
    } catch {
      return 0;
    }
  }

  private store(path: string, text: Buffer): boolean {
    try {
      this.makeFolder();
      writeToDisk(path, 'ax', text);
    } catch (error) {
      return FULL.has(codeOf(error) ?? '') && this.storeInReserve(path, text);
    }
    syncFolder(this.folder);
    return true;
  }

  /** Overwrites the reserve, which needs no free space. */
  private storeInReserve(path: string, text: Buffer): boolean {
    if (text.length > RESERVE_BYTES) return false;
    try {
      rmSync(path, { force: true });
      renameSync(join(this.folder, RESERVE), path);
      writeToDisk(path, 'r+', text);
    } catch {
      return false;
    }
    syncFolder(this.folder);
    return true;
  }
}

function describeJournal(path: string, count: number): string {
  return (
    `${count} settlements could not be written to the database and are in ${path}. They are booked at ` +
    `the next start, or by \`npm run gateway -- settle ${path}\`\n`
  );
}

/** Returns an empty string for a settlement that cannot be encoded. */
function lineOf(settlement: JournalledSettlement): string {
  try {
    return toJournalLine(settlement);
  } catch {
    return '';
  }
}

function writeToDisk(path: string, flags: 'ax' | 'r+', text: Buffer): void {
  const file = openSync(path, flags, 0o600);
  try {
    writeFully(file, text);
    ftruncateSync(file, text.length);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function writeFully(file: number, bytes: Buffer): void {
  for (let offset = 0; offset < bytes.length;) {
    offset += writeSync(file, bytes, offset);
  }
}

/** Syncs the folder, so that the file's name is durable too. Not every system supports it. */
function syncFolder(folder: string): void {
  try {
    const file = openSync(folder, 'r');
    try {
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch {
    // The file itself is synced.
  }
}
