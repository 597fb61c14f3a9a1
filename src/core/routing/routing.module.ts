import { Module } from '@nestjs/common';
import { CatalogueModule } from '../catalogue/catalogue.module.js';
import { CredentialsModule } from '../credentials/credentials.module.js';
import { UpstreamModule } from '../../vendors/upstream.module.js';
import { ProviderHealthService } from './provider-health.service.js';
import { RouteHistory } from './route-history.service.js';
import { RoutePauses } from './route-pauses.service.js';
import { RoutingService } from './routing.service.js';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { GatewayMetrics } from '../../platform/metrics/gateway-metrics.js';
import { AnswerCache } from './cache/answer-cache.service.js';
import { CacheStore } from './cache/cache-store.js';
import { InProcessCacheStore } from './cache/in-process-cache-store.js';
import { RedisCacheStore } from './cache/redis-cache-store.js';

/** Answers that are given again; shared by all instances where there is a Redis. */
@Module({
  providers: [
    {
      provide: CacheStore,
      inject: [APP_CONFIG, GatewayMetrics],
      useFactory: ({ redisUrl, cache }: AppConfig, metrics: GatewayMetrics): CacheStore => {
        if (redisUrl) {
          const shared = new RedisCacheStore(redisUrl, cache);
          metrics.trackRedis('cache', () => shared.isDegraded);
          metrics.trackShared(
            'gateway_cache_bytes',
            'Memory that cached answers take in Redis, of all instances together.',
            [],
            async () => [{ labels: {}, value: await shared.bytesInUse() }],
          );
          return shared;
        }
        const store = new InProcessCacheStore(cache);
        metrics.track(
          'gateway_cache_bytes',
          'Memory that cached answers take in this process.',
          () => store.bytesInUse(),
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
  providers: [ProviderHealthService, RouteHistory, RoutePauses, RoutingService],
  exports: [ProviderHealthService, RouteHistory, RoutePauses, RoutingService],
})
export class RoutingModule {}
