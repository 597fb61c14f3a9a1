import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { ApiKeyEntity } from './api-key.entity.js';
import { ApiKeyRepository } from './api-key.repository.js';
import { InProcessRateLimiter } from './in-process-rate-limiter.js';
import { KeyDirectory } from './key-directory.service.js';
import { RateLimiter } from './rate-limiter.js';
import { RedisRateLimiter } from './redis-rate-limiter.js';
import { TenantEntity } from './tenant.entity.js';
import { TenantsService } from './tenants.service.js';

/**
 * Keys and the rate limit. Global, because the guards, which Nest makes anew in each module that
 * uses them, are needed beside every controller.
 */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([TenantEntity, ApiKeyEntity])],
  providers: [
    ApiKeyRepository,
    KeyDirectory,
    TenantsService,
    {
      provide: RateLimiter,
      inject: [APP_CONFIG],
      useFactory: (config: AppConfig): RateLimiter =>
        config.redisUrl ? new RedisRateLimiter(config.redisUrl) : new InProcessRateLimiter(),
    },
  ],
  exports: [ApiKeyRepository, KeyDirectory, TenantsService, RateLimiter],
})
export class AccessModule {}
