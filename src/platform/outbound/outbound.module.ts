import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { WebhookSecretEntity } from './webhook-secret.entity.js';
import { APP_CONFIG, type AppConfig } from '../config/app-config.js';
import { Database } from '../database/database.js';
import { gatewaySecrets } from '../config/gateway-secret.js';
import { OutboundClient } from './outbound-client.js';
import { WebhookSecrets } from './webhook-secrets.js';

/** Provides the client for addresses that tenants chose. */
@Module({
  imports: [TypeOrmModule.forFeature([WebhookSecretEntity])],
  providers: [
    {
      provide: OutboundClient,
      inject: [APP_CONFIG],
      useFactory: (config: AppConfig): OutboundClient =>
        new OutboundClient({ allowPrivate: config.allowPrivateDestinations }),
    },
    {
      provide: WebhookSecrets,
      inject: [APP_CONFIG, Database],
      useFactory: (config: AppConfig, database: Database): WebhookSecrets =>
        new WebhookSecrets(() => gatewaySecrets(config), database),
    },
  ],
  exports: [OutboundClient, WebhookSecrets],
})
export class OutboundModule {}
