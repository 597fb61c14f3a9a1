import { Module } from '@nestjs/common';
import { ArtifactsModule } from './artifacts/artifacts.module.js';
import { CatalogueModule } from '../../core/catalogue/catalogue.module.js';
import { GuardrailsModule } from '../../core/guardrails/guardrails.module.js';
import { CredentialsModule } from '../../core/credentials/credentials.module.js';
import { LedgerModule } from '../../core/ledger/ledger.module.js';
import { WebhooksModule } from '../../platform/outbound/webhooks.module.js';
import { RoutingModule } from '../../core/routing/routing.module.js';
import { TracingModule } from '../../core/tracing/tracing.module.js';
import { CustomerJobsController } from './customer-jobs.controller.js';
import { EncodedImages } from './encoded-images.js';
import { ImageGenerationsController } from './image-generations.controller.js';
import { ImageGenerationsService } from './image-generations.service.js';
import { ImageJobsController } from './image-jobs.controller.js';
import { JobAccounts } from './job-accounts.js';
import { JobAfterwards } from './job-afterwards.service.js';
import { JobArtifacts } from './job-artifacts.service.js';
import { JobClaims } from './job-claims.repository.js';
import { JobEndings } from './job-endings.service.js';
import { JobMetrics } from './job-metrics.js';
import { JobNotices } from './job-notices.js';
import { JobRetentionService } from './job-retention.service.js';
import { JobRunner } from './job-runner.service.js';
import { JobSubmission } from './job-submission.service.js';
import { JobSweeper } from './job-sweeper.service.js';
import { JobTraces } from './job-traces.service.js';
import { JobWaiter } from './job-waiter.service.js';
import { JobWorker } from './job-worker.service.js';
import { JobsController } from './jobs.controller.js';
import { JobsRepository } from './jobs.repository.js';
import { JobsService } from './jobs.service.js';
import { SubmitJobService } from './submit-job.service.js';
import { VideoJobsController } from './video-jobs.controller.js';

/** Images, videos and long speech: work that outlives a request, and the process that took it in. */
@Module({
  imports: [
    ArtifactsModule,
    CatalogueModule,
    CredentialsModule,
    GuardrailsModule,
    LedgerModule,
    RoutingModule,
    TracingModule,
    WebhooksModule,
  ],
  controllers: [
    JobsController,
    ImageGenerationsController,
    ImageJobsController,
    VideoJobsController,
    CustomerJobsController,
  ],
  providers: [
    EncodedImages,
    ImageGenerationsService,
    JobAccounts,
    JobAfterwards,
    JobArtifacts,
    JobClaims,
    JobEndings,
    JobMetrics,
    JobNotices,
    JobRetentionService,
    JobRunner,
    JobSubmission,
    JobSweeper,
    JobTraces,
    JobWaiter,
    JobWorker,
    JobsRepository,
    JobsService,
    SubmitJobService,
  ],
})
export class JobsModule {}
