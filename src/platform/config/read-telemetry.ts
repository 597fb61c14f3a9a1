import type { TelemetryConfig, TracesSampler } from './app-config.js';
import type { EnvDto } from './env.dto.js';
import { withoutTrailingSlash } from './is-url.js';
import { readPairs } from './read-pairs.js';

const METRICS_INTERVAL_MS = 60_000;

/** The operator's collector by the standard variables; undefined when none names one. */
export function readTelemetry(env: EnvDto): TelemetryConfig | undefined {
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

function samplerOf(env: EnvDto): TracesSampler {
  const name = env.OTEL_TRACES_SAMPLER ?? 'parentbased_always_on';
  const followsParent = name.startsWith('parentbased_');
  if (name.endsWith('always_on')) return { followsParent, ratio: 1 };
  if (name.endsWith('always_off')) return { followsParent, ratio: 0 };
  return { followsParent, ratio: env.OTEL_TRACES_SAMPLER_ARG ?? 1 };
}

function headersOf(env: EnvDto, own: string | undefined): Record<string, string> {
  return { ...readPairs(env.OTEL_EXPORTER_OTLP_HEADERS ?? ''), ...readPairs(own ?? '') };
}
