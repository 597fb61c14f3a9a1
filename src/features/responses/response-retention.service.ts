import { Inject, Injectable } from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { Retention } from '../../platform/time/retention.js';
import { StoredResponsesRepository, type SweepPosition } from './stored-responses.repository.js';

/** Rows that one statement looks at: keeps its locks short. */
const MAX_ROWS = 1_000;

/**
 * Deletes responses that have been kept for as long as the setting says, counted from the last
 * turn of their conversation. Any number of instances may sweep at once.
 */
@Injectable()
export class ResponseRetentionService extends Retention {
  constructor(
    private readonly repository: StoredResponsesRepository,
    @Inject(APP_CONFIG) { responseRetentionDays }: Pick<AppConfig, 'responseRetentionDays'>,
  ) {
    super('responses', responseRetentionDays);
  }

  protected sweepBefore(before: Date): Promise<number> {
    let position: SweepPosition | undefined = { createdAt: '-infinity', id: '' };
    return this.inBatches(async () => {
      if (!position) return undefined;
      const { deleted, next } = await this.repository.sweep(before, position, MAX_ROWS);
      position = next;
      return deleted;
    });
  }
}
