import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { within } from '../../platform/time/within.js';
import { GatewayMetrics } from '../../platform/metrics/gateway-metrics.js';
import { draftSpans } from './draft-spans.js';
import type { OperatorExporters } from './operator-exporters.js';
import type { RecordedTrace, TraceInterest, TraceSink, TraceSubject } from './recorded-trace.js';
import { isExported } from './sampling.js';
import { TracingService } from './tracing.service.js';
import { messageOf } from '../../platform/errors/thrown.js';

/** Time limit of the flush at shutdown. */
const STOP_LIMIT_MS = 3_000;

/**
 * Exports the service's own traces and metrics to the operator's collector, if `OTEL_*` variables
 * name one. Without them loads no SDK. Never exports callers' texts.
 */
@Injectable()
export class OperatorTelemetryService
  implements TraceSink, OnApplicationBootstrap, BeforeApplicationShutdown
{
  private readonly logger = new Logger(OperatorTelemetryService.name);
  private exporters: OperatorExporters | undefined;

  constructor(
    @Inject(APP_CONFIG) private readonly config: Pick<AppConfig, 'telemetry'>,
    private readonly metrics: GatewayMetrics,
    private readonly tracing: TracingService,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { telemetry } = this.config;
    if (!telemetry) return;
    const { startExporters } = await import('./operator-exporters.js');
    this.exporters = startExporters(telemetry, this.metrics.registry, this.logger);
    if (this.exporters.exportSpans) this.tracing.addSink(this);
  }

  async beforeApplicationShutdown(): Promise<void> {
    if (!this.exporters) return;
    // The trace of a finished answer arrives one turn later.
    await nextTurn();
    await within(STOP_LIMIT_MS, this.exporters.stop(), () => undefined);
  }

  interestIn({ context }: TraceSubject): TraceInterest {
    const sampler = this.config.telemetry?.sampler;
    return sampler && isExported(context(), sampler) ? 'figures' : 'none';
  }

  accept(trace: RecordedTrace): void {
    const { exporters } = this;
    if (!exporters?.exportSpans) return;
    try {
      exporters.exportSpans(draftSpans(trace, { audience: 'operator', includeContent: false }));
    } catch (error) {
      this.logger.error(`trace not exported: ${messageOf(error)}`);
    }
  }
}
