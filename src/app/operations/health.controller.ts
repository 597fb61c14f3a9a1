import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import {
  ApiExcludeEndpoint,
  ApiOkResponse,
  ApiOperation,
  ApiServiceUnavailableResponse,
  ApiTags,
} from '@nestjs/swagger';
import { EnumField, NumberField, StringField } from '../../platform/http/field.decorators.js';
import {
  EnumListField,
  ObjectField,
  StringListField,
  type ListOptions,
} from '../../platform/http/nested-field.decorators.js';
import type { Request, Response } from 'express';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { DATABASE_STATES, type DatabaseState } from '../../platform/database/database-pulse.js';
import { DATABASE_RETRY_AFTER_SECONDS } from '../../platform/errors/gateway-errors.js';
import { sendJson } from '../../platform/http/send-body.js';
import { ServiceStop } from '../../platform/time/service-stop.js';
import { sharedReading } from '../../platform/time/shared-reading.js';
import { WorkQueue } from '../../platform/queue/work-queue.js';
import { AdminKeyDirectory } from '../../core/access/admin-key-directory.service.js';
import { apiKeyStatus } from '../../core/access/api-key.entity.js';
import { isAdminKey } from '../../core/access/api-key.js';
import { WrongKeys } from '../../core/access/wrong-keys.js';
import { RateLimiter } from '../../core/access/rate-limiters.js';
import { ConfigurationService } from '../../core/configuration/configuration.service.js';
import { InstanceService } from '../../core/ledger/instance.service.js';
import { InstanceFit } from './instance-fit.service.js';

/** Lifetime of a reading; the same as for the database in `DatabasePulse`. */
const FRESH_MS = 250;

class HealthDto {
  @EnumField(['ok'])
  status: 'ok';
}

class ReadinessConfigDto {
  @NumberField({
    nullable: true,
    description: 'Number of its version; null before the first.',
    example: 7,
  })
  version: number | null;

  @StringField({
    description:
      'Fingerprint of the effective configuration, including variables and files of the instance. Equal on instances that behave the same.',
    example: '0f3a9c55d21b',
  })
  fingerprint: string;
}

/** Details require an admin key or a request from the same machine. */
class ReadinessDto {
  @EnumField(['ok', 'unavailable', 'stopping'], {
    description: '`stopping`: requests are still served, but new ones should go elsewhere.',
  })
  status: 'ok' | 'unavailable' | 'stopping';

  @EnumField(DATABASE_STATES, {
    optional: true,
    description:
      'Whether it accepts writes: `read-only` and `full` refuse them; `silent` accepts connections but does not respond.',
  })
  database?: DatabaseState;

  @EnumField(['in-process', 'redis', 'process'], {
    optional: true,
    description:
      'Where rate limits are counted: `in-process`: in this process, without Redis; `redis`: in Redis; `process`: in this process, because Redis is unavailable.',
  })
  rate_limits?: 'in-process' | 'redis' | 'process';

  @EnumField(['redis', 'database', 'unreachable'], {
    optional: true,
    description: 'Where the background queue is stored.',
  })
  queue?: 'redis' | 'database' | 'unreachable';

  @EnumListField<string, ListOptions & { optional: true }>(
    ['redis', 'queue', 'secret', 'schema', 'artifacts', 'catalogue', 'config'],
    {
      optional: true,
      description: 'Parts that are degraded although chats are served.',
    },
  )
  degraded?: string[];

  @StringListField({
    optional: true,
    description: 'One sentence for each difference from the other instances.',
  })
  reasons?: string[];

  @ObjectField(ReadinessConfigDto, {
    optional: true,
    description: 'The configuration of this instance.',
  })
  config?: ReadinessConfigDto;
}

const INDEX = {
  name: 'Model Gateway',
  console: '/console',
  documentation: '/docs',
  openapi: '/docs-json',
  models: '/v1/models',
  health: '/healthz',
} as const;

/** Service mesh proxies use other addresses of 127.0.0.0/8. */
const LOOPBACK = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1']);
const PROXY_HEADER = /^(?:x-forwarded(?:-.*)?|forwarded|via|x-real-ip|.*-client-ip)$/;

/** Health checks for orchestrators. */
@ApiTags('Operations')
@Controller()
export class HealthController {
  /** Shared between requests, because they need no key. */
  private readonly checkParts = sharedReading(FRESH_MS, () =>
    Promise.all([this.pingQueue(), this.rateLimiter.check()]),
  );

