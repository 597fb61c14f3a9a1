import { Module } from '@nestjs/common';
import { AnswersModule } from '../../core/answers/answers.module.js';
import { ArtifactsModule } from './artifacts/artifacts.module.js';
import { CatalogueModule } from '../../core/catalogue/catalogue.module.js';
import { CredentialsModule } from '../../core/credentials/credentials.module.js';
import { WebhooksModule } from '../../platform/outbound/webhooks.module.js';
import { ImageGenerationsController } from './image-generations.controller.js';
import { ImageGenerationsService, EncodedImages } from './image-generations.service.js';
import { JobAccounts } from './job-routes.js';
import { JobAfterwards } from './job-follow-up.service.js';
import { JobArtifacts } from './job-artifacts.service.js';
import { JobClaims } from './job-claims.repository.js';
import { JobEndings } from './job-endings.service.js';
import { JobMetrics } from './job-metrics.js';
import { JobRetentionService } from './job-retention.service.js';
import { JobRunner } from './job-runner.service.js';
import { JobSubmission } from './job-dispatcher.service.js';
import { JobSweeper } from './job-sweeper.service.js';
import { JobTraces } from './job-traces.service.js';
import { JobWaiter, JobNotices } from './job-waiter.service.js';
import { JobWorker } from './job-worker.service.js';
import {
  JobsController,
  ImageJobsController,
  VideoJobsController,
  CustomerJobsController,
} from './jobs.controller.js';
import { JobsRepository } from './jobs.repository.js';
import { JobsService } from './jobs.service.js';
import { SubmitJobService } from './create-job.service.js';

/** Images, videos and long speech: work that outlives a request, and the process that took it in. */
@Module({
  imports: [AnswersModule, ArtifactsModule, CatalogueModule, CredentialsModule, WebhooksModule],
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
