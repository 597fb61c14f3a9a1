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

/** All journals together: what two stops with the most settlements that can wait come to. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Some 6,000 settlements. A disk that is full stops the database on it, and would the journal too. */
const RESERVE_BYTES = 4 * 1024 * 1024;
const RESERVE = 'reserve';
/** What a system says that has no room left. */
const FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);
const SUFFIX = '.jsonl';

/**
 * Settlements that could not be committed before the process had to end, as files in the data folder.
 * A file is written in one go, to the disk, and never changed. Everything here is synchronous: it is
 * the last thing that a process does.
 */
@Injectable()
export class SettlementJournal {
  /** Of all processes that share the data folder. */
  readonly folder: string;
  private files = 0;

  constructor(
    @Inject(APP_CONFIG) private readonly config: Pick<AppConfig, 'dataDirectory'>,
    @Inject(GatewayMetrics) private readonly metrics: Pick<GatewayMetrics, 'observeSettlements'>,
  ) {
    this.folder = join(config.dataDirectory, 'settlements');
  }

  /** Takes up some room on the disk, which a journal gets when there is no other. Best effort. */
  reserve(): void {
    try {
      this.makeFolder();
      const file = openSync(join(this.folder, RESERVE), 'ax', 0o600);
      try {
        // Not zeros, which some file systems do not store.
        writeFully(file, Buffer.alloc(RESERVE_BYTES, 'reserved '));
      } finally {
        closeSync(file);
      }
    } catch (error) {
      // Less than that is of no use to anybody.
      if (codeOf(error) !== 'EEXIST') rmSync(join(this.folder, RESERVE), { force: true });
    }
  }

  /** A settlement that is given up counts as lost, unless its work goes on and is ended once more. */
  observeLoss(entry: { readonly record?: SettlementRecord }): void {
    if (!entry.record?.required) this.metrics.observeSettlements('lost', 1);
  }

  observeRecovery(count: number): void {
    this.metrics.observeSettlements('recovered', count);
  }

  /**
   * Writes settlements down and tells the operator where, or that they are lost.
   *
   * @param ownerId names the process, so that no two write to the same file
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
    // Past the log, of which nobody may hear any more.
    if (written > 0) process.stderr.write(describeJournal(path, written));
    if (lost > 0) {
      const loss = `neither the database nor ${this.folder} took them`;
      process.stderr.write(`${lost} settlements are lost: ${loss}\n`);
    }
  }

  /** Paths of the journals in the data folder, those of other processes among them. */
  list(): string[] {
    try {
      const names = readdirSync(this.folder).filter((name) => name.endsWith(SUFFIX));
      return names.sort().map((name) => join(this.folder, name));
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return [];
      throw error;
    }
  }

  /** @throws the system's error when there is no such file, or it may not be read */
  read(path: string): JournalText {
    return readJournalText(readFileSync(path, 'utf8'));
  }

  private makeFolder(): void {
    // Others have to pass through the data folder.
    mkdirSync(this.config.dataDirectory, { recursive: true });
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
  }

  /** Bytes of all journals. */
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

  /** Writes over the room that was taken up, so that a full disk need give none. */
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
    `${count} settlements could not be written to the database and are in ${path}: they are booked ` +
    `at the next start, or by \`npm run gateway -- settle ${path}\`\n`
  );
}

/** Nothing for a settlement that cannot be written down. */
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

/** The file's name has to reach the disk as well. Not every system lets a folder be opened for that. */
function syncFolder(folder: string): void {
  try {
    const file = openSync(folder, 'r');
    try {
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch {
    // The file itself is there.
  }
}
