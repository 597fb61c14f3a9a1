import {
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  openSync,
  renameSync,
  writeSync,
} from 'node:fs';
import type { PostgresAccount } from './postgres-account.js';

/** Each of the two files: the current one and the one before it. */
const LOG_FILE_LIMIT_BYTES = 1024 * 1024;

/** A log file that never grows over a limit: when full it becomes `<path>.1` and a new one starts. */
export class BoundedLogFile {
  private descriptor: number | undefined;
  private sizeBytes = 0;
  private isClosed = false;

  constructor(
    readonly path: string,
    private readonly owner?: PostgresAccount,
    private readonly limitBytes = LOG_FILE_LIMIT_BYTES,
  ) {}

  /** Never throws: a full disk must not take the service down because of a log line. */
  write(text: Buffer | string): void {
    if (this.isClosed) {
      return;
    }
    const chunk = Buffer.from(text).subarray(0, this.limitBytes);
    try {
      let descriptor = this.descriptor ?? this.open();
      if (this.sizeBytes + chunk.length > this.limitBytes) {
        this.closeFile();
        renameSync(this.path, `${this.path}.1`);
        descriptor = this.open();
      }
      writeSync(descriptor, chunk);
      this.sizeBytes += chunk.length;
    } catch {
      this.closeFile();
    }
  }

  /** What is written from now on is dropped. */
  close(): void {
    this.isClosed = true;
    this.closeFile();
  }

  private closeFile(): void {
    if (this.descriptor !== undefined) {
      closeSync(this.descriptor);
      this.descriptor = undefined;
    }
  }

  private open(): number {
    const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW } = constants;
    // Root may be writing into a folder of another user: a link planted there is not followed.
    const flags = O_APPEND | O_CREAT | O_WRONLY | (O_NOFOLLOW ?? 0);
    const descriptor = openSync(this.path, flags, 0o600);
    if (this.owner !== undefined) {
      fchownSync(descriptor, this.owner.uid, this.owner.gid);
    }
    this.sizeBytes = fstatSync(descriptor).size;
    this.descriptor = descriptor;
    return descriptor;
  }
}
