import { EnumField, IntegerField, StringField } from '../../platform/http/field.decorators.js';
import { ObjectField, ObjectListField } from '../../platform/http/nested-field.decorators.js';
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
  @EnumField(QUOTED_ENDPOINTS, {
    optional: true,
    description:
      'The call to quote. Defaults to the kind of the first model: `chat`, `embeddings`, `speech`, `images` or `videos`.',
  })
  endpoint?: QuotedEndpoint;
}

class QuotedCostDto {
  @IntegerField({ description: 'Credits for the shortest answer.', example: 3 })
  least!: number;

  @IntegerField({ description: 'Credits for a typical answer.', example: 120 })
  likely!: number;

  @IntegerField({
    description:
      'Credits that would be reserved now. The charge is at most this, unless a vendor ignores its limit.',
    example: 412,
  })
  worst!: number;

  @StringField({ description: '`least` in USD.', example: '0.000003' })
  least_usd!: string;

  @StringField({ description: '`likely` in USD.', example: '0.000120' })
  likely_usd!: string;

  @StringField({ description: '`worst` in USD.', example: '0.000412' })
  worst_usd!: string;
}

class QuotedTokensDto {
  @IntegerField({ description: 'Likely tokens of the prompt.', example: 10 })
  prompt!: number;

  @IntegerField({ description: 'Likely tokens of the answer.', example: 55 })
  completion!: number;

  @IntegerField({ description: 'Upper bound of the prompt tokens.', example: 12 })
  most_prompt!: number;

  @IntegerField({ description: 'Tokens of the longest answer, over all choices.', example: 200 })
  most_completion!: number;
}

class QuotedRouteDto {
  @StringField({ example: 'openai/gpt-4o-mini' })
  model!: string;

  @StringField({ example: 'openai' })
  provider!: string;

  @StringField({
    nullable: true,
    description: 'The operator’s account with the provider; null when there is only one.',
    example: null,
  })
  account!: string | null;

  @EnumField(['shared', 'byok'])
  traffic_mode!: 'shared' | 'byok';

  @EnumField(['ready', 'cooling'], {
    description: '`cooling`: it failed recently, and so did all other routes.',
  })
  condition!: 'ready' | 'cooling';

  @EnumField(['warm', 'unknown'], {
    description:
      '`warm`: this route answered the conversation recently, so the vendor may have cached the start of the prompt.',
  })
  prompt_cache!: 'warm' | 'unknown';

  @ObjectField(QuotedCostDto)
  cost!: QuotedCostDto;

  @ObjectField(QuotedTokensDto)
  tokens!: QuotedTokensDto;

  @IntegerField({
    nullable: true,
    description:
      'The output limit that the gateway would send to the vendor, as in `X-Gateway-Output-Limit`; null: none.',
    example: null,
  })
  output_limit!: number | null;

  @EnumField(['log', 'rule', 'request'], {
    description:
      "Source of the likely length. `log`: the tenant's answers of the model over seven days. `rule`: 500 tokens. `request`: the request determines it.",
  })
  likely_by!: 'log' | 'rule' | 'request';
}

class LeftOutRouteDto {
  @StringField({ example: 'openai/gpt-4o-mini' })
  model!: string;

  @StringField({ example: 'azure' })
  provider!: string;

  @StringField({ nullable: true, example: null })
  account!: string | null;

  @EnumField(LEFT_OUT_REASONS, {
    description:
      "`own_account`: the tenant's BYOK account does not fall back to shared capacity. `denied`: a provider list denies it. `preferences`: excluded by `provider.only` or `ignore`. `unpriced`: a requested feature has no price on shared capacity. `resting`: the account has reached its vendor's limit. `no_fallbacks`: `provider.allow_fallbacks` is false.",
    example: 'not_configured',
  })
  reason!: LeftOutReason;
}

class QuoteRefusalDto {
  @IntegerField({ example: 402 })
  status!: number;

  @StringField({ example: 'budget_exceeded' })
  type!: string;

  @StringField({ example: 'max_cost' })
  param!: string;

  @StringField()
  message!: string;
}

export class QuoteDto {
  @EnumField(['quote'])
  object!: 'quote';

  @EnumField(QUOTED_ENDPOINTS)
  endpoint!: QuotedEndpoint;

  @IntegerField({ description: 'Available credits.', example: 9_999_000 })
  available!: number;

  @IntegerField({ nullable: true, example: null })
  max_cost!: number | null;

  @EnumField(['off', 'hit', 'miss'], {
    description:
      'Whether the cache would answer the call, at no cost; `off`: the call does not use the cache.',
  })
  answer_cache!: 'off' | 'hit' | 'miss';

  @ObjectListField(QuotedRouteDto, { description: 'Routes that would be tried, in order.' })
  routes!: QuotedRouteDto[];

  @ObjectListField(LeftOutRouteDto, { description: 'Routes that would not be tried.' })
  left_out!: LeftOutRouteDto[];

  @ObjectField(QuoteRefusalDto, {
    nullable: true,
    description:
      'The error that the call would get now; null: none. Budgets and rate limits are not checked.',
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
