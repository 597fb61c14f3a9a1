import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { CredentialRepository } from './credential.repository.js';
import { messageOf } from '../../platform/errors/thrown.js';

/** How long uses are gathered before they are written: `last_used_at` is a date, not a trace. */
const WRITE_EVERY_MS = 5_000;

/** Writes down when credentials were used last. Nobody waits for it, and a failure costs a date. */
@Injectable()
export class CredentialUseLog implements BeforeApplicationShutdown {
  private readonly logger = new Logger(CredentialUseLog.name);
  private uses = new Map<string, Date>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly repository: CredentialRepository) {}

  record(credentialId: string): void {
    this.uses.set(credentialId, new Date());
    this.timer ??= setTimeout(() => void this.write(), WRITE_EVERY_MS).unref();
  }

  /** Writes what has been recorded. */
  async write(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.uses.size === 0) return;
    const uses = this.uses;
    this.uses = new Map();
    try {
      await this.repository.recordUses(uses);
    } catch (error) {
      this.logger.error(`Uses of credentials could not be written: ${messageOf(error)}`);
    }
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.write();
  }
}
