import { IsOptional, MinLength } from 'class-validator';
import { MAX_GRANT_CREDITS, MAX_RATE_LIMIT_PER_MINUTE } from './setting-bounds.js';
import {
  ChoiceVariable,
  FileVariable,
  FlagVariable,
  HeadersVariable,
  IntegerVariable,
  KeyVariable,
  PairsVariable,
  ShareVariable,
  UrlVariable,
  WorkersVariable,
} from './variable.decorators.js';

/** setTimeout's longest delay. */
const MAX_TIMEOUT_MS = 2_147_483_647;

/** A terabyte. */
const MAX_CACHE_BYTES = 1_000_000_000_000;

/** Thirty days. */
const MAX_JOB_SECONDS = 2_592_000;

/** A hundred years. */
const MAX_RETENTION_DAYS = 36_500;

/** The environment as the service reads it: one property per variable, absent when unset. */
const TRACES_SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

export class EnvDto {
  @IntegerVariable(0, 65_535)
  PORT?: number;

  @IsOptional()
  HOST?: string;

  @UrlVariable('http', 'https')
  GATEWAY_PUBLIC_URL?: string;

  @IsOptional()
  GATEWAY_DATA_DIR?: string;

  @UrlVariable('postgres', 'postgresql')
  DATABASE_URL?: string;

  @UrlVariable('redis', 'rediss')
  REDIS_URL?: string;

  @IsOptional()
  S3_BUCKET?: string;

  @UrlVariable('http', 'https')
  S3_ENDPOINT?: string;

  @IsOptional()
  S3_REGION?: string;

  @IsOptional()
  S3_ACCESS_KEY_ID?: string;

  @IsOptional()
  S3_SECRET_ACCESS_KEY?: string;

  @ChoiceVariable('true', 'false')
  S3_REDIRECT?: 'true' | 'false';

  @IsOptional()
  @MinLength(32, { message: 'must have at least 32 characters' })
  GATEWAY_SECRET?: string;

  @KeyVariable('routing')
  GATEWAY_BOOTSTRAP_API_KEY?: string;

  @KeyVariable('management')
  GATEWAY_BOOTSTRAP_MANAGEMENT_KEY?: string;

  @IntegerVariable(0, MAX_GRANT_CREDITS)
  GATEWAY_BOOTSTRAP_CREDITS?: number;

  @IntegerVariable(1, MAX_RATE_LIMIT_PER_MINUTE)
  GATEWAY_BOOTSTRAP_RATE_LIMIT_PER_MINUTE?: number;

  @FileVariable()
  GATEWAY_BOOTSTRAP_FILE?: string;

  @IsOptional()
  OPENAI_API_KEY?: string;

  @UrlVariable('http', 'https')
  OPENAI_BASE_URL?: string;

  @IsOptional()
  ANTHROPIC_API_KEY?: string;

  @UrlVariable('http', 'https')
  ANTHROPIC_BASE_URL?: string;

  @UrlVariable('http', 'https')
  AZURE_OPENAI_ENDPOINT?: string;

  @IsOptional()
  AZURE_OPENAI_API_KEY?: string;

  @IsOptional()
  AZURE_OPENAI_API_VERSION?: string;

  @IsOptional()
  AWS_REGION?: string;

  @IsOptional()
  AWS_ACCESS_KEY_ID?: string;

  @IsOptional()
  AWS_SECRET_ACCESS_KEY?: string;

  @IsOptional()
  AWS_SESSION_TOKEN?: string;

  @UrlVariable('http', 'https')
  AWS_BEDROCK_ENDPOINT?: string;

  @IsOptional()
  GOOGLE_CLOUD_PROJECT?: string;

  @IsOptional()
  VERTEX_LOCATION?: string;

  @UrlVariable('http', 'https')
  VERTEX_BASE_URL?: string;

  @IsOptional()
  VERTEX_ACCESS_TOKEN?: string;

  @IsOptional()
  FISH_AUDIO_API_KEY?: string;

  @UrlVariable('http', 'https')
  FISH_AUDIO_BASE_URL?: string;

  @ChoiceVariable('true', 'false')
  GATEWAY_ALLOW_PRIVATE_DESTINATIONS?: 'true' | 'false';

  @FileVariable()
  GATEWAY_PROVIDERS?: string;

  @FileVariable()
  GATEWAY_CATALOGUE?: string;

  @ChoiceVariable('true', 'false')
  GATEWAY_SANDBOX?: 'true' | 'false';

