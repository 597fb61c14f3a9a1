import { Injectable } from '@nestjs/common';
import { OutboundClient, type OutboundOutcome } from '../../platform/outbound/outbound-client.js';
import {
  OPERATOR_ID,
  SECRET_UNREADABLE,
  WebhookSecrets,
} from '../../platform/outbound/webhook-secrets.js';
import type { AlertFormat, AlertMessage, AlertOwner } from './alert.js';
import { renderSlack, renderWebhook } from './render-alert.js';

const TIMEOUT_MS = 10_000;

const URL_UNREADABLE: OutboundOutcome = {
  ok: false,
  retryable: false,
  status: undefined,
  reason: 'could not be called: its URL cannot be decrypted. Set the URL again',
};

/** Posts a message to a rule's receiver, once. */
@Injectable()
export class AlertSender {
  constructor(
    private readonly client: OutboundClient,
    private readonly secrets: WebhookSecrets,
  ) {}

  /**
   * Never throws for a fault of the receiver.
   *
   * @param url undefined when it cannot be decrypted
   */
  async post(
    message: AlertMessage,
    { owner, format, url }: { owner: AlertOwner; format: AlertFormat; url: string | undefined },
  ): Promise<OutboundOutcome> {
    if (url === undefined) return URL_UNREADABLE;
    if (format === 'slack') {
      const headers = { 'content-type': 'application/json' };
      return this.client.post({ url, body: renderSlack(message), timeoutMs: TIMEOUT_MS, headers });
    }
    const body = renderWebhook(message);
    const headers = await this.secrets.headersFor(owner ?? OPERATOR_ID, message.id, body);
    if (!headers) return SECRET_UNREADABLE;
    return this.client.post({ url, body, timeoutMs: TIMEOUT_MS, headers });
  }
}
