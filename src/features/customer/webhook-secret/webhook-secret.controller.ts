import { Controller, Get, Header, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Caller } from '../../../core/access/caller.js';
import { DateTimeField, StringField } from '../../../platform/http/field.decorators.js';
import { Authenticated } from '../../../core/access/authenticated.decorator.js';
import { CurrentAuthor, type Author } from '../../../core/access/author.js';
import { AuditLog } from '../../../core/audit/audit-log.js';
import { Database } from '../../../platform/database/database.js';
import { CurrentCaller } from '../../../core/access/gateway-request.js';
import { ApiErrorResponse } from '../../../platform/errors/error-response.js';
import { ConflictError } from '../../../platform/errors/gateway-errors.js';
import { WebhookSecrets } from '../../../platform/outbound/webhook-secrets.js';
import { Members } from '../../../core/access/roles.js';

class WebhookSecretDto {
  @StringField({
    description: 'Key of the HMAC-SHA256 in `X-Gateway-Signature`.',
    example: 'whsec_mb0ck3VhV9pW8Jr0dV7l2n4Xq6sT1uYzA5bC8dE3fGh',
  })
  secret!: string;
}

/** The response to a rotation. */
class RotatedWebhookSecretDto extends WebhookSecretDto {
  @DateTimeField({ description: 'Until then webhooks are also signed with the previous secret.' })
  previous_until!: string;
}

const FORBIDDEN = 'Secrets require a management key (`sk-mgmt-…`).';

@ApiTags('Customer')
@Authenticated('management')
@Members('develop')
@Controller('v1/customer/webhook-secret')
export class WebhookSecretController {
  constructor(
    private readonly secrets: WebhookSecrets,
    private readonly database: Database,
    private readonly audit: AuditLog,
  ) {}

  @Get()
  @Header('cache-control', 'no-store')
  @ApiOperation({
    operationId: 'getWebhookSecret',
    summary: "Get the tenant's webhook signing secret",
    description:
      '`X-Gateway-Signature: t=<unix seconds>,v1=<hex>`, where `v1` is the HMAC-SHA256 of ' +
      '`<t>.<body>` with this secret. For a day after a rotation there are two `v1`; one matches.',
  })
  @ApiOkResponse({ type: WebhookSecretDto })
  @ApiErrorResponse(403, FORBIDDEN)
  @ApiErrorResponse(409, 'The secret cannot be decrypted. Rotate it.')
  async get(@CurrentCaller() { tenantId }: Caller): Promise<WebhookSecretDto> {
    const secret = await this.secrets.secretOf(tenantId);
    if (secret !== undefined) return { secret };
    throw new ConflictError(
      'webhook-secret',
      'The webhook secret was encrypted with a GATEWAY_SECRET that is no longer configured. Rotate it.',
    );
  }

  @Post('rotate')
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  @ApiOperation({
    operationId: 'rotateWebhookSecret',
    summary: 'Rotate the webhook signing secret',
    description:
      'For a day webhooks are signed with both the new and the previous secret. A second rotation ' +
      'within the day drops the older secret at once.',
  })
  @ApiOkResponse({ type: RotatedWebhookSecretDto })
  @ApiErrorResponse(403, `Changes to secrets require a management key (\`sk-mgmt-…\`).`)
  async rotate(
    @CurrentCaller() { tenantId }: Caller,
    @CurrentAuthor() author: Author,
  ): Promise<RotatedWebhookSecretDto> {
    const { secret, previousUntil } = await this.database.transaction(async (client) => {
      const rotated = await this.secrets.rotate(tenantId, client);
      await this.audit.record(client, author, {
        tenantId,
        action: 'webhook_secret.rotate',
        target: { type: 'webhook_secret', id: tenantId },
        before: null,
        after: { previous_until: rotated.previousUntil },
      });
      return rotated;
    });
    return { secret, previous_until: previousUntil.toISOString() };
  }
}
