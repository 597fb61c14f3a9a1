import { Controller, Get, Header } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Caller } from '../../../core/access/caller.js';
import { CurrentCaller } from '../../../core/access/current-caller.decorator.js';
import { Customer } from '../../../core/access/customer.decorator.js';
import { WebhookSecrets } from '../../../platform/outbound/webhook-secrets.js';
import { WebhookSecretDto } from './dto/webhook-secret.dto.js';

@ApiTags('Customer')
@Customer()
@Controller('v1/customer/webhook-secret')
export class WebhookSecretController {
  constructor(private readonly secrets: WebhookSecrets) {}

  @Get()
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary: "The secret with which the tenant's webhooks are signed",
    description:
      '`X-Gateway-Signature: t=<unix seconds>,v1=<hex>`, where `v1` is the HMAC-SHA256 of ' +
      '`<t>.<body>` with this secret.',
  })
  @ApiOkResponse({ type: WebhookSecretDto })
  get(@CurrentCaller() { tenantId }: Caller): WebhookSecretDto {
    return { secret: this.secrets.secretOf(tenantId) };
  }
}
