import {
  BooleanField,
  DateTimeField,
  EnumField,
  IntegerField,
  MapField,
  NumberField,
  StringField,
} from '../../platform/http/field.decorators.js';
import {
  ObjectField,
  ObjectListField,
  StringListField,
} from '../../platform/http/nested-field.decorators.js';
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
  @IntegerField({ description: 'Median, in milliseconds.', example: 120 })
  latency_p50: number;

  @IntegerField({ description: 'Milliseconds.', example: 180 })
  latency_p99: number;

  @NumberField({ description: 'Share of failed probes in 10 s, 0 to 1.', example: 0 })
  error_rate: number;

  @DateTimeField({ description: 'When the provider was last probed.' })
  last_checked_at: string;
}

/** Calls over shared capacity in the last half-hour, over all models and instances. */
export class MeasuredProviderDto {
  @IntegerField({ description: 'Calls, including failed ones.', example: 1_204 })
  calls: number;

  @NumberField({ description: 'Percentage of answered calls.', example: 99.9 })
  uptime: number;

  @IntegerField({
    nullable: true,
    description:
      'Mean milliseconds to the first content, or to the end of answers that are not streamed.',
    example: 340,
  })
  latency_mean: number | null;

  @NumberField({
    nullable: true,
    description: 'Output tokens per second from call to end, over all answers.',
    example: 71.4,
  })
  throughput: number | null;

  @NumberField({
    nullable: true,
    description: 'Share of the prompt tokens that the vendor read from its cache, 0 to 1.',
    example: 0.62,
  })
  cache_hit_rate: number | null;
}

/** One of the operator's accounts, without its credentials. */
class ProviderAccountDto {
  @StringField({ example: 'eu-west' })
  id: string;

  @EnumField(ACCOUNT_STATES, {
    description:
      'State on the answering instance. `limited`: its budget for this minute is spent. `cooling`: the vendor asked to wait. `open`: it fails or was rejected.',
    example: 'healthy',
  })
  state: AccountState;
}

export class ProviderDto {
  @StringField({ example: 'openai' })
  id: string;

  @StringField({ example: 'OpenAI' })
  name: string;

  @EnumField(PROVIDER_TYPES, { description: 'The vendor kind whose API it follows.' })
  type: ProviderType;

  @EnumField(['healthy', 'degraded', 'unhealthy', 'unknown'], {
    description: '`unknown` unless `include_health=true`.',
  })
  status: ProviderStatus;

  @IntegerField({ description: 'Models whose primary route is at this provider.' })
  models_count: number;

  @ObjectListField(ProviderAccountDto, {
    optional: true,
    description: 'Only for providers with several accounts.',
  })
  accounts?: ProviderAccountDto[] | undefined;

  @ObjectField(MeasuredProviderDto, {
    optional: true,
    description: 'Measurements of the last half-hour; absent without calls.',
  })
  measured?: MeasuredProviderDto;

  @ObjectField(ProviderHealthDto, {
    optional: true,
    description: 'Only with `include_health=true`.',
  })
  health?: ProviderHealthDto;
}

export class ProviderListDto {
  @ObjectListField(ProviderDto)
  data: ProviderDto[];
}

export class ArchitectureDto implements Architecture {
  @StringField({ example: 'text+image->text' })
  modality: string;

  @StringListField({ example: ['text', 'image'] })
  input_modalities: string[];

  @StringListField({ example: ['text'] })
  output_modalities: string[];

  @StringField({ example: 'GPT' })
  tokenizer: string;
}

class TopProviderDto {
  @IntegerField({ example: 128000 })
  context_length: number;

  @IntegerField({ nullable: true, example: 16384 })
  max_completion_tokens: number | null;

  @BooleanField()
  is_moderated: boolean;
}

export const MODEL_ROUTE_STATES = [...ROUTE_STATES, 'paused'] as const;

/** A route of a model. */
export class ModelRouteDto {
  @StringField({ description: 'Id of the provider.', example: 'sandbox' })
  provider: string;

  @StringField({ example: 'Sandbox' })
  provider_name: string;

  @EnumField(MODEL_ROUTE_STATES, {
    description:
      'From requests of the last minutes. `cooling`: the provider asked to wait. `open`: it failed too often. ' +
      '`paused`: by the operator.',
    example: 'healthy',
  })
  state: (typeof MODEL_ROUTE_STATES)[number];

  @BooleanField({ description: 'Whether it uses your BYOK account.', example: false })
  is_own_account: boolean;
}

export class ModelDto extends PriceTiersDto {
  @StringField({ description: 'Alias `<provider>/<model>`.', example: 'sandbox/echo' })
  id: string;

  @EnumField(['model'])
  object: 'model';

  @IntegerField({ description: 'Unix seconds.' })
  created: number;

  @StringField({ example: 'sandbox' })
  owned_by: string;

  @StringField()
  name: string;

  @StringField()
  description: string;

  @IntegerField({ example: 128000 })
  context_length: number;

  @ObjectField(PricingDto)
  pricing: PricingDto;

  @ObjectListField(PriceChangeDto, {
    optional: true,
    description: 'Announced future prices.',
  })
  price_changes?: PriceChangeDto[];

  @StringField({ optional: true, description: 'Source of the prices.' })
  source?: string;

  @StringField({
    optional: true,
    description: 'Date on which the source was read.',
    example: '2026-11-23',
  })
  as_of?: string;

  @ObjectField(ArchitectureDto, { nullable: true, description: 'Null for embedding models.' })
  architecture: ArchitectureDto | null;

  @ObjectField(TopProviderDto)
  top_provider: TopProviderDto;

  @StringListField({ example: ['temperature', 'max_tokens', 'stream'] })
  supported_parameters: string[];

  @MapField(true, { nullable: true, example: null })
  per_request_limits: null;

  @EnumField(MODEL_KINDS, { optional: true, description: 'Only with `include_routes=true`.' })
  kind?: ModelKind;

  @ObjectListField(ModelRouteDto, {
    optional: true,
    description: 'In the order of attempts. Only with `include_routes=true`.',
  })
  routes?: ModelRouteDto[];
}

export class ModelListDto {
  @EnumField(['list'])
  object: 'list';

  @ObjectListField(ModelDto)
  data: ModelDto[];
}

class ModelLinksDto {
  @StringField({ example: '/api/v1/models/sandbox/echo' })
  details: string;
}

/** A model with every field that clients of OpenRouter's API require. */
export class CompatibleModelDto extends ModelDto {
  @StringField({ example: 'sandbox/echo' })
  canonical_slug: string;

  @ObjectField(ArchitectureDto, { description: 'Set for embedding models as well.' })
  declare architecture: ArchitectureDto;

  @MapField(true, { nullable: true, example: null })
  default_parameters: null;

  @ObjectField(ModelLinksDto)
  links: ModelLinksDto;

  @StringListField({ nullable: true, example: null })
  supported_voices: null;
}

class PageLinksDto {
  @StringField({ nullable: true, description: 'Null: lists have one page.', example: null })
  next: null;
}

export class CompatibleModelListDto {
  @EnumField(['list'])
  object: 'list';

  @ObjectListField(CompatibleModelDto)
  data: CompatibleModelDto[];

  @ObjectField(PageLinksDto)
  links: PageLinksDto;

  @IntegerField()
  total_count: number;
}

/** Shown as the architecture of embedding models where the shape requires one. */
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
