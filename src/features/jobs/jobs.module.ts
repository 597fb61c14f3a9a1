import type { Server } from 'node:http';
import { join } from 'node:path';
import { Module } from '@nestjs/common';
import { HttpAdapterHost, type AbstractHttpAdapter } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { JobEntity } from './job.entity.js';
import { JobArtifactEntity } from './job-artifact.entity.js';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { gatewaySecrets } from '../../platform/config/gateway-secret.js';
import { baseUrlOf } from '../../platform/http/base-url.js';
import { AnswersModule } from '../../core/answers/answers.module.js';
import { ArtifactStore } from './artifacts/artifact-store.js';
import { ArtifactUrls } from './artifacts/artifact-urls.js';
import { ArtifactsController } from './artifacts/artifacts.controller.js';
import { ArtifactsService } from './artifacts/artifacts.service.js';
import { LocalArtifactStore } from './artifacts/local-artifact-store.js';
import { S3ArtifactStore } from './artifacts/s3-artifact-store.js';
import { CatalogueModule } from '../../core/catalogue/catalogue.module.js';
import { CredentialsModule } from '../../core/credentials/credentials.module.js';
import { WebhooksModule } from '../../platform/outbound/webhooks.module.js';
import {
  ImageEditsController,
  ImageGenerationsController,
} from './image-generations.controller.js';
import { ImageEditsService } from './image-edits.service.js';
import { UploadsModule } from '../../platform/http/upload-folder.js';
import { ImageGenerationsService, EncodedImages } from './image-generations.service.js';
import { JobCredentials } from './job-routes.js';
import { JobFollowUp } from './job-follow-up.service.js';
import { JobArtifacts } from './job-artifacts.service.js';
import { JobClaims } from './job-claims.repository.js';
import { JobOutcomes } from './job-outcomes.service.js';
import { JobMetrics } from './job-metrics.js';
import { JobRetentionService } from './job-retention.service.js';
import { JobRunner } from './job-runner.service.js';
import { JobDispatcher } from './job-dispatcher.service.js';
import { JobSweeper } from './job-sweeper.service.js';
import { JobTraces } from './job-traces.service.js';
import { JobWaiter, JobEndEvents } from './job-waiter.service.js';
import { JobWorker } from './job-worker.service.js';
import { JobsController, ImageJobsController, CustomerJobsController } from './jobs.controller.js';
import { VideosController } from './videos.controller.js';
import { VideosService } from './videos.service.js';
import { JobsRepository } from './jobs.repository.js';
import { JobsService } from './jobs.service.js';
import { CreateJobService } from './create-job.service.js';
import { QuotesService } from '../../core/answers/quotes.service.js';
import { CatalogueService } from '../../core/catalogue/catalogue.service.js';
import { parseImageGeneration } from './image-generation.parse.js';
import { parseJob } from './jobs.parse.js';

/**
 * Image, video and long speech jobs: work that outlives its request and process. Results are
 * stored and served under signed URLs.
 */
@Module({
  imports: [
    TypeOrmModule.forFeature([JobEntity, JobArtifactEntity]),
    AnswersModule,
    CatalogueModule,
    CredentialsModule,
    UploadsModule,
    WebhooksModule,
  ],
  controllers: [
    JobsController,
    ImageGenerationsController,
    ImageEditsController,
    ImageJobsController,
    VideosController,
    CustomerJobsController,
    ArtifactsController,
  ],
  providers: [
    {
      provide: ArtifactStore,
      inject: [APP_CONFIG],
      useFactory: (config: AppConfig): ArtifactStore =>
        config.s3
          ? new S3ArtifactStore(config.s3)
          : new LocalArtifactStore(join(config.dataDirectory, 'artifacts')),
    },
    {
      provide: ArtifactUrls,
      inject: [APP_CONFIG, HttpAdapterHost],
      useFactory: (
        config: AppConfig,
        { httpAdapter }: HttpAdapterHost<AbstractHttpAdapter<Server>>,
      ): ArtifactUrls =>
        new ArtifactUrls(
          () => gatewaySecrets(config),
          () => baseUrlOf(httpAdapter.getHttpServer(), config),
        ),
    },
    ArtifactsService,
    EncodedImages,
    ImageGenerationsService,
    ImageEditsService,
    JobCredentials,
    JobFollowUp,
    JobArtifacts,
    JobClaims,
    JobOutcomes,
    JobMetrics,
    JobEndEvents,
    JobRetentionService,
    JobRunner,
    JobDispatcher,
    JobSweeper,
    JobTraces,
    JobWaiter,
    JobWorker,
    JobsRepository,
    JobsService,
    VideosService,
    CreateJobService,
  ],
  exports: [ArtifactStore],
})
export class JobsModule {
  constructor(quotes: QuotesService, catalogue: CatalogueService) {
    const find = (alias: string) => catalogue.find(alias);
    quotes.add('jobs', ({ value }) => parseJob(value, find).request);
    quotes.add('videos', ({ value }) => parseJob(value, find).request);
    quotes.add('images', ({ value }) => parseImageGeneration(value, find).parsed.request);
  }
}
