import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional } from 'class-validator';
import { ownOutputLimitOf } from '../../canonical/billable-route.js';
import {
  QUOTED_ENDPOINTS,
  type Quote,
  type QuotedEndpoint,
  type QuotedRoute,
} from '../../core/answers/quotes.service.js';
import {
  LEFT_OUT_REASONS,
  type LeftOutReason,
  type LeftOutRoute,
} from '../../core/routing/plan.js';

const CREDITS_PER_USD = 1_000_000n;
const DIGITS = 6;

export class QuoteQueryDto {
  @ApiPropertyOptional({
    enum: QUOTED_ENDPOINTS,
    description:
      'The endpoint of the call. Default: by the kind of the first model, one of `chat`, `embeddings`, `speech`, `images` and `videos`.',
  })
  @IsOptional()
  @IsIn(QUOTED_ENDPOINTS)
  endpoint?: QuotedEndpoint;
}

class QuotedCostDto {
  @ApiProperty({ type: 'integer', description: 'For the shortest answer, in credits.', example: 3 })
  least!: number;

  @ApiProperty({ type: 'integer', description: 'For a usual answer, in credits.', example: 120 })
  likely!: number;

  @ApiProperty({
    type: 'integer',
    description:
      'What the call would reserve now, in credits. It is also the maximum charge, unless a vendor ignores its limit.',
    example: 412,
  })
  worst!: number;

  @ApiProperty({ description: '`least` in USD.', example: '0.000003' })
  least_usd!: string;

  @ApiProperty({ description: '`likely` in USD.', example: '0.000120' })
  likely_usd!: string;

  @ApiProperty({ description: '`worst` in USD.', example: '0.000412' })
  worst_usd!: string;
}

class QuotedTokensDto {
  @ApiProperty({ type: 'integer', description: 'Expected prompt tokens.', example: 10 })
  prompt!: number;

  @ApiProperty({ type: 'integer', description: 'Expected answer tokens.', example: 55 })
  completion!: number;

  @ApiProperty({ type: 'integer', description: 'Maximum prompt tokens.', example: 12 })
  most_prompt!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Maximum answer tokens, all choices together.',
    example: 200,
  })
  most_completion!: number;
}

class QuotedRouteDto {
  @ApiProperty({ example: 'openai/gpt-4o-mini' })
  model!: string;

  @ApiProperty({ example: 'openai' })
  provider!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: "The operator's account with the provider; null when there is only one.",
    example: null,
  })
  account!: string | null;

  @ApiProperty({ enum: ['shared', 'byok'] })
  traffic_mode!: string;

  @ApiProperty({
    enum: ['ready', 'cooling'],
    description: '`cooling`: it failed recently, and so did all others.',
  })
  condition!: string;

  @ApiProperty({
    enum: ['warm', 'unknown'],
    description:
      '`warm`: this route recently answered the conversation, so its vendor may have the start of the prompt cached.',
  })
  prompt_cache!: string;

  @ApiProperty({ type: QuotedCostDto })
  cost!: QuotedCostDto;

  @ApiProperty({ type: QuotedTokensDto })
  tokens!: QuotedTokensDto;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description:
      'The output limit that the gateway would send to the vendor, as in `X-Gateway-Output-Limit`; null: none.',
    example: null,
  })
  output_limit!: number | null;

  @ApiProperty({
    enum: ['log', 'rule', 'request'],
    description:
      "Basis of the expected answer length: `log`, the tenant's answers from the model in the last seven days; `rule`, 500 tokens; `request`, an answer without a variable length.",
  })
  likely_by!: string;
}

class LeftOutRouteDto {
  @ApiProperty({ example: 'openai/gpt-4o-mini' })
  model!: string;

  @ApiProperty({ example: 'azure' })
  provider!: string;

  @ApiProperty({ type: String, nullable: true, example: null })
  account!: string | null;

