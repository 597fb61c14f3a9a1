import { Module } from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../platform/config/app-config.js';
import { HttpTransport } from './transport/http-transport.js';
import { MediaFetcher } from './transport/media-fetcher.js';
import { UpstreamRegistry } from './upstream.registry.js';

@Module({
  providers: [
    {
      provide: HttpTransport,
      inject: [APP_CONFIG],
      useFactory: (config: AppConfig) => new HttpTransport(config.limits.connectTimeoutMs),
    },
    {
      provide: MediaFetcher,
      inject: [APP_CONFIG],
      useFactory: (config: AppConfig) =>
        new MediaFetcher({ allowPrivate: config.allowPrivateDestinations }),
    },
    UpstreamRegistry,
  ],
  exports: [UpstreamRegistry],
})
export class UpstreamModule {}
