import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, Repository, type FindOneOptions } from 'typeorm';
import type { Recovery } from '../../canonical/routing-preferences.js';
import { Database, type SqlExecutor } from '../../platform/database/database.js';
import { isUuid } from '../../platform/database/stored-text.js';
import { NotFoundError } from '../../platform/errors/gateway-errors.js';
import { AuditLog } from '../audit/audit-log.js';
import type { Author } from '../access/author.js';
import { TenantEntity } from './tenant.entity.js';
import type { TenantSettingsDto, UpdateTenantSettingsDto } from './tenant-settings.dto.js';

/** Reads and changes the defaults of a tenant's requests. Changes apply within a second. */
@Injectable()
export class TenantSettings {
  constructor(
    @InjectRepository(TenantEntity) private readonly tenants: Repository<TenantEntity>,
    private readonly database: Database,
    private readonly audit: AuditLog,
  ) {}

  /** @throws NotFoundError (`tenant_id`) for an unknown or deleted tenant */
  async of(tenantId: string): Promise<TenantSettingsDto> {
    return { object: 'settings', recovery: await this.read(this.database, tenantId) };
  }

  /** @throws NotFoundError (`tenant_id`) for an unknown or deleted tenant */
  update(
    author: Author,
    tenantId: string,
    { recovery }: UpdateTenantSettingsDto,
  ): Promise<TenantSettingsDto> {
    return this.database.transaction(async (client) => {
      const before = await this.read(client, tenantId, { mode: 'for_no_key_update' });
      if (before !== recovery) {
        await this.database.within(client, this.tenants).update({ id: tenantId }, { recovery });
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
    lock?: FindOneOptions['lock'],
  ): Promise<Recovery> {
    const where = { id: tenantId, deletedAt: IsNull() };
    const tenants = this.database.within(executor, this.tenants);
    const tenant = isUuid(tenantId) && (await tenants.findOne({ where, ...(lock && { lock }) }));
    if (!tenant) throw new NotFoundError('tenant_id', 'No tenant has this id.');
    return tenant.recovery ?? 'off';
  }
}
