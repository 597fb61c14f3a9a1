import { Module } from '@nestjs/common';
import { CatalogueModule } from '../catalogue/catalogue.module.js';
import { CredentialsModule } from '../credentials/credentials.module.js';
import { UpstreamModule } from '../../vendors/upstream.module.js';
import { RoutingService } from './routing.service.js';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { GatewayMetrics } from '../../platform/metrics/gateway-metrics.js';
import { AnswerCache } from './cache/answer-cache.service.js';
import { RedisCacheStore, InProcessCacheStore, CacheStore } from './cache/cache-stores.js';

/** Answers that are given again; shared by all instances where there is a Redis. */
@Module({
  providers: [
    {
      provide: CacheStore,
      inject: [APP_CONFIG, GatewayMetrics],
      useFactory: (config: AppConfig, metrics: GatewayMetrics): CacheStore => {
        if (config.redisUrl) return new RedisCacheStore(config.redisUrl);
        const store = new InProcessCacheStore(config.cacheMaxBytes);
        metrics.track(
          'gateway_cache_bytes',
          'Memory that cached answers take in this process.',
          () => store.bytes,
        );
        return store;
      },
    },
    AnswerCache,
  ],
  exports: [AnswerCache],
})
class CacheModule {}

@Module({
  imports: [CacheModule, CatalogueModule, CredentialsModule, UpstreamModule],
  providers: [RoutingService],
  exports: [RoutingService],
})
export class RoutingModule {}