  @IntegerVariable(0, 100)
  GATEWAY_BYOK_FEE_PERCENT?: number;

  @IntegerVariable(1, MAX_TIMEOUT_MS)
  GATEWAY_CONNECT_TIMEOUT_MS?: number;

  @IntegerVariable(1, MAX_TIMEOUT_MS)
  GATEWAY_FIRST_BYTE_TIMEOUT_MS?: number;

  @IntegerVariable(1, MAX_TIMEOUT_MS)
  GATEWAY_IDLE_TIMEOUT_MS?: number;

  @IntegerVariable(1, MAX_TIMEOUT_MS)
  GATEWAY_REQUEST_TIMEOUT_MS?: number;

  @IntegerVariable(0, MAX_TIMEOUT_MS)
  GATEWAY_COOLDOWN_MS?: number;

  @IntegerVariable(0, MAX_TIMEOUT_MS)
  GATEWAY_HEALTH_CACHE_MS?: number;

  @IntegerVariable(0, MAX_CACHE_BYTES)
  GATEWAY_CACHE_MAX_BYTES?: number;

  @IntegerVariable(10, MAX_TIMEOUT_MS)
  GATEWAY_JOB_POLL_MS?: number;

  @IntegerVariable(1, MAX_JOB_SECONDS)
  GATEWAY_JOB_DEADLINE_SECONDS?: number;

  @IntegerVariable(1, MAX_JOB_SECONDS)
  GATEWAY_ARTIFACT_TTL_SECONDS?: number;

  @IntegerVariable(1, 1_000)
  GATEWAY_JOB_CONCURRENCY?: number;

  @ChoiceVariable('before-end', 'after-response')
  GATEWAY_SETTLE?: 'before-end' | 'after-response';

  @ChoiceVariable('any', 'management')
  GATEWAY_CUSTOMER_WRITES?: 'any' | 'management';

  @IsOptional()
  @MinLength(16, { message: 'must have at least 16 characters' })
  GATEWAY_METRICS_TOKEN?: string;

  @ChoiceVariable('true', 'false')
  GATEWAY_JOB_WORKERS?: 'true' | 'false';

  @WorkersVariable()
  WORKERS?: number;

  @IntegerVariable(0, 86_400)
  GATEWAY_DRAIN_SECONDS?: number;

  @IntegerVariable(0, MAX_RETENTION_DAYS)
  GATEWAY_RESPONSE_RETENTION_DAYS?: number;

  @IntegerVariable(0, MAX_RETENTION_DAYS)
  GATEWAY_LOG_RETENTION_DAYS?: number;

  @UrlVariable('http', 'https')
  OTEL_EXPORTER_OTLP_ENDPOINT?: string;

  @UrlVariable('http', 'https')
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?: string;

  @UrlVariable('http', 'https')
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT?: string;

  @HeadersVariable()
  OTEL_EXPORTER_OTLP_HEADERS?: string;

  @HeadersVariable()
  OTEL_EXPORTER_OTLP_TRACES_HEADERS?: string;

  @HeadersVariable()
  OTEL_EXPORTER_OTLP_METRICS_HEADERS?: string;

  @ChoiceVariable('http/protobuf')
  OTEL_EXPORTER_OTLP_PROTOCOL?: 'http/protobuf';

  @ChoiceVariable('http/protobuf')
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL?: 'http/protobuf';

  @ChoiceVariable('http/protobuf')
  OTEL_EXPORTER_OTLP_METRICS_PROTOCOL?: 'http/protobuf';

  @ChoiceVariable('otlp', 'none')
  OTEL_TRACES_EXPORTER?: 'otlp' | 'none';

  @ChoiceVariable('otlp', 'none')
  OTEL_METRICS_EXPORTER?: 'otlp' | 'none';

  @ChoiceVariable(...TRACES_SAMPLERS)
  OTEL_TRACES_SAMPLER?: (typeof TRACES_SAMPLERS)[number];

  @ShareVariable()
  OTEL_TRACES_SAMPLER_ARG?: number;

  @IntegerVariable(100, MAX_TIMEOUT_MS)
  OTEL_METRIC_EXPORT_INTERVAL?: number;

  @FlagVariable()
  OTEL_SDK_DISABLED?: 'true' | 'false';

  @IsOptional()
  OTEL_SERVICE_NAME?: string;

  @PairsVariable()
  OTEL_RESOURCE_ATTRIBUTES?: string;
}
