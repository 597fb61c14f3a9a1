import { Module, type DynamicModule } from '@nestjs/common';
import { AccessModule } from './access/access.module.js';
import { ArtifactsModule } from './artifacts/artifacts.module.js';
import { AudioModule } from './audio/audio.module.js';
import { BootstrapModule } from './bootstrap/bootstrap.module.js';
import { BroadcastModule } from './broadcast/broadcast.module.js';
import { ChatModule } from './chat/chat.module.js';
import type { AppConfig } from './common/config/app-config.js';
import { ConfigModule } from './common/config/config.module.js';
import { DatabaseModule } from './common/database/database.module.js';
import { CreditsModule } from './credits/credits.module.js';
import { CustomerModule } from './customer/customer.module.js';
import { EmbeddingsModule } from './embeddings/embeddings.module.js';
import { JobsModule } from './jobs/jobs.module.js';
import { MessagesModule } from './messages/messages.module.js';
import { MetricsModule } from './metrics/metrics.module.js';
import { OperationsModule } from './operations/operations.module.js';
import { ProvidersModule } from './providers/providers.module.js';
import { QueueModule } from './queue/queue.module.js';
import { WebhooksModule } from './outbound/webhooks.module.js';
import { ResponsesModule } from './responses/responses.module.js';
import { ServiceDrain } from './service-drain.js';

/** The whole service. Inference comes first, because Express tries the routes in their order. */
@Module({})
export class AppModule {
  static forRoot(config: AppConfig, databaseUrl: string): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule.forRoot(config),
        DatabaseModule.forRoot(databaseUrl),
        MetricsModule,
        QueueModule.forRoot(config, databaseUrl),
        AccessModule,
        ChatModule,
        MessagesModule,
        ResponsesModule,
        AudioModule,
        EmbeddingsModule,
        JobsModule,
        ArtifactsModule,
        WebhooksModule,
        ProvidersModule,
        CustomerModule,
        BroadcastModule,
        CreditsModule,
        OperationsModule,
        BootstrapModule,
      ],
      providers: [ServiceDrain],
    };
  }
}
