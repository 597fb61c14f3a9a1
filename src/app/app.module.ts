import { Module, type DynamicModule } from '@nestjs/common';
import { AccessModule } from '../core/access/access.module.js';
import { AdminModule } from '../features/admin/admin.module.js';
import { AuditModule } from '../core/audit/audit.module.js';
import { AuthModule } from '../features/auth/auth.module.js';
import { AlertRulesModule } from '../features/alerts/alerts.module.js';
import { AudioModule } from '../features/audio/audio.module.js';
import { BroadcastModule } from '../features/broadcast/broadcast.module.js';
import { CatalogueModule } from '../core/catalogue/catalogue.module.js';
import { ConfigurationModule } from '../core/configuration/configuration.module.js';
import { ChatModule } from '../features/chat/chat.module.js';
import { ConfigModule } from '../platform/config/config.module.js';
import type { LiveSettings } from '../platform/config/live-settings.js';
import { ContentModule } from '../core/content/content.module.js';
import { DatabaseModule } from '../platform/database/database.module.js';
import { CreditsModule } from '../features/credits/credits.module.js';
import { CustomerModule } from '../features/customer/customer.module.js';
import { EmbeddingsModule } from '../features/embeddings/embeddings.module.js';
import { JobsModule } from '../features/jobs/jobs.module.js';
import { MessagesModule } from '../features/messages/messages.module.js';
import { MetricsModule } from '../platform/metrics/metrics.module.js';
import { PeopleModule } from '../core/people/people.module.js';
import { TenantsModule } from '../core/tenants/tenants.module.js';
import { ProvidersModule } from '../features/providers/providers.module.js';
import { ServiceStopModule } from '../platform/time/service-stop.js';
import { QueueModule } from '../platform/queue/queue.module.js';
import { WorkModule } from '../platform/durable-work/work.module.js';
import { WebhooksModule } from '../platform/outbound/webhooks.module.js';
import { QuoteModule } from '../features/quote/quote.module.js';
import { ResponsesModule } from '../features/responses/responses.module.js';
import { ServiceDrain } from './service-drain.js';
import { LedgerModule } from '../core/ledger/ledger.module.js';
import { RoutingModule } from '../core/routing/routing.module.js';
import { OperatorModule } from '../operator/operator.module.js';
import { BootstrapService } from './bootstrap/bootstrap.service.js';
import { ConsoleController } from './console/console.controller.js';
import { ConsoleFiles } from './console/console-files.js';
import { BuildInfo } from './operations/build-info.js';
import { ClusterMetrics } from './operations/cluster-metrics.js';
import { InstanceFit } from './operations/instance-fit.service.js';
import { LiveReport } from './operations/live-report.js';
import { HealthController } from './operations/health.controller.js';
import { MetricsController } from './operations/metrics.controller.js';

@Module({
  imports: [CatalogueModule, JobsModule, LedgerModule, RoutingModule],
  controllers: [HealthController, MetricsController],
  providers: [BuildInfo, ClusterMetrics, InstanceFit, LiveReport],
})
class OperationsModule {}

@Module({
  controllers: [ConsoleController],
  providers: [{ provide: ConsoleFiles, useFactory: () => new ConsoleFiles() }],
})
class ConsoleModule {}

/** Creates the first tenant and keys. */
@Module({
  imports: [LedgerModule, PeopleModule, TenantsModule],
  providers: [BootstrapService],
  exports: [BootstrapService],
})
class BootstrapModule {}

/** The whole service. Inference comes first because Express matches routes in order. */
@Module({})
export class AppModule {
  static forRoot(settings: LiveSettings, databaseUrl: string): DynamicModule {
    const { config } = settings;
    return {
      module: AppModule,
      imports: [
        ConfigModule.forRoot(settings),
        DatabaseModule.forRoot(databaseUrl),
        MetricsModule,
        ServiceStopModule,
        QueueModule.forRoot(config, databaseUrl),
        WorkModule,
        AccessModule,
        ConfigurationModule,
        AuditModule,
        ChatModule,
        MessagesModule,
        ResponsesModule,
        AudioModule,
        EmbeddingsModule,
        JobsModule,
        QuoteModule,
        WebhooksModule,
        ProvidersModule,
        CustomerModule,
        BroadcastModule,
        AlertRulesModule,
        OperatorModule,
        ContentModule,
        CreditsModule,
        AdminModule,
        AuthModule,
        OperationsModule,
        BootstrapModule,
        ...(config.http.hasConsole ? [ConsoleModule] : []),
      ],
      providers: [ServiceDrain],
    };
  }
}
