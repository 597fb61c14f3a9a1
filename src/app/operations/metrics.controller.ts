import { createHash, timingSafeEqual } from 'node:crypto';
import { Controller, Get, Headers, Inject, Req, Res } from '@nestjs/common';
import {
  ApiOkResponse,
  ApiOperation,
  ApiServiceUnavailableResponse,
  ApiTags,
} from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { ApiErrorResponse } from '../../platform/errors/error-response.js';
import {
  AuthenticationError,
  DATABASE_RETRY_AFTER_SECONDS,
  NotFoundError,
} from '../../platform/errors/gateway-errors.js';
import { InstanceService } from '../../core/ledger/instance.service.js';
import { ClusterMetrics } from './cluster-metrics.js';

/** Metrics for Prometheus. */
@ApiTags('Operations')
@Controller('metrics')
export class MetricsController {
  constructor(
    private readonly metrics: ClusterMetrics,
    private readonly instance: InstanceService,
    @Inject(APP_CONFIG) private readonly config: AppConfig,
  ) {}

  @Get()
  @ApiOperation({
    operationId: 'getMetrics',
    summary: 'Metrics in the Prometheus text format',
    description: 'Needs `Authorization: Bearer <GATEWAY_METRICS_TOKEN>` when that is set.',
  })
  @ApiOkResponse({ content: { 'text/plain': { schema: { type: 'string' } } } })
  @ApiErrorResponse(401, 'The metrics token is missing or wrong.')
  @ApiServiceUnavailableResponse({
    description: 'The database is unavailable. The body contains the metrics of this process.',
    content: { 'text/plain': { schema: { type: 'string' } } },
  })
  async read(
    @Headers('authorization') authorization = '',
    @Req() { originalUrl }: Request,
    @Res() response: Response,
  ): Promise<void> {
    // Proxies block `/metrics` but not what Express treats alike, such as `/metrics/` or `/metrics#`.
    if (originalUrl.split('?', 1)[0] !== '/metrics')
      throw new NotFoundError('path', 'There is nothing at this path. Use /metrics.');
    const { metricsToken } = this.config;
    if (metricsToken !== undefined && !equal(authorization, `Bearer ${metricsToken}`)) {
      throw new AuthenticationError('Send the metrics token: `Authorization: Bearer <token>`.');
    }
    const { contentType, text } = await this.metrics.read();
    // Checked afterwards, because readings have gaps once the database stops responding.
    const database = await this.instance.check();
    // The process's own metrics are returned anyway.
    const isDown = database === 'silent' || database === 'unreachable';
    if (isDown) response.setHeader('Retry-After', String(DATABASE_RETRY_AFTER_SECONDS));
    response.writeHead(isDown ? 503 : 200, { 'content-type': contentType });
    response.end(text);
  }
}

/** Compares hashes, so that timing reveals neither content nor length. */
function equal(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
