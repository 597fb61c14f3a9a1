import { randomUUID } from 'node:crypto';
import type { Logger } from '@nestjs/common';
import type { HrTime } from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import type { Resource } from '@opentelemetry/resources';
import {
  MeterProvider,
  PeriodicExportingMetricReader,
  type CollectionResult,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace';
import type { Registry } from 'prom-client';
import type { TelemetryConfig } from '../../platform/config/app-config.js';
import { toMetricData } from './prometheus-metrics.js';
import type { SpanDraft } from './span-draft.js';
import { toSpans, serviceResource, TRACE_SCOPE } from './to-spans.js';

/** `ExportResultCode.SUCCESS` of OpenTelemetry's exporters. */
const SUCCESS = 0;

/** Exports the service's own traces and metrics. Loaded only when a collector is configured. */
export interface OperatorExporters {
  /** Undefined when traces are not exported. */
  readonly exportSpans: ((drafts: readonly SpanDraft[]) => void) | undefined;
  /** Flushes and stops. */
  stop(): Promise<void>;
}

export function startExporters(
  config: TelemetryConfig,
  registry: Registry,
  logger: Logger,
): OperatorExporters {
  const resource = serviceResource({ 'service.instance.id': randomUUID(), ...config.resource });
  const { tracesUrl, metricsUrl } = config;
  // Both read other standard settings (timeouts, batch sizes, compression) from the environment.
  const spans =
    tracesUrl === undefined
      ? undefined
      : new BatchSpanProcessor({
          exporter: reportOutages(
            new OTLPTraceExporter({ url: tracesUrl, headers: { ...config.tracesHeaders } }),
            'traces',
            logger,
          ),
        });
  const metrics =
    metricsUrl === undefined
      ? undefined
      : new MeterProvider({
          resource,
          readers: [
            new PeriodicExportingMetricReader({
              exporter: reportOutages(
                new OTLPMetricExporter({ url: metricsUrl, headers: { ...config.metricsHeaders } }),
                'metrics',
                logger,
              ),
              exportIntervalMillis: config.metricsIntervalMs,
              exportTimeoutMillis: Math.min(config.metricsIntervalMs, EXPORT_LIMIT_MS),
              metricProducers: [new RegistryProducer(registry, resource)],
            }),
          ],
        });
  return {
    exportSpans:
      spans && ((drafts) => toSpans(drafts, resource).forEach((span) => spans.onEnd(span))),
    async stop() {
      await Promise.allSettled([spans?.shutdown(), metrics?.shutdown()]);
    },
  };
}

const EXPORT_LIMIT_MS = 30_000;

/** Exposes the service's registry as a metrics source of the SDK. */
class RegistryProducer implements MetricProducer {
  private readonly startTime = now();

  constructor(
    private readonly registry: Registry,
    private readonly resource: Resource,
  ) {}

  async collect(): Promise<CollectionResult> {
    const figures = await this.registry.getMetricsAsJSON();
    const span = { startTime: this.startTime, endTime: now() };
    const metrics = toMetricData(figures, span);
    const scopeMetrics = [{ scope: TRACE_SCOPE, metrics }];
    return { resourceMetrics: { resource: this.resource, scopeMetrics }, errors: [] };
  }
}

function now(): HrTime {
  const ms = Date.now();
  return [Math.floor(ms / 1_000), (ms % 1_000) * 1_000_000];
}

interface ExportResult {
  readonly code: number;
  readonly error?: Error;
}

interface Exporter<Batch> {
  export(batch: Batch, done: (result: ExportResult) => void): void;
}

/**
 * Makes an exporter log the start and end of its collector's outages, once each rather than for
 * every batch.
 *
 * @param what the signal, for the log
 * @returns the same exporter
 */
export function reportOutages<Batch, Kind extends Exporter<Batch>>(
  exporter: Kind & Exporter<Batch>,
  what: string,
  logger: Pick<Logger, 'warn' | 'log'>,
): Kind {
  const send = exporter.export.bind(exporter);
  let isFailing = false;
  exporter.export = (batch, done) =>
    send(batch, (result) => {
      const hasFailed = result.code !== SUCCESS;
      if (hasFailed && !isFailing) {
        logger.warn(`OpenTelemetry export of ${what} failing: ${reasonOf(result)}`);
      } else if (!hasFailed && isFailing) {
        logger.log(`OpenTelemetry export of ${what} recovered`);
      }
      isFailing = hasFailed;
      done(result);
    });
  return exporter;
}

/**
 * Returns the beginning of the message, since a collector's answer may be long and have many lines.
 */
function reasonOf({ error }: ExportResult): string {
  return (error?.message ?? 'no reason given').replace(/\s+/g, ' ').slice(0, 200);
}
