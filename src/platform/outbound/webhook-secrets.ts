import { createHmac, hkdfSync } from 'node:crypto';
import { Injectable } from '@nestjs/common';

const SECRET_BYTES = 32;

/**
 * The secret with which webhooks of a tenant are signed. It is derived from the service's own, so
 * that there is none to store, and another tenant's says nothing about it.
 */
@Injectable()
export class WebhookSecrets {
  constructor(private readonly gatewaySecret: string) {}

  /** `whsec_` and 43 characters; the whole text is the key. */
  secretOf(tenantId: string): string {
    const purpose = `model-gateway:webhook-signature:${tenantId}`;
    const secret = hkdfSync('sha256', this.gatewaySecret, '', purpose, SECRET_BYTES);
    return `whsec_${Buffer.from(secret).toString('base64url')}`;
  }

  /** The value of `X-Gateway-Signature` for a body that is sent now. */
  sign(tenantId: string, body: string, now = Date.now()): string {
    const time = Math.floor(now / 1000);
    const signature = createHmac('sha256', this.secretOf(tenantId))
      .update(`${time}.${body}`)
      .digest('hex');
    return `t=${time},v1=${signature}`;
  }
}
