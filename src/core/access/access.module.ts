import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { AdminKeyDirectory } from './admin-key-directory.service.js';
import { AdminKeyRepository } from './admin-keys.repository.js';
import { AdminKeyEntity } from './admin-key.entity.js';
import { ApiKeyEntity } from './api-key.entity.js';
import { ApiKeyRepository } from './api-key.repository.js';
import { GatewayMetrics } from '../../platform/metrics/gateway-metrics.js';
import { BodyBudget } from '../../platform/http/body-budget.js';
import { ClientNetworks } from './client-networks.js';
import { EndUserLimitsEntity } from './end-user-limits.entity.js';
import { EndUserLimits } from './end-user-limits.service.js';
import { FairStarts } from './fair-starts.js';
import { InFlightLimiter } from './in-flight-limiter.js';
import { KeyDirectory } from './key-directory.service.js';
import { RedisRateLimiter, InProcessRateLimiter, RateLimiter } from './rate-limiters.js';
import { ContentionWindow } from '../../platform/queue/contention-window.js';
import { RequestRates } from './request-rates.js';
import { UnauthenticatedQueue } from './unauthenticated-queue.js';
import { WrongKeys } from './wrong-keys.js';
import { SessionEntity } from './sessions/session.entity.js';
import { SessionGate } from './sessions/session-gate.service.js';
import { SessionRepository } from './sessions/session.repository.js';

/**
 * Keys, sessions and rate limits. Global, because Nest instantiates the guards in every module that
 * uses them.
 */
@Global()
@Module({
  imports: [
    TypeOrmModule.forFeature([ApiKeyEntity, AdminKeyEntity, EndUserLimitsEntity, SessionEntity]),
  ],
  providers: [
    AdminKeyDirectory,
    AdminKeyRepository,
    ApiKeyRepository,
    EndUserLimits,
    KeyDirectory,
    SessionGate,
    SessionRepository,
    {
      provide: InFlightLimiter,
      inject: [APP_CONFIG],
      useFactory: (config: AppConfig) => new InFlightLimiter(config),
    },
    { provide: ContentionWindow, useFactory: () => new ContentionWindow() },
    FairStarts,
    RequestRates,
    ClientNetworks,
    UnauthenticatedQueue,
    WrongKeys,
    {
      provide: BodyBudget,
      inject: [APP_CONFIG, ContentionWindow],
      useFactory: ({ admission }: AppConfig, time: ContentionWindow) =>
        new BodyBudget(admission.bodyBudgetBytes, time),
    },
    {
      provide: RateLimiter,
      inject: [APP_CONFIG, GatewayMetrics],
      useFactory: ({ redisUrl }: AppConfig, metrics: GatewayMetrics): RateLimiter => {
        if (!redisUrl) return new InProcessRateLimiter();
        const limiter = new RedisRateLimiter(redisUrl);
        metrics.trackRedis('rate_limits', () => limiter.isDegraded);
        return limiter;
      },
    },
  ],
  exports: [
    // Exports the repositories of its entities.
    TypeOrmModule,
    AdminKeyDirectory,
    AdminKeyRepository,
    ApiKeyRepository,
    EndUserLimits,
    KeyDirectory,
    SessionGate,
    SessionRepository,
    RateLimiter,
    InFlightLimiter,
    FairStarts,
    RequestRates,
    ClientNetworks,
    UnauthenticatedQueue,
    WrongKeys,
    BodyBudget,
  ],
})
export class AccessModule {
  constructor(metrics: GatewayMetrics, inFlight: InFlightLimiter) {
    metrics.track(
      'gateway_requests_in_flight',
      'Model calls between admission and the end of the response.',
      () => inFlight.open,
    );
  }
}
