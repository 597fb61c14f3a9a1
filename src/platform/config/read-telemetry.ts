import { IsOptional } from 'class-validator';
import type { TelemetryConfig, TracesSampler } from './app-config.js';
import { MAX_TIMEOUT_MS, withoutTrailingSlash, readPairs } from './setting-values.js';
import {
  ChoiceVariable,
  FlagVariable,
  HeadersVariable,
  IntegerVariable,
  PairsVariable,
  ShareVariable,
  UrlVariable,
  Describe,
} from './variable.decorators.js';

const METRICS_INTERVAL_MS = 60_000;

const TRACES_SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** The standard OpenTelemetry variables. */
export class TelemetryEnv {
  @Describe(
    "OTLP endpoint for the service's own traces and metrics; see [broadcast.md](broadcast.md)",
    {
      without: 'nothing is exported',
      example: 'http://collector:4318',
    },
  )
  @UrlVariable('http', 'https')
  OTEL_EXPORTER_OTLP_ENDPOINT?: string;

  @Describe('Full URL for traces', {
    without: '`/v1/traces` at the endpoint',
    example: 'http://collector:4318/v1/traces',
  })
  @UrlVariable('http', 'https')
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?: string;

  @Describe('Full URL for metrics', {
    without: '`/v1/metrics` at the endpoint',
    example: 'http://collector:4318/v1/metrics',
  })
  @UrlVariable('http', 'https')
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT?: string;

  @Describe('Headers for every export', { example: 'authorization=Bearer%20token', isSecret: true })
  @HeadersVariable()
  OTEL_EXPORTER_OTLP_HEADERS?: string;

  @Describe('Additional headers for traces', { example: 'x-team=gateway', isSecret: true })
  @HeadersVariable()
  OTEL_EXPORTER_OTLP_TRACES_HEADERS?: string;

  @Describe('Additional headers for metrics', { example: 'x-team=gateway', isSecret: true })
  @HeadersVariable()
  OTEL_EXPORTER_OTLP_METRICS_HEADERS?: string;

  @Describe('Protocol; only `http/protobuf`', {
    default: 'http/protobuf',
    example: 'http/protobuf',
  })
  @ChoiceVariable('http/protobuf')
  OTEL_EXPORTER_OTLP_PROTOCOL?: 'http/protobuf';

  @Describe('Protocol for traces; only `http/protobuf`', {
    default: 'http/protobuf',
    example: 'http/protobuf',
  })
  @ChoiceVariable('http/protobuf')
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL?: 'http/protobuf';

  @Describe('Protocol for metrics; only `http/protobuf`', {
    default: 'http/protobuf',
    example: 'http/protobuf',
  })
  @ChoiceVariable('http/protobuf')
  OTEL_EXPORTER_OTLP_METRICS_PROTOCOL?: 'http/protobuf';

  @Describe('`none` disables trace export', { default: 'otlp', example: 'none' })
  @ChoiceVariable('otlp', 'none')
  OTEL_TRACES_EXPORTER?: 'otlp' | 'none';

  @Describe('`none` disables metric export', { default: 'otlp', example: 'none' })
  @ChoiceVariable('otlp', 'none')
  OTEL_METRICS_EXPORTER?: 'otlp' | 'none';

  @Describe('Trace sampler', {
    default: 'parentbased_always_on',
    example: 'parentbased_traceidratio',
  })
  @ChoiceVariable(...TRACES_SAMPLERS)
  OTEL_TRACES_SAMPLER?: (typeof TRACES_SAMPLERS)[number];

  @Describe('Share of traces exported by a ratio sampler', { default: '1', example: '0.1' })
  @ShareVariable()
  OTEL_TRACES_SAMPLER_ARG?: number;

  @Describe('Metric export interval in milliseconds', { default: '60000', example: '10000' })
  @IntegerVariable(100, MAX_TIMEOUT_MS)
  OTEL_METRIC_EXPORT_INTERVAL?: number;

  @Describe('`true` disables all export', { default: 'false', example: 'true' })
  @FlagVariable()
  OTEL_SDK_DISABLED?: 'true' | 'false';

  @Describe('The exported service name', {
    without: '`model-gateway`',
    example: 'gateway-eu',
  })
  @IsOptional()
  OTEL_SERVICE_NAME?: string;

  @Describe('Additional resource attributes', { example: 'deployment.environment=production' })
  @PairsVariable()
  OTEL_RESOURCE_ATTRIBUTES?: string;
}

/** Returns the collector that the variables name; undefined without one. */
export function readTelemetry(env: TelemetryEnv): TelemetryConfig | undefined {
  if (env.OTEL_SDK_DISABLED === 'true') return undefined;
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  const urlOf = (own: string | undefined, path: string): string | undefined =>
    own ?? (base && `${withoutTrailingSlash(base)}${path}`);
  const tracesUrl = urlOf(env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, '/v1/traces');
  const metricsUrl = urlOf(env.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT, '/v1/metrics');
  const config = {
    tracesUrl: env.OTEL_TRACES_EXPORTER === 'none' ? undefined : tracesUrl,
    metricsUrl: env.OTEL_METRICS_EXPORTER === 'none' ? undefined : metricsUrl,
    tracesHeaders: headersOf(env, env.OTEL_EXPORTER_OTLP_TRACES_HEADERS),
    metricsHeaders: headersOf(env, env.OTEL_EXPORTER_OTLP_METRICS_HEADERS),
    metricsIntervalMs: env.OTEL_METRIC_EXPORT_INTERVAL ?? METRICS_INTERVAL_MS,
    sampler: samplerOf(env),
    resource: {
      ...readPairs(env.OTEL_RESOURCE_ATTRIBUTES ?? ''),
      ...(env.OTEL_SERVICE_NAME && { 'service.name': env.OTEL_SERVICE_NAME }),
    },
  };
  return (config.tracesUrl ?? config.metricsUrl) ? config : undefined;
}

function samplerOf(env: TelemetryEnv): TracesSampler {
  const name = env.OTEL_TRACES_SAMPLER ?? 'parentbased_always_on';
  const followsParent = name.startsWith('parentbased_');
  if (name.endsWith('always_on')) return { followsParent, ratio: 1 };
  if (name.endsWith('always_off')) return { followsParent, ratio: 0 };
  return { followsParent, ratio: env.OTEL_TRACES_SAMPLER_ARG ?? 1 };
}

function headersOf(env: TelemetryEnv, own: string | undefined): Record<string, string> {
  return { ...readPairs(env.OTEL_EXPORTER_OTLP_HEADERS ?? ''), ...readPairs(own ?? '') };
}
