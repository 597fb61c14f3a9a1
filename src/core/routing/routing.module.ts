import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RouteHistoryEntity } from './route-history.entity.js';
import { RoutePauseEntity } from './route-pause.entity.js';
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
import { CatalogueService } from '../catalogue/catalogue.service.js';
import { HedgeShare } from './hedge/hedge-share.js';
import { AccountPools } from './pool/account-pools.js';
import { OperatorPools } from './pool/operator-pools.js';
import { RouteHealth } from './route-health.js';
import { trackAccounts, trackRoutes } from './route-metrics.js';
import { RoutePlanner } from './route-planner.js';
import { RouteRecords } from './route-records.js';
import { RouteTally } from './route-tally.js';
import { RouteUpstreams } from './route-upstreams.js';
import { SingleAttempts } from './single-attempts.js';
import { ConversationPlaces } from './stickiness/conversation-places.js';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { gatewaySecrets } from '../../platform/config/gateway-secret.js';
import { InstanceChannel } from '../../platform/channel/instance-channel.js';
import { DatabaseNotices } from '../../platform/database/database-notices.js';
import { Database } from '../../platform/database/database.js';
import { NoticesChannel } from '../../platform/database/notices-channel.js';
import { GatewayMetrics } from '../../platform/metrics/gateway-metrics.js';
import { RedisChannel } from '../../platform/redis/redis-channel.js';
import { AnswerCache } from './cache/answer-cache.service.js';
import { StickyRoutes } from './stickiness/sticky-routes.service.js';
import { CacheStore } from './cache/cache-store.js';
import { InProcessCacheStore } from './cache/in-process-cache-store.js';
import { RedisCacheStore } from './cache/redis-cache-store.js';

/** Provides the answer cache; shared by all instances with Redis. */
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
            'Memory of cached answers in Redis, for all instances.',
            [],
            async () => [{ labels: {}, value: await shared.bytesInUse() }],
          );
          return shared;
        }
        const store = new InProcessCacheStore(cache);
        metrics.track('gateway_cache_bytes', 'Memory of cached answers in this process.', () =>
          store.bytesInUse(),
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
  imports: [
    TypeOrmModule.forFeature([RouteHistoryEntity, RoutePauseEntity]),
    CacheModule,
    CatalogueModule,
    CredentialsModule,
    UpstreamModule,
  ],
  providers: [
    ProviderHealthService,
    RouteHistory,
    RoutePauses,
    RoutePlanner,
    RouteRecords,
    RouteTally,
    RouteUpstreams,
    RoutingService,
    SingleAttempts,
    { provide: ConversationPlaces, useFactory: () => new ConversationPlaces() },
    {
      provide: RouteHealth,
      inject: [APP_CONFIG],
      useFactory: ({ limits }: AppConfig) => new RouteHealth(limits.cooldownMs),
    },
    {
      provide: AccountPools,
      inject: [RouteHealth],
      useFactory: (health: RouteHealth) => new AccountPools(health),
    },
    {
      provide: OperatorPools,
      inject: [UpstreamRegistry, CatalogueService, APP_CONFIG],
      useFactory: (upstreams: UpstreamRegistry, catalogue: CatalogueService, config: AppConfig) =>
        new OperatorPools(upstreams, catalogue, config),
    },
    {
      provide: HedgeShare,
      inject: [APP_CONFIG],
      useFactory: (config: AppConfig) => new HedgeShare(() => config.hedgePercent),
    },
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
      inject: [RouteHealth, InstanceChannel, UpstreamRegistry, ByokUpstreams],
      useFactory: (
        health: RouteHealth,
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
      provide: StickyRoutes,
      inject: [ConversationPlaces, InstanceChannel],
      // Conversations change too often for database notifications.
      useFactory: (conversations: ConversationPlaces, channel: InstanceChannel) =>
        new StickyRoutes(conversations, channel instanceof RedisChannel ? channel : undefined),
    },
  ],
  exports: [
    AccountPools,
    HedgeShare,
    OperatorPools,
    ProviderHealthService,
    RouteHistory,
    RoutePauses,
    RoutingService,
  ],
})
export class RoutingModule {
  constructor(
    metrics: GatewayMetrics,
    health: RouteHealth,
    catalogue: CatalogueService,
    upstreams: UpstreamRegistry,
    routing: RoutingService,
  ) {
    trackRoutes(metrics, health, () => catalogue.rows);
    trackAccounts(metrics, () =>
      upstreams.providers.flatMap(({ id: provider }) =>
        (routing.accountsOf(provider) ?? []).map((figures) => ({ provider, figures })),
      ),
    );
  }
}
