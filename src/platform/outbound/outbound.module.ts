import { Module } from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../config/app-config.js';
import { gatewaySecret } from '../config/gateway-secret.js';
import { OutboundClient } from './outbound-client.js';
import { WebhookSecrets } from './webhook-secrets.js';

/** Calls to addresses that tenants chose. */
@Module({
  providers: [
    {
      provide: OutboundClient,
      inject: [APP_CONFIG],
      useFactory: (config: AppConfig): OutboundClient =>
        new OutboundClient({ allowPrivate: config.allowPrivateDestinations }),
    },
    {
      provide: WebhookSecrets,
      inject: [APP_CONFIG],
      useFactory: (config: AppConfig): WebhookSecrets => new WebhookSecrets(gatewaySecret(config)),
    },
  ],
  exports: [OutboundClient, WebhookSecrets],
})
export class OutboundModule {}
