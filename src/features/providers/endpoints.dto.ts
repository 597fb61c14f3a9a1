import { ApiProperty } from '@nestjs/swagger';
import { PercentilesDto } from '../../core/routing/percentiles.dto.js';
import { PricingDto } from './prices.dto.js';
import { ArchitectureDto, MODEL_ROUTE_STATES } from './providers.dto.js';

class ToolChoiceSupportDto {
  @ApiProperty()
  auto: boolean;

  @ApiProperty()
  function: boolean;

  @ApiProperty()
  none: boolean;

  @ApiProperty()
  required: boolean;
}

class DescribedArchitectureDto extends ArchitectureDto {
  @ApiProperty({ type: String, nullable: true, description: 'Not known here.', example: null })
  instruct_type: null;
}

/** What a state is called where the shape is from. */
export const ENDPOINT_STATUSES = { healthy: 0, cooling: -1, open: -2, paused: -5 } as const;

/** A provider of a model, over shared capacity or the caller's BYOK account. */
export class EndpointDto {
  @ApiProperty({ example: 'Sandbox | sandbox/echo' })
  name: string;

  @ApiProperty({ example: 'sandbox/echo' })
  model_id: string;

  @ApiProperty({ example: 'Echo' })
  model_name: string;

  @ApiProperty({ example: 'Sandbox' })
  provider_name: string;

  @ApiProperty({
    description: 'Provider id, as in `provider.only`.',
    example: 'sandbox',
  })
  tag: string;

  @ApiProperty({ type: 'integer', example: 128_000 })
  context_length: number;

  @ApiProperty({ type: 'integer', nullable: true, example: 16_384 })
  max_completion_tokens: number | null;

  @ApiProperty({ type: 'integer', nullable: true, example: null })
  max_prompt_tokens: null;

  @ApiProperty({ type: String, nullable: true, description: 'Not known here.', example: null })
  quantization: null;

  @ApiProperty({ type: PricingDto })
  pricing: PricingDto;

  @ApiProperty({ type: [String], example: ['temperature', 'max_tokens', 'stream'] })
  supported_parameters: string[];

  @ApiProperty({
    description:
      'Whether prompts are cached without being asked to, by what reading and writing cost.',
  })
  supports_implicit_caching: boolean;

  @ApiProperty({
    type: ToolChoiceSupportDto,
    description: 'All of them where the model takes `tool_choice`.',
  })
  supports_tool_choice: ToolChoiceSupportDto;

  @ApiProperty({ description: 'No model does here.', example: false })
  supports_voice_cloning: boolean;

  @ApiProperty({ enum: MODEL_ROUTE_STATES, description: '`paused`: by the operator.' })
  state: (typeof MODEL_ROUTE_STATES)[number];

  @ApiProperty({
    enum: Object.values(ENDPOINT_STATUSES),
    description: 'The state as a number: 0 is `healthy`, -1 `cooling`, -2 `open`, -5 `paused`.',
  })
  status: number;

  @ApiProperty({
    type: Number,
    nullable: true,
    description:
      'Percentage of answered calls over the last half-hour on all instances; null without calls, and for BYOK accounts.',
    example: 99.9,
  })
  uptime_last_30m: number | null;

  @ApiProperty({ type: Number, nullable: true, description: 'Not told here.', example: null })
  uptime_last_5m: null;

  @ApiProperty({ type: Number, nullable: true, description: 'Not told here.', example: null })
  uptime_last_1d: null;

  @ApiProperty({
    type: PercentilesDto,
    nullable: true,
    description: 'Milliseconds to the first content of streams, of the last 5 to 10 minutes.',
  })
  latency_last_30m: PercentilesDto | null;

  @ApiProperty({
    type: PercentilesDto,
    nullable: true,
    description: 'Tokens a second from call to end, of the last 5 to 10 minutes.',
  })
  throughput_last_30m: PercentilesDto | null;

  @ApiProperty({
    type: Number,
    nullable: true,
    description:
      'Share of the prompt tokens of the last half-hour that the vendor read from its cache, 0 to 1; null without any, and for your own account.',
    example: 0.62,
  })
  cache_hit_rate: number | null;

  @ApiProperty({ description: 'Whether it uses your BYOK account.', example: false })
  is_own_account: boolean;
}

class ModelEndpointsDto {
  @ApiProperty({ example: 'sandbox/echo' })
  id: string;

  @ApiProperty({ example: 'Echo' })
  name: string;

  @ApiProperty({ type: 'integer', description: 'Unix seconds.' })
  created: number;

  @ApiProperty()
  description: string;

  @ApiProperty({ type: DescribedArchitectureDto, description: 'Of embedding models as well.' })
  architecture: DescribedArchitectureDto;

  @ApiProperty({
    type: [EndpointDto],
    description: 'In the default order of attempts.',
  })
  endpoints: EndpointDto[];
}

export class ModelEndpointsAnswerDto {
  @ApiProperty({ type: ModelEndpointsDto })
  data: ModelEndpointsDto;
}
