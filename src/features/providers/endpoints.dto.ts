import {
  BooleanField,
  EnumField,
  IntegerField,
  NumberField,
  StringField,
} from '../../platform/http/field.decorators.js';
import {
  ObjectField,
  ObjectListField,
  StringListField,
} from '../../platform/http/nested-field.decorators.js';
import { PercentilesDto } from '../../core/routing/percentiles.dto.js';
import { PricingDto } from './prices.dto.js';
import { ArchitectureDto, MODEL_ROUTE_STATES } from './providers.dto.js';

class ToolChoiceSupportDto {
  @BooleanField()
  auto: boolean;

  @BooleanField()
  function: boolean;

  @BooleanField()
  none: boolean;

  @BooleanField()
  required: boolean;
}

class DescribedArchitectureDto extends ArchitectureDto {
  @StringField({ nullable: true, description: 'Always null: unknown.', example: null })
  instruct_type: null;
}

/** States as numbers, from OpenRouter's API. */
export const ENDPOINT_STATUSES = { healthy: 0, cooling: -1, open: -2, paused: -5 } as const;

/** A provider of a model, over shared capacity or the caller's BYOK account. */
export class EndpointDto {
  @StringField({ example: 'Sandbox | sandbox/echo' })
  name: string;

  @StringField({ example: 'sandbox/echo' })
  model_id: string;

  @StringField({ example: 'Echo' })
  model_name: string;

  @StringField({ example: 'Sandbox' })
  provider_name: string;

  @StringField({ description: 'Provider id, as in `provider.only`.', example: 'sandbox' })
  tag: string;

  @IntegerField({ example: 128_000 })
  context_length: number;

  @IntegerField({ nullable: true, example: 16_384 })
  max_completion_tokens: number | null;

  @IntegerField({ nullable: true, example: null })
  max_prompt_tokens: null;

  @StringField({ nullable: true, description: 'Always null: unknown.', example: null })
  quantization: null;

  @ObjectField(PricingDto)
  pricing: PricingDto;

  @StringListField({ example: ['temperature', 'max_tokens', 'stream'] })
  supported_parameters: string[];

  @BooleanField({
    description:
      'Whether the vendor caches prompts automatically, derived from the prices of cache reads and writes.',
  })
  supports_implicit_caching: boolean;

  @ObjectField(ToolChoiceSupportDto, {
    description: 'All true when the model supports `tool_choice`.',
  })
  supports_tool_choice: ToolChoiceSupportDto;

  @BooleanField({ description: 'Always false.', example: false })
  supports_voice_cloning: boolean;

  @EnumField(MODEL_ROUTE_STATES, { description: '`paused`: by the operator.' })
  state: (typeof MODEL_ROUTE_STATES)[number];

  @EnumField(Object.values<number>(ENDPOINT_STATUSES), {
    description: 'The state as a number: 0 is `healthy`, -1 `cooling`, -2 `open`, -5 `paused`.',
  })
  status: number;

  @NumberField({
    nullable: true,
    description:
      'Percentage of answered calls over the last half-hour on all instances; null without calls, and for BYOK accounts.',
    example: 99.9,
  })
  uptime_last_30m: number | null;

  @NumberField({ nullable: true, description: 'Always null: not reported.', example: null })
  uptime_last_5m: null;

  @NumberField({ nullable: true, description: 'Always null: not reported.', example: null })
  uptime_last_1d: null;

  @ObjectField(PercentilesDto, {
    nullable: true,
    description: 'Milliseconds to the first content of streams over the last 5 to 10 minutes.',
  })
  latency_last_30m: PercentilesDto | null;

  @ObjectField(PercentilesDto, {
    nullable: true,
    description: 'Tokens per second from call to end over the last 5 to 10 minutes.',
  })
  throughput_last_30m: PercentilesDto | null;

  @NumberField({
    nullable: true,
    description:
      'Share of prompt tokens over the last half-hour that the vendor read from its cache, 0 to 1; null without any, and for BYOK accounts.',
    example: 0.62,
  })
  cache_hit_rate: number | null;

  @BooleanField({ description: 'Whether it uses your BYOK account.', example: false })
  is_own_account: boolean;
}

class ModelEndpointsDto {
  @StringField({ example: 'sandbox/echo' })
  id: string;

  @StringField({ example: 'Echo' })
  name: string;

  @IntegerField({ description: 'Unix seconds.' })
  created: number;

  @StringField()
  description: string;

  @ObjectField(DescribedArchitectureDto, { description: 'Set for embedding models as well.' })
  architecture: DescribedArchitectureDto;

  @ObjectListField(EndpointDto, { description: 'In the default order of attempts.' })
  endpoints: EndpointDto[];
}

export class ModelEndpointsAnswerDto {
  @ObjectField(ModelEndpointsDto)
  data: ModelEndpointsDto;
}
