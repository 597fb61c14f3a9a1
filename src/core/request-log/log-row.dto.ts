import { ScopeDto } from '../access/scope.js';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { TrafficMode } from '../../canonical/billable-route.js';
import type { RequestOptions } from '../../canonical/request-options.js';
import type { UsageSource } from '../../canonical/usage.js';
import {
  REQUEST_STATUSES,
  type LoggedAttempt,
  type RequestOutcome,
  type RequestStatus,
} from './request-log-row.js';

const TRAFFIC_MODES: TrafficMode[] = ['shared', 'byok'];

const OUTCOMES: RequestOutcome[] = [
  'completed',
  'failed',
  'cancelled',
  'timeout',
  'crashed',
  'refused',
];

const USAGE_SOURCES: UsageSource[] = ['upstream', 'estimated', 'none'];

class LogTokensDto {
  @ApiProperty({ type: 'integer', example: 420 })
  prompt!: number;

  @ApiProperty({ type: 'integer', example: 96 })
  completion!: number;

  @ApiProperty({ type: 'integer', example: 516 })
  total!: number;
}

class CostBreakdownDto {
  @ApiProperty({
    type: 'integer',
    description: 'For the model on shared capacity; 0 on byok.',
    example: 121,
  })
  model_charge!: number;

  @ApiProperty({ type: 'integer', description: 'Fee on byok requests.', example: 0 })
  byok_platform_fee!: number;

  @ApiProperty({
    type: 'integer',
    description: 'For tools that a vendor ran, such as web search.',
    example: 0,
  })
  managed_tool_fee!: number;

  @ApiProperty({ type: 'integer', description: '0 as yet.', example: 0 })
  agent_runtime_fee!: number;

  @ApiProperty({ type: 'integer', description: 'The sum, as the ledger has it.', example: 121 })
  total_charge!: number;
}

/** One call to a vendor. */
class LogAttemptDto {
  @ApiProperty({ description: 'The provider and the alias.', example: 'openai/openai/gpt-4o-mini' })
  route!: string;

  @ApiPropertyOptional({
    description: 'Which account of the operator, where there are several with the provider.',
    example: 'eu-west',
  })
  account?: string;

  @ApiPropertyOptional({
    type: ScopeDto,
    description: 'Of a BYOK account that serves one key and the keys below it.',
  })
  scope?: ScopeDto;

  @ApiProperty({
    description:
      '`answered`, `aborted` (the caller left), `uncovered` (never called: the credits did not reach for it), `unjoined` ' +
      '(asked to go on with an answer that broke off, and said something else), `outpaced` (closed, as the other of two ' +
      'routes that were asked at once was faster), or the failure.',
    example: 'answered',
  })
  outcome!: string;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: "The vendor's HTTP status; null where there was none.",
    example: 200,
  })
  status!: number | null;

  @ApiProperty({ type: 'integer', description: 'Milliseconds after the arrival.', example: 2 })
  started_ms!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Milliseconds to the end of the answer, or to the failure.',
    example: 1828,
  })
  duration_ms!: number;

  @ApiPropertyOptional({
    type: 'integer',
    description:
      'Of an attempt that was asked to go on with an answer: after how many characters of its text.',
    example: 812,
  })
  continues_at?: number;

  @ApiPropertyOptional({
    description: 'Asked beside a route that was silent for as long as `hedge_ms` says.',
    example: true,
  })
  hedged?: true;

  @ApiProperty({
    type: 'integer',
    description:
      "What the vendor used, in credits at the route's prices, charged or not; 0 over your own account.",
    example: 121,
  })
  vendor_cost!: number;
}

