import { Controller, Header, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { DateTimeField, StringField } from '../../platform/http/field.decorators.js';
import { CurrentAuthor, type Author } from '../../core/access/author.js';
import { Operator } from '../../core/access/operator.decorator.js';
import { AuditLog } from '../../core/audit/audit-log.js';
import { Database } from '../../platform/database/database.js';
import { OPERATOR_ID, WebhookSecrets } from '../../platform/outbound/webhook-secrets.js';

/** The answer to a rotation. */
class OperatorWebhookSecretDto {
  @StringField({
    description: 'The key of the HMAC-SHA256 in `X-Gateway-Signature`, as a whole.',
    example: 'whsec_mb0ck3VhV9pW8Jr0dV7l2n4Xq6sT1uYzA5bC8dE3fGh',
  })
  secret!: string;

  @DateTimeField({ description: 'Until then alerts are signed with the secret of before as well.' })
  previous_until!: string;
}

/** The secret of what operators are told. It is shown when it is made and never again, as auditors read too. */
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
    summary: "Make the secret with which the operator's alerts are signed",
    description:
      'It is shown only here. For a day they are signed with the new one and with the one before.',
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
