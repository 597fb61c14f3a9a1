import { Controller, Get, Inject, Res } from '@nestjs/common';
import {
  ApiOkResponse,
  ApiOperation,
  ApiServiceUnavailableResponse,
  ApiTags,
} from '@nestjs/swagger';
import type { Response } from 'express';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { Database } from '../../platform/database/database.js';
import { sendJson } from '../../platform/http/send-json.js';
import { WorkQueue } from '../../platform/queue/work-queue.js';
import { HealthDto, ReadinessDto } from './health.dto.js';

const DATABASE_TIMEOUT_MS = 2_000;

/** For orchestrators: whether the process lives, and whether it should get traffic. */
@ApiTags('Operations')
@Controller()
export class HealthController {
  constructor(
    private readonly database: Database,
    private readonly queue: WorkQueue,
    @Inject(APP_CONFIG) private readonly config: AppConfig,
  ) {}

  @Get('healthz')
  @ApiOperation({ summary: 'Whether the process is alive' })
  @ApiOkResponse({ type: HealthDto })
  health(): HealthDto {
    return { status: 'ok' };
  }

  @Get('readyz')
  @ApiOperation({ summary: 'Whether the service can take traffic' })
  @ApiOkResponse({ type: ReadinessDto })
  @ApiServiceUnavailableResponse({ type: ReadinessDto })
  async readiness(@Res() response: Response): Promise<void> {
    const [hasDatabase, hasQueue] = await Promise.all([this.pingDatabase(), this.pingQueue()]);
    const isReady = hasDatabase && hasQueue;
    const readiness: ReadinessDto = {
      status: isReady ? 'ok' : 'unavailable',
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

  private async pingDatabase(): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(resolve, DATABASE_TIMEOUT_MS, false);
    });
    const answered = this.database.lookUps.query('SELECT 1').then(
      () => true,
      () => false,
    );
    try {
      return await Promise.race([answered, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}