/** What is known of a request beyond the interface's rows: of its vendors, and of what its caller calls it. */
export class RequestDetailsDto {
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Milliseconds from the arrival to the first content; null when none came.',
    example: 320,
  })
  first_token_ms!: number | null;

  @ApiProperty({
    type: Number,
    nullable: true,
    description:
      'Output tokens a second, from the first content to the end; null where the answer came in one piece.',
    example: 63.6,
  })
  tokens_per_second!: number | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description:
      'Credits that all attempts took at the prices of their routes, charged or not; null of requests before this was kept.',
    example: 121,
  })
  vendor_cost!: number | null;

  @ApiProperty({
    type: [LogAttemptDto],
    description: 'The calls to vendors, in order; the last of more than 16 is kept as well.',
  })
  attempts!: LoggedAttempt[];

  @ApiProperty({
    description: 'Whether its stream broke off and another attempt went on with it to its end.',
    example: false,
  })
  recovered!: boolean;

  @ApiProperty({
    type: String,
    nullable: true,
    description: "The caller's name for its own end user, from the body.",
    example: 'user-17',
  })
  end_user!: string | null;

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'From `X-Gateway-Tags`, and from the `metadata` of the body.',
    example: { team: 'search' },
  })
  tags!: Record<string, string>;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    nullable: true,
    description:
      'What was asked for beyond a model, as far as routes and holds go by it: `models` (the chain, where it has several), ' +
      '`order`, `only`, `ignore`, `allow_fallbacks`, `route`, `sort`, `max_price`, `max_cost`, `max_cost_mode`, `recovery`, ' +
      '`hedge_ms`, `max_tokens`, `n`, `web_searches`, `service_tier`, `inference_geo`, `size`, `quality`, `own_account_for` (a field that shared capacity does not ' +
      'take), `conversation` (a hash), `is_cut` (the lists were too long to be kept). Null: nothing, or the request is older than that is kept.',
    example: { max_tokens: 500, hedge_ms: 400 },
  })
  asked!: RequestOptions | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description:
      "The version of the gateway's configuration that has the prices of the route; null for requests of before there were versions, answers from the cache, and prices that the operator had declared in a file instead.",
    example: 7,
  })
  config_version!: number | null;
}

/** One request, as its tenant sees it. Amounts are credits. */
export class LogRowDto extends RequestDetailsDto {
  @ApiProperty({ example: '1042' })
  id!: string;

  @ApiProperty({ format: 'uuid', description: "The answer's `x-request-id`." })
  request_id!: string;

  @ApiProperty({
    description: 'The alias that answered, or the first one asked for when none did.',
    example: 'openai/gpt-4o-mini',
  })
  model!: string;

  @ApiProperty({ example: 'openai' })
  provider!: string;

  @ApiProperty({ enum: REQUEST_STATUSES, example: 'success' })
  status!: RequestStatus;

  @ApiProperty({
    enum: TRAFFIC_MODES,
    description:
      "Whose vendor account was used: the gateway's (`shared`) or the tenant's (`byok`).",
    example: 'shared',
  })
  traffic_mode!: TrafficMode;

  @ApiProperty({ type: LogTokensDto })
  tokens!: LogTokensDto;

  @ApiProperty({ type: 'integer', description: 'Credits charged.', example: 121 })
  cost!: number;

  @ApiProperty({ type: CostBreakdownDto })
  cost_breakdown!: CostBreakdownDto;

  @ApiProperty({ type: [String], example: [] })
  skills_used!: string[];

  @ApiProperty({
    type: String,
    nullable: true,
    description: "On byok requests: that the customer's provider bills the model usage.",
    example: null,
  })
  billing_note!: string | null;

  @ApiProperty({
    type: 'integer',
    description: 'From the arrival of the request to the end of its answer.',
    example: 1830,
  })
  latency_ms!: number;

  @ApiProperty({ type: String, format: 'date-time', description: 'When the request arrived.' })
  created_at!: string;

  @ApiProperty({ description: 'The kind of call.', example: 'chat' })
  endpoint!: string;

  @ApiProperty({ format: 'uuid', description: 'The key that the request was made with.' })
  api_key_id!: string;

  @ApiProperty({
    enum: OUTCOMES,
    description:
      'How the request ended. `cancelled`: its caller left. `timeout`: it took longer than the ' +
      'gateway allows, after its answer had begun. `crashed`: the gateway did not live to finish it. `refused`: the credits did not reach, or a guardrail blocked it.',
    example: 'completed',
  })
  outcome!: RequestOutcome;

  @ApiProperty({
    type: String,
    nullable: true,
    description: "The error body's `type`, where there was an error.",
    example: null,
  })
  error_type!: string | null;

  @ApiProperty({
    enum: USAGE_SOURCES,
    description:
      "Whose counts `tokens` and `cost` rest on: the vendor's, an estimate, or nobody's (cost 0).",
    example: 'upstream',
  })
  usage_source!: UsageSource;
}