  @ApiProperty({
    enum: LEFT_OUT_REASONS,
    description:
      "`own_account`: the tenant's BYOK account does not fall back to shared capacity. `denied`: excluded by a provider list. `preferences`: excluded by `provider.only` or `provider.ignore`. `unpriced`: a requested feature has no price on shared capacity. `resting`: the account reached its vendor's rate limit. `no_fallbacks`: `provider.allow_fallbacks` is false.",
    example: 'not_configured',
  })
  reason!: LeftOutReason;
}

class QuoteRefusalDto {
  @ApiProperty({ type: 'integer', example: 402 })
  status!: number;

  @ApiProperty({ example: 'budget_exceeded' })
  type!: string;

  @ApiProperty({ example: 'max_cost' })
  param!: string;

  @ApiProperty()
  message!: string;
}

export class QuoteDto {
  @ApiProperty({ enum: ['quote'] })
  object!: 'quote';

  @ApiProperty({ enum: QUOTED_ENDPOINTS })
  endpoint!: QuotedEndpoint;

  @ApiProperty({
    type: 'integer',
    description: 'Credits not reserved by a hold.',
    example: 9_999_000,
  })
  available!: number;

  @ApiProperty({ type: 'integer', nullable: true, example: null })
  max_cost!: number | null;

  @ApiProperty({
    enum: ['off', 'hit', 'miss'],
    description:
      'Whether the call would be answered from the cache, at no cost; `off`: the call does not use the cache.',
  })
  answer_cache!: string;

  @ApiProperty({ type: [QuotedRouteDto], description: 'Routes to try, in order.' })
  routes!: QuotedRouteDto[];

  @ApiProperty({ type: [LeftOutRouteDto], description: 'Excluded routes.' })
  left_out!: LeftOutRouteDto[];

  @ApiProperty({
    type: QuoteRefusalDto,
    nullable: true,
    description:
      'The error with which the call would be rejected now; null: none. Does not check budgets and rate limits.',
  })
  refusal!: QuoteRefusalDto | null;
}

export function toQuote(quote: Quote): QuoteDto {
  const { endpoint, available, maxCost, isKept, routes, leftOut, refusal } = quote;
  return {
    object: 'quote',
    endpoint,
    available,
    max_cost: maxCost ?? null,
    answer_cache: isKept === undefined ? 'off' : isKept ? 'hit' : 'miss',
    routes: routes.map(toRoute),
    left_out: leftOut.map(toLeftOut),
    refusal: refusal
      ? {
          status: refusal.status,
          type: refusal.type,
          param: refusal.param,
          message: refusal.message,
        }
      : null,
  };
}

function toRoute({
  route,
  isCooling,
  isWarm,
  isFromLog,
  expected,
  most,
  ...cost
}: QuotedRoute): QuotedRouteDto {
  const { least, likely, worst } = cost;
  return {
    model: route.model,
    provider: route.provider,
    account: route.account ?? null,
    traffic_mode: route.trafficMode,
    condition: isCooling ? 'cooling' : 'ready',
    prompt_cache: isWarm ? 'warm' : 'unknown',
    cost: {
      least,
      likely,
      worst,
      least_usd: toUsd(least),
      likely_usd: toUsd(likely),
      worst_usd: toUsd(worst),
    },
    tokens: {
      prompt: expected.inputTokens,
      completion: expected.outputTokens,
      most_prompt: most.inputTokens,
      most_completion: most.outputTokens,
    },
    output_limit: ownOutputLimitOf(route) ?? null,
    likely_by: route.output ? (isFromLog ? 'log' : 'rule') : 'request',
  };
}

function toLeftOut({ route, reason }: LeftOutRoute): LeftOutRouteDto {
  const { model, provider, account = null } = route;
  return { model, provider, account, reason };
}

function toUsd(credits: number): string {
  const whole = BigInt(credits) / CREDITS_PER_USD;
  const rest = BigInt(credits) % CREDITS_PER_USD;
  return `${whole}.${String(rest).padStart(DIGITS, '0')}`;
}
