import type { Server } from 'node:http';
import { join } from 'node:path';
import { Module } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { APP_CONFIG, type AppConfig } from '../../../platform/config/app-config.js';
import { gatewaySecret } from '../../../platform/config/gateway-secret.js';
import { baseUrlOf } from '../../../platform/http/base-url.js';
import { ArtifactDesk } from './artifact-desk.js';
import { ArtifactStore } from './artifact-store.js';
import { ArtifactUrls } from './artifact-urls.js';
import { ArtifactsController } from './artifacts.controller.js';
import { ArtifactsService } from './artifacts.service.js';
import { LocalArtifactStore } from './local-artifact-store.js';
import { S3ArtifactStore } from './s3-artifact-store.js';

/** Keeps what jobs make, and gives it out under signed URLs. */
@Module({
  controllers: [ArtifactsController],
  providers: [
    ArtifactDesk,
    ArtifactsService,
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
      useFactory: (config: AppConfig, { httpAdapter }: HttpAdapterHost): ArtifactUrls =>
        new ArtifactUrls(gatewaySecret(config), () =>
          baseUrlOf(httpAdapter.getHttpServer() as Server, config),
        ),
    },
  ],
  exports: [ArtifactDesk, ArtifactStore, ArtifactUrls],
})
export class ArtifactsModule {}
