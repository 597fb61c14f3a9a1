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
      'Which call is asked about. Left out, what the first model is for: `chat`, `embeddings`, `speech`, `images` or `videos`.',
  })
  @IsOptional()
  @IsIn(QUOTED_ENDPOINTS)
  endpoint?: QuotedEndpoint;
}

class QuotedCostDto {
  @ApiProperty({ type: 'integer', description: 'Of the shortest answer, in credits.', example: 3 })
  least!: number;

  @ApiProperty({ type: 'integer', description: 'Of a usual answer, in credits.', example: 120 })
  likely!: number;

  @ApiProperty({
    type: 'integer',
    description:
      'What would be set aside now, in credits; no more is charged, but where a vendor ignores its limit.',
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
  @ApiProperty({ type: 'integer', description: 'Likely tokens of the prompt.', example: 10 })
  prompt!: number;

  @ApiProperty({ type: 'integer', description: 'Likely tokens of the answer.', example: 55 })
  completion!: number;

  @ApiProperty({ type: 'integer', description: 'The bound of the prompt.', example: 12 })
  most_prompt!: number;

  @ApiProperty({
    type: 'integer',
    description: 'The longest answer, all choices together.',
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
    description: 'Which of several accounts of the operator with the provider; null: there is one.',
    example: null,
  })
  account!: string | null;

  @ApiProperty({ enum: ['shared', 'byok'] })
  traffic_mode!: string;

  @ApiProperty({
    enum: ['ready', 'cooling'],
    description: '`cooling`: it has failed of late, and so have all others.',
  })
  condition!: string;

  @ApiProperty({
    enum: ['warm', 'unknown'],
    description:
      '`warm`: the conversation was answered over this route a short while ago, so its vendor may have the beginning of the prompt in its cache.',
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
      'The limit on the output that the vendor would be told by the gateway, as `X-Gateway-Output-Limit` says; null: none.',
    example: null,
  })
  output_limit!: number | null;

  @ApiProperty({
    enum: ['log', 'rule', 'request'],
    description:
      "Where the likely length of the answer comes from: the tenant's answers of the model in the last seven days, the rule of 500 tokens, or the request, whose answer has no length of its own.",
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
      "`own_account`: the tenant's own account with the provider does not let shared capacity stand in. `denied`: a list of providers. `preferences`: `provider.only` or `ignore`. `unpriced`: something that is asked for has no price on shared capacity. `resting`: the account has reached its vendor's limit. `no_fallbacks`: `provider.allow_fallbacks` is false.",
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
    description: 'Credits that nothing has claimed.',
    example: 9_999_000,
  })
  available!: number;

  @ApiProperty({ type: 'integer', nullable: true, example: null })
  max_cost!: number | null;

  @ApiProperty({
    enum: ['off', 'hit', 'miss'],
    description:
      'Whether the call would be answered from the cache, which costs nothing; `off`: it does not ask to be.',
  })
  answer_cache!: string;

  @ApiProperty({ type: [QuotedRouteDto], description: 'Those that would be tried, in order.' })
  routes!: QuotedRouteDto[];

  @ApiProperty({ type: [LeftOutRouteDto], description: 'Those that would not.' })
  left_out!: LeftOutRouteDto[];

  @ApiProperty({
    type: QuoteRefusalDto,
    nullable: true,
    description:
      'How the call would be refused now; null: it would not. Budgets and rate limits are not looked at.',
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
