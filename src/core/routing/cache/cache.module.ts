import { Module } from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../../../platform/config/app-config.js';
import { GatewayMetrics } from '../../../platform/metrics/gateway-metrics.js';
import { AnswerCache } from './answer-cache.service.js';
import { CacheStore } from './cache-store.js';
import { InProcessCacheStore } from './in-process-cache-store.js';
import { RedisCacheStore } from './redis-cache-store.js';

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
export class CacheModule {}
