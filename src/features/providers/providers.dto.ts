import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  MODEL_KINDS,
  type Architecture,
  type ModelKind,
} from '../../core/catalogue/catalogue.types.js';
import { ACCOUNT_STATES, type AccountState } from '../../core/routing/pool/account-figures.js';
import { ROUTE_STATES } from '../../core/routing/route-health.js';
import { PROVIDER_TYPES, type ProviderType } from '../../platform/config/app-config.js';
import { PriceChangeDto, PricingDto, PriceTiersDto } from './prices.dto.js';
import type { ProviderStatus } from '../../core/routing/provider-status.js';

export class ProviderHealthDto {
  @ApiProperty({ type: 'integer', description: 'Milliseconds, the median.', example: 120 })
  latency_p50: number;

  @ApiProperty({ type: 'integer', description: 'Milliseconds.', example: 180 })
  latency_p99: number;

  @ApiProperty({ description: 'Failed probes of all within 10 s, 0 to 1.', example: 0 })
  error_rate: number;

  @ApiProperty({ format: 'date-time', description: 'When the provider was last probed.' })
  last_checked_at: string;
}

/** Of calls by shared capacity, all models and instances together, in the last half-hour. */
export class MeasuredProviderDto {
  @ApiProperty({ type: 'integer', description: 'Answered and failed.', example: 1_204 })
  calls: number;

  @ApiProperty({ description: 'Percent of them that were answered.', example: 99.9 })
  uptime: number;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Milliseconds to the first content, the mean; of whole answers to their end.',
    example: 340,
  })
  latency_mean: number | null;

  @ApiProperty({
    type: Number,
    nullable: true,
    description: 'Tokens of output a second, from calls to their ends, of all answers together.',
    example: 71.4,
  })
  throughput: number | null;

  @ApiProperty({
    type: Number,
    nullable: true,
    description: 'Share of the prompt tokens that the vendor read from its cache, 0 to 1.',
    example: 0.62,
  })
  cache_hit_rate: number | null;
}

/** One of several accounts of the operator's; nothing of what opens it is shown. */
class ProviderAccountDto {
  @ApiProperty({ example: 'eu-west' })
  id: string;

  @ApiProperty({
    enum: ACCOUNT_STATES,
    description:
      'As the instance that answers knows: `limited` has used up its minute, `cooling` was told to wait, `open` fails or was refused.',
    example: 'healthy',
  })
  state: AccountState;
}

export class ProviderDto {
  @ApiProperty({ example: 'openai' })
  id: string;

  @ApiProperty({ example: 'OpenAI' })
  name: string;

  @ApiProperty({ enum: PROVIDER_TYPES, description: 'The vendor kind whose API it follows.' })
  type: ProviderType;

  @ApiProperty({
    enum: ['healthy', 'degraded', 'unhealthy', 'unknown'],
    description: '`unknown` unless `include_health=true`.',
  })
  status: ProviderStatus;

  @ApiProperty({ type: 'integer', description: 'Models whose primary route is at this provider.' })
  models_count: number;

  @ApiPropertyOptional({
    type: [ProviderAccountDto],
    description: 'Only where requests are spread among several.',
  })
  accounts?: ProviderAccountDto[] | undefined;

  @ApiPropertyOptional({
    type: MeasuredProviderDto,
    description: 'What calls of the last half-hour showed; absent where there were none.',
  })
  measured?: MeasuredProviderDto;

  @ApiPropertyOptional({ type: ProviderHealthDto, description: 'Only with `include_health=true`.' })
  health?: ProviderHealthDto;
}

export class ProviderListDto {
  @ApiProperty({ type: [ProviderDto] })
  data: ProviderDto[];
}

export class ArchitectureDto implements Architecture {
  @ApiProperty({ example: 'text+image->text' })
  modality: string;

  @ApiProperty({ type: [String], example: ['text', 'image'] })
  input_modalities: string[];

  @ApiProperty({ type: [String], example: ['text'] })
  output_modalities: string[];

  @ApiProperty({ example: 'GPT' })
  tokenizer: string;
}

class TopProviderDto {
  @ApiProperty({ type: 'integer', example: 128000 })
  context_length: number;

  @ApiProperty({ type: 'integer', nullable: true, example: 16384 })
  max_completion_tokens: number | null;

  @ApiProperty()
  is_moderated: boolean;
}

export const MODEL_ROUTE_STATES = [...ROUTE_STATES, 'paused'] as const;

/** Who serves a model. */
export class ModelRouteDto {
  @ApiProperty({ description: 'Id of the provider.', example: 'sandbox' })
  provider: string;

