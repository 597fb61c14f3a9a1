import { Injectable } from '@nestjs/common';
import type { Recovery } from '../../canonical/routing-preferences.js';
import { Database, type SqlExecutor } from '../../platform/database/database.js';
import { isUuid } from '../../platform/database/stored-text.js';
import { NotFoundError } from '../../platform/errors/gateway-errors.js';
import { AuditLog } from '../audit/audit-log.js';
import type { Author } from './author.js';
import type { TenantSettingsDto, UpdateTenantSettingsDto } from './tenant-settings.dto.js';

/** What holds for all of a tenant's requests that do not say otherwise; a change does so within a second. */
@Injectable()
export class TenantSettings {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditLog,
  ) {}

  /** @throws NotFoundError (`tenant_id`), also for a deleted one */
  async of(tenantId: string): Promise<TenantSettingsDto> {
    return { object: 'settings', recovery: await this.read(this.database, tenantId) };
  }

  /** @throws NotFoundError (`tenant_id`), also for a deleted one */
  update(
    author: Author,
    tenantId: string,
    { recovery }: UpdateTenantSettingsDto,
  ): Promise<TenantSettingsDto> {
    return this.database.transaction(async (client) => {
      const before = await this.read(client, tenantId, 'FOR NO KEY UPDATE');
      if (before !== recovery) {
        const values = [tenantId, recovery];
        await client.query('UPDATE tenants SET recovery = $2 WHERE id = $1', values);
        await this.audit.record(client, author, {
          tenantId,
          action: 'tenant_settings.update',
          target: { type: 'tenant', id: tenantId },
          before: { recovery: before },
          after: { recovery },
        });
      }
      return { object: 'settings', recovery };
    });
  }

  private async read(
    executor: SqlExecutor,
    tenantId: string,
    lock: 'FOR NO KEY UPDATE' | '' = '',
  ): Promise<Recovery> {
    const { rows } = isUuid(tenantId)
      ? await executor.query<{ recovery: Recovery | null }>(
          `SELECT recovery FROM tenants WHERE id = $1 AND deleted_at IS NULL ${lock}`,
          [tenantId],
        )
      : { rows: [] };
    const [row] = rows;
    if (!row) throw new NotFoundError('tenant_id', 'There is no tenant with this id.');
    return row.recovery ?? 'off';
  }
}
