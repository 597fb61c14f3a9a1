import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import {
  ApiExcludeEndpoint,
  ApiOkResponse,
  ApiOperation,
  ApiServiceUnavailableResponse,
  ApiTags,
  ApiProperty,
} from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { Database } from '../../platform/database/database.js';
import { sendJson } from '../../platform/http/send-body.js';
import { ServiceStop } from '../../platform/time/service-stop.js';
import { within } from '../../platform/time/within.js';
import { WorkQueue } from '../../platform/queue/work-queue.js';

class HealthDto {
  @ApiProperty({ enum: ['ok'] })
  status: 'ok';
}

class ReadinessDto {
  @ApiProperty({
    enum: ['ok', 'unavailable', 'stopping'],
    description: '`stopping`: requests are still answered, but send new ones elsewhere.',
  })
  status: 'ok' | 'unavailable' | 'stopping';

  @ApiProperty({ enum: ['ok', 'unreachable'] })
  database: 'ok' | 'unreachable';

  @ApiProperty({ enum: ['in-process', 'redis'], description: 'Where rate limits are counted.' })
  rate_limits: 'in-process' | 'redis';

  @ApiProperty({
    enum: ['redis', 'database', 'unreachable'],
    description: 'Where the queue of background work is kept.',
  })
  queue: 'redis' | 'database' | 'unreachable';
}

const INDEX = {
  name: 'Model Gateway',
  documentation: '/docs',
  openapi: '/docs-json',
  models: '/v1/models',
  health: '/healthz',
} as const;

const DATABASE_TIMEOUT_MS = 2_000;

/** For orchestrators: whether the process lives, and whether it should get traffic. */
@ApiTags('Operations')
@Controller()
export class HealthController {
  constructor(
    private readonly database: Database,
    private readonly queue: WorkQueue,
    private readonly stop: ServiceStop,
    @Inject(APP_CONFIG) private readonly config: AppConfig,
  ) {}

  /** Leads a browser to the documentation, and tells all others where it is. */
  @Get()
  @ApiExcludeEndpoint()
  index(@Req() request: Request, @Res() response: Response): void {
    response.vary('Accept');
    if (request.accepts(['json', 'html']) === 'html') response.redirect(INDEX.documentation);
    else sendJson(response, 200, INDEX);
  }

  @Get('healthz')
  @ApiOperation({ operationId: 'getHealth', summary: 'Whether the process is alive' })
  @ApiOkResponse({ type: HealthDto })
  health(): HealthDto {
    return { status: 'ok' };
  }

  @Get('readyz')
  @ApiOperation({ operationId: 'getReadiness', summary: 'Whether the service can take traffic' })
  @ApiOkResponse({ type: ReadinessDto })
  @ApiServiceUnavailableResponse({ type: ReadinessDto })
  async readiness(@Res() response: Response): Promise<void> {
    const [hasDatabase, hasQueue] = await Promise.all([this.pingDatabase(), this.pingQueue()]);
    const isReady = hasDatabase && hasQueue && !this.stop.hasBegun;
    const readiness: ReadinessDto = {
      status: this.stop.hasBegun ? 'stopping' : isReady ? 'ok' : 'unavailable',
      database: hasDatabase ? 'ok' : 'unreachable',
      rate_limits: this.config.redisUrl === undefined ? 'in-process' : 'redis',
      queue: hasQueue ? this.queue.kind : 'unreachable',
    };
    sendJson(response, isReady ? 200 : 503, readiness);
  }

  private pingQueue(): Promise<boolean> {
    return this.queue.check().then(
      () => true,
      () => false,
    );
  }

  private pingDatabase(): Promise<boolean> {
    const answered = this.database.lookUps.query('SELECT 1').then(
      () => true,
      () => false,
    );
    return within(DATABASE_TIMEOUT_MS, answered, () => false);
  }
}