  @ApiProperty({ example: 'Sandbox' })
  provider_name: string;

  @ApiProperty({
    enum: MODEL_ROUTE_STATES,
    description:
      'What requests of the last minutes say: `cooling`: the provider asked to wait; `open`: it failed too often; ' +
      '`paused`: by the operator.',
    example: 'healthy',
  })
  state: (typeof MODEL_ROUTE_STATES)[number];

  @ApiProperty({ description: 'Whether it is by an account of your own.', example: false })
  is_own_account: boolean;
}

export class ModelDto extends PriceTiersDto {
  @ApiProperty({ description: 'Alias `<provider>/<model>`.', example: 'sandbox/echo' })
  id: string;

  @ApiProperty({ enum: ['model'] })
  object: 'model';

  @ApiProperty({ type: 'integer', description: 'Unix seconds.' })
  created: number;

  @ApiProperty({ example: 'sandbox' })
  owned_by: string;

  @ApiProperty()
  name: string;

  @ApiProperty()
  description: string;

  @ApiProperty({ type: 'integer', example: 128000 })
  context_length: number;

  @ApiProperty({ type: PricingDto })
  pricing: PricingDto;

  @ApiPropertyOptional({
    type: [PriceChangeDto],
    description: 'Prices that are known to hold from a day to come.',
  })
  price_changes?: PriceChangeDto[];

  @ApiPropertyOptional({ description: 'Where the prices are from.' })
  source?: string;

  @ApiPropertyOptional({
    description: 'The day on which they were read there.',
    example: '2026-11-23',
  })
  as_of?: string;

  @ApiProperty({ type: ArchitectureDto, nullable: true, description: 'Null for embedding models.' })
  architecture: ArchitectureDto | null;

  @ApiProperty({ type: TopProviderDto })
  top_provider: TopProviderDto;

  @ApiProperty({ type: [String], example: ['temperature', 'max_tokens', 'stream'] })
  supported_parameters: string[];

  @ApiProperty({ type: 'object', additionalProperties: true, nullable: true, example: null })
  per_request_limits: null;

  @ApiPropertyOptional({ enum: MODEL_KINDS, description: 'Only with `include_routes=true`.' })
  kind?: ModelKind;

  @ApiPropertyOptional({
    type: [ModelRouteDto],
    description: 'In the order in which they are tried; only with `include_routes=true`.',
  })
  routes?: ModelRouteDto[];
}

export class ModelListDto {
  @ApiProperty({ enum: ['list'] })
  object: 'list';

  @ApiProperty({ type: [ModelDto] })
  data: ModelDto[];
}

class ModelLinksDto {
  @ApiProperty({ example: '/api/v1/models/sandbox/echo' })
  details: string;
}

/** A model with all that clients of OpenRouter's API insist on. */
export class CompatibleModelDto extends ModelDto {
  @ApiProperty({ example: 'sandbox/echo' })
  canonical_slug: string;

  @ApiProperty({ type: ArchitectureDto, description: 'Of embedding models as well.' })
  declare architecture: ArchitectureDto;

  @ApiProperty({ type: 'object', additionalProperties: true, nullable: true, example: null })
  default_parameters: null;

  @ApiProperty({ type: ModelLinksDto })
  links: ModelLinksDto;

  @ApiProperty({ type: [String], nullable: true, example: null })
  supported_voices: null;
}

class PageLinksDto {
  @ApiProperty({ type: String, nullable: true, description: 'Lists are whole.', example: null })
  next: null;
}

export class CompatibleModelListDto {
  @ApiProperty({ enum: ['list'] })
  object: 'list';

  @ApiProperty({ type: [CompatibleModelDto] })
  data: CompatibleModelDto[];

  @ApiProperty({ type: PageLinksDto })
  links: PageLinksDto;

  @ApiProperty({ type: 'integer' })
  total_count: number;
}

/** What an embedding model's architecture is shown as where there has to be one. */
export const EMBEDDING: ArchitectureDto = {
  modality: 'text->embeddings',
  input_modalities: ['text'],
  output_modalities: ['embeddings'],
  tokenizer: 'Other',
};

export function toCompatibleModel(model: ModelDto): CompatibleModelDto {
  return {
    ...model,
    canonical_slug: model.id,
    architecture: model.architecture ?? EMBEDDING,
    default_parameters: null,
    links: { details: `/api/v1/models/${model.id}` },
    supported_voices: null,
  };
}

export function toCompatibleList(models: readonly ModelDto[]): CompatibleModelListDto {
  return {
    object: 'list',
    data: models.map(toCompatibleModel),
    links: { next: null },
    total_count: models.length,
  };
}
