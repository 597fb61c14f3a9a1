import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import type { Author } from '../access/author.js';
import { AuditLog } from '../audit/audit-log.js';
import { ResourceRepository, type Values } from '../resources/resource.repository.js';
import { APP_CONFIG } from '../../platform/config/app-config.js';
import { gatewaySecrets } from '../../platform/config/gateway-secret.js';
import { DecryptionError, SecretBox } from '../../platform/crypto/secret-box.js';
import { Database, type SqlExecutor } from '../../platform/database/database.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { previewUrl } from './alert.js';
import { AlertRuleEntity } from './alert-rule.entity.js';

/** Stores alert rules, with encrypted URLs. */
@Injectable()
export class AlertRuleRepository extends ResourceRepository<AlertRuleEntity> {
  protected readonly kind = { noun: 'alert', plural: 'alerts', type: 'alert' };
  private readonly box: SecretBox;

  constructor(
    @InjectRepository(AlertRuleEntity) rules: Repository<AlertRuleEntity>,
    database: Database,
    audit: AuditLog,
    @Inject(APP_CONFIG) config: Parameters<typeof gatewaySecrets>[0],
  ) {
    super(rules, database, audit);
    this.box = new SecretBox(() => gatewaySecrets(config), 'alert-url');
  }

  /** Returns the columns that store a rule's URL. */
  encryptUrl(url: string, ruleId: string): Pick<AlertRuleEntity, 'sealedUrl' | 'urlPreview'> {
    return { sealedUrl: this.box.encrypt(url, ruleId), urlPreview: previewUrl(url) };
  }

  /** Changing the condition or disabling the rule closes its open events without a notification. */
  override async update(
    transaction: SqlExecutor,
    author: Author,
    before: AlertRuleEntity,
    values: Values<AlertRuleEntity>,
  ): Promise<AlertRuleEntity> {
    const { condition, isEnabled } = values;
    if (condition !== undefined || isEnabled === false) await forgetStates(transaction, before.id);
    return super.update(transaction, author, before, values);
  }

  /** Drops pending deliveries and keeps delivered events. */
  override async remove(
    transaction: SqlExecutor,
    author: Author,
    before: AlertRuleEntity,
  ): Promise<void> {
    await super.remove(transaction, author, before);
    await forgetStates(transaction, before.id);
    await transaction.query(
      `UPDATE alert_events SET state = 'dropped', last_error = 'the rule was deleted', finished_at = now()
        WHERE rule_id = $1 AND state = 'pending'`,
      [before.id],
    );
  }

  /** Undefined when it was encrypted with another `GATEWAY_SECRET`. */
  decrypt(encryptedUrl: Buffer, ruleId: string): string | undefined {
    try {
      return this.box.decrypt(encryptedUrl, ruleId);
    } catch (error) {
      if (error instanceof DecryptionError) return undefined;
      throw error;
    }
  }

  protected toAudited(rule: AlertRuleEntity, before?: AlertRuleEntity): JsonObject {
    const { name, isEnabled, kind, condition, format, urlPreview } = rule;
    // Two URLs may have the same preview.
    const isReplaced = before !== undefined && !before.sealedUrl.equals(rule.sealedUrl);
    const replaced = isReplaced && { url_replaced: true };
    return {
      name,
      enabled: isEnabled,
      kind,
      condition,
      format,
      url_preview: urlPreview,
      ...replaced,
    };
  }
}

async function forgetStates(transaction: SqlExecutor, ruleId: string): Promise<void> {
  await transaction.query(
    'UPDATE alert_events SET is_open = false WHERE rule_id = $1 AND is_open',
    [ruleId],
  );
}
