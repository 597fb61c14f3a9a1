import { Inject, Injectable } from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { Database } from '../../platform/database/database.js';
import { Retention } from '../../platform/time/retention.js';

const BATCH_SIZE = 1_000;

/** Deletes rows of the audit log beyond the retention. */
@Injectable()
export class AuditLogRetentionService extends Retention {
  constructor(
    private readonly database: Database,
    @Inject(APP_CONFIG) config: Pick<AppConfig, 'auditRetentionDays'>,
  ) {
    super('the audit log', () => config.auditRetentionDays);
  }

  protected sweepBefore(before: Date): Promise<number> {
    return this.inBatches(async () => {
      const { rows } = await this.database.query<{ forgotten: number }>(
        'SELECT forget_audit_log($1, $2) AS forgotten',
        [before, BATCH_SIZE],
      );
      return rows[0]?.forgotten || undefined;
    });
  }
}
