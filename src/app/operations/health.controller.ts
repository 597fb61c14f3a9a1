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

/** As `DatabasePulse` has it of the database. */
const FRESH_MS = 250;

class HealthDto {
  @EnumField(['ok'])
  status: 'ok';
}

class ReadinessConfigDto {
  @NumberField({
    nullable: true,
    description: 'The number of its version; null before the first.',
    example: 7,
  })
  version: number | null;

  @StringField({
    description:
      'Of all that it is configured to do, its own variables and files included: the same on instances that do the same.',
    example: '0f3a9c55d21b',
  })
  fingerprint: string;
}

/** Details are for operators: with an admin key, or from the machine itself. */
class ReadinessDto {
  @EnumField(['ok', 'unavailable', 'stopping'], {
    description: '`stopping`: requests are still answered, but send new ones elsewhere.',
  })
  status: 'ok' | 'unavailable' | 'stopping';

  @EnumField(DATABASE_STATES, {
    optional: true,
    description:
      'Whether it takes writes: `read-only` and `full` refuse them, `silent` has its connections and does not answer.',
  })
  database?: DatabaseState;

  @EnumField(['in-process', 'redis', 'process'], {
    optional: true,
    description:
      'Where rate limits are counted: in this process, as no Redis is set; in Redis; or in this process for now, as Redis is away.',
  })
  rate_limits?: 'in-process' | 'redis' | 'process';

  @EnumField(['redis', 'database', 'unreachable'], {
    optional: true,
    description: 'Where the queue of background work is kept.',
  })
  queue?: 'redis' | 'database' | 'unreachable';

  @EnumListField<string, ListOptions & { optional: true }>(
    ['redis', 'queue', 'secret', 'schema', 'artifacts', 'catalogue', 'config'],
    {
      optional: true,
      description: 'What is not as it should be, although chats are answered.',
    },
  )
  degraded?: string[];

  @StringListField({
    optional: true,
    description: 'A sentence for each way in which this instance does not fit the others.',
  })
  reasons?: string[];

  @ObjectField(ReadinessConfigDto, {
    optional: true,
    description: 'The configuration that this instance uses.',
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

/** Proxies of a service mesh use other addresses of 127.0.0.0/8. */
const LOOPBACK = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1']);
const PROXY_HEADER = /^(?:x-forwarded(?:-.*)?|forwarded|via|x-real-ip|.*-client-ip)$/;

/** For orchestrators: whether the process lives, and whether it should get traffic. */
@ApiTags('Operations')
@Controller()
export class HealthController {
  /** Nobody needs a key to ask. */
  private readonly lookAround = sharedReading(FRESH_MS, () =>
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

  /** Leads a browser to the console, without one to the documentation, and tells all others where those are. */
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
    const [database, [hasQueue]] = await Promise.all([this.instance.check(), this.lookAround()]);
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

  /** Details name hosts and settings. A request that a proxy passed on does not come from this machine. */
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
      // Too many wrong keys, or no database to check one: the status has to be given all the same.
    }
    return false;
  }

  private placeOfRateLimits(): NonNullable<ReadinessDto['rate_limits']> {
    if (this.config.redisUrl === undefined) return 'in-process';
    return this.rateLimiter.isDegraded ? 'process' : 'redis';
  }

  /** Without a queue work in the background waits; chats need neither it nor Redis. */
  private degradedParts(hasQueue: boolean): string[] {
    const isRedisAway = this.rateLimiter.isDegraded || (this.queue.kind === 'redis' && !hasQueue);
    if (isRedisAway) return ['redis'];
    return hasQueue ? [] : ['queue'];
  }

  private pingQueue(): Promise<boolean> {
    return this.queue.check().then(
      () => true,
      () => false,
    );
  }
}
