import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { CredentialRepository } from './credential.repository.js';
import { messageOf } from '../../platform/errors/thrown.js';

/** Interval of writes; `last_used_at` need not be precise. */
const WRITE_EVERY_MS = 5_000;

/** Records in the background when credentials were last used. A failed write loses a date. */
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

  /** Writes the recorded uses. */
  async write(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.uses.size === 0) return;
    const uses = this.uses;
    this.uses = new Map();
    try {
      await this.repository.recordUses(uses);
    } catch (error) {
      this.logger.error(`credential uses not written: ${messageOf(error)}`);
    }
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.write();
  }
}