  constructor(
    private readonly instance: InstanceService,
    private readonly fit: InstanceFit,
    private readonly rateLimiter: RateLimiter,
    private readonly queue: WorkQueue,
    private readonly stop: ServiceStop,
    private readonly configuration: ConfigurationService,
    private readonly adminKeys: AdminKeyDirectory,
    private readonly wrongKeys: WrongKeys,
    @Inject(APP_CONFIG) private readonly config: AppConfig,
  ) {}

  /** Redirects browsers to the console or the documentation; other clients get links as JSON. */
  @Get()
  @ApiExcludeEndpoint()
  index(@Req() request: Request, @Res() response: Response): void {
    const { hasConsole } = this.config.http;
    response.vary('Accept');
    if (request.accepts(['json', 'html']) === 'html') {
      response.redirect(hasConsole ? INDEX.console : INDEX.documentation);
    } else sendJson(response, 200, { ...INDEX, console: hasConsole ? INDEX.console : undefined });
  }

  @Get('healthz')
  @ApiOperation({ operationId: 'getHealth', summary: 'Whether the process is alive' })
  @ApiOkResponse({ type: HealthDto })
  health(): HealthDto {
    return { status: 'ok' };
  }

  @Get('readyz')
  @ApiOperation({
    operationId: 'getReadiness',
    summary: 'Whether the service can take traffic',
    description:
      'Gives the status. The details need an admin key (`Authorization: Bearer sk-admin-…`), or a direct request from the same machine.',
  })
  @ApiOkResponse({ type: ReadinessDto })
  @ApiServiceUnavailableResponse({ type: ReadinessDto })
  async readiness(@Req() request: Request, @Res() response: Response): Promise<void> {
    const [database, [hasQueue]] = await Promise.all([this.instance.check(), this.checkParts()]);
    const isReady = database === 'ok' && !this.stop.hasBegun;
    const { misfits } = this.fit;
    const readiness: ReadinessDto = {
      status: this.stop.hasBegun ? 'stopping' : isReady ? 'ok' : 'unavailable',
      ...((await this.mayKnowDetails(request)) && {
        database,
        rate_limits: this.placeOfRateLimits(),
        queue: hasQueue ? this.queue.kind : ('unreachable' as const),
        degraded: [...this.degradedParts(hasQueue), ...misfits.map(({ part }) => part)],
        reasons: misfits.map(({ reason }) => reason),
        config: {
          version: this.configuration.current?.number ?? null,
          fingerprint: this.configuration.fingerprint,
        },
      }),
    };
    if (!isReady) response.setHeader('Retry-After', String(DATABASE_RETRY_AFTER_SECONDS));
    sendJson(response, isReady ? 200 : 503, readiness);
  }

  /** Details name hosts and settings. Proxied requests do not count as local. */
  private async mayKnowDetails(request: Request): Promise<boolean> {
    const { headers, socket } = request;
    const isProxied = Object.keys(headers).some((name) => PROXY_HEADER.test(name));
    if (!isProxied && LOOPBACK.has(socket.remoteAddress ?? '')) return true;
    const [, key = ''] = /^Bearer (\S+)$/i.exec(headers.authorization ?? '') ?? [];
    if (!isAdminKey(key)) return false;
    try {
      const found = await this.adminKeys.resolve(key);
      if (found && apiKeyStatus(found, Date.now()) === 'active') {
        this.adminKeys.noteUse(found.id);
        return true;
      }
      this.wrongKeys.note(request);
    } catch {
      // Too many wrong keys, or no database to check one. The status is still reported.
    }
    return false;
  }

  private placeOfRateLimits(): NonNullable<ReadinessDto['rate_limits']> {
    if (this.config.redisUrl === undefined) return 'in-process';
    return this.rateLimiter.isDegraded ? 'process' : 'redis';
  }

  /** Without a queue, background work waits; chats need neither queue nor Redis. */
  private degradedParts(hasQueue: boolean): string[] {
    const isRedisDown = this.rateLimiter.isDegraded || (this.queue.kind === 'redis' && !hasQueue);
    if (isRedisDown) return ['redis'];
    return hasQueue ? [] : ['queue'];
  }

  private pingQueue(): Promise<boolean> {
    return this.queue.check().then(
      () => true,
      () => false,
    );
  }
}
