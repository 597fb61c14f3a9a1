import { Module } from '@nestjs/common';
import { CatalogueModule } from '../catalogue/catalogue.module.js';
import { CredentialsModule } from '../credentials/credentials.module.js';
import { UpstreamModule } from '../../vendors/upstream.module.js';
import { UpstreamRegistry } from '../../vendors/upstream.registry.js';
import { ByokUpstreams } from '../credentials/byok-upstreams.service.js';
import { SharedHealth } from './health/shared-health.service.js';
import { ProviderHealthService } from './provider-health.service.js';
import { RouteHistory } from './route-history.service.js';
import { RoutePauses } from './route-pauses.service.js';
import { RoutingService } from './routing.service.js';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { gatewaySecrets } from '../../platform/config/gateway-secret.js';
import { InstanceChannel } from '../../platform/channel/instance-channel.js';
import { DatabaseNotices } from '../../platform/database/database-notices.js';
import { Database } from '../../platform/database/database.js';
import { NoticesChannel } from '../../platform/database/notices-channel.js';
import { GatewayMetrics } from '../../platform/metrics/gateway-metrics.js';
import { RedisChannel } from '../../platform/redis/redis-channel.js';
import { AnswerCache } from './cache/answer-cache.service.js';
import { SharedPlaces } from './stickiness/shared-places.service.js';
import { CacheStore } from './cache/cache-store.js';
import { InProcessCacheStore } from './cache/in-process-cache-store.js';
import { RedisCacheStore } from './cache/redis-cache-store.js';

/** Answers that are given again; shared by all instances where there is a Redis. */
@Module({
  providers: [
    {
      provide: CacheStore,
      inject: [APP_CONFIG, GatewayMetrics],
      useFactory: (config: AppConfig, metrics: GatewayMetrics): CacheStore => {
        const { redisUrl, cache } = config;
        if (redisUrl) {
          const shared = new RedisCacheStore(redisUrl, cache, () => gatewaySecrets(config));
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
  providers: [
    ProviderHealthService,
    RouteHistory,
    RoutePauses,
    RoutingService,
    {
      provide: InstanceChannel,
      inject: [APP_CONFIG, GatewayMetrics, Database, DatabaseNotices],
      useFactory: (
        { redisUrl }: AppConfig,
        metrics: GatewayMetrics,
        database: Database,
        notices: DatabaseNotices,
      ): InstanceChannel => {
        if (!redisUrl) return new NoticesChannel(database, notices);
        const channel = new RedisChannel(redisUrl);
        metrics.trackRedis('routes', () => channel.isDegraded);
        return channel;
      },
    },
    {
      provide: SharedHealth,
      inject: [RoutingService, InstanceChannel, UpstreamRegistry, ByokUpstreams],
      useFactory: (
        { health }: RoutingService,
        channel: InstanceChannel,
        upstreams: UpstreamRegistry,
        byok: ByokUpstreams,
      ) =>
        new SharedHealth(
          health,
          channel,
          (provider) => upstreams.has(provider) || byok.providersOnOffer().has(provider),
        ),
    },
    {
      provide: SharedPlaces,
      inject: [RoutingService, InstanceChannel],
      // There are too many conversations for a database to tell of each.
      useFactory: ({ conversations }: RoutingService, channel: InstanceChannel) =>
        new SharedPlaces(conversations, channel instanceof RedisChannel ? channel : undefined),
    },
  ],
  exports: [ProviderHealthService, RouteHistory, RoutePauses, RoutingService],
})
export class RoutingModule {}
