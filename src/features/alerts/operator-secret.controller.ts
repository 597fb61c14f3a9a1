import { Controller, Header, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { DateTimeField, StringField } from '../../platform/http/field.decorators.js';
import { CurrentAuthor, type Author } from '../../core/access/author.js';
import { Operator } from '../../core/access/operator.decorator.js';
import { AuditLog } from '../../core/audit/audit-log.js';
import { Database } from '../../platform/database/database.js';
import { OPERATOR_ID, WebhookSecrets } from '../../platform/outbound/webhook-secrets.js';

/** Response to a rotation. */
class OperatorWebhookSecretDto {
  @StringField({
    description: 'The entire string is the HMAC-SHA256 key for `X-Gateway-Signature`.',
    example: 'whsec_mb0ck3VhV9pW8Jr0dV7l2n4Xq6sT1uYzA5bC8dE3fGh',
  })
  secret!: string;

  @DateTimeField({ description: 'Until then, alerts are also signed with the previous secret.' })
  previous_until!: string;
}

/** Rotates the secret of operator alerts. It is shown only once, since auditors can read as well. */
@ApiTags('Admin')
@Operator()
@Controller('v1/admin/webhook-secret')
export class OperatorSecretController {
  constructor(
    private readonly secrets: WebhookSecrets,
    private readonly database: Database,
    private readonly audit: AuditLog,
  ) {}

  @Post('rotate')
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  @ApiOperation({
    operationId: 'rotateOperatorWebhookSecret',
    summary: 'Rotate the signing secret of operator alerts',
    description:
      'Returned only once. For a day, alerts are signed with both the new and the previous secret.',
  })
  @ApiOkResponse({ type: OperatorWebhookSecretDto })
  rotate(@CurrentAuthor() author: Author): Promise<OperatorWebhookSecretDto> {
    return this.database.transaction(async (transaction) => {
      const { secret, previousUntil } = await this.secrets.rotate(OPERATOR_ID, transaction);
      const previous_until = previousUntil.toISOString();
      await this.audit.record(transaction, author, {
        tenantId: null,
        action: 'webhook_secret.rotate',
        target: { type: 'webhook_secret', id: 'operator' },
        before: null,
        after: { previous_until },
      });
      return { secret, previous_until };
    });
  }
}
