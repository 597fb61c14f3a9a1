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
    description: 'Model usage on shared capacity; 0 on byok.',
    example: 121,
  })
  model_charge!: number;

  @ApiProperty({ type: 'integer', description: 'Fee on byok requests.', example: 0 })
  byok_platform_fee!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Tools run by the vendor, such as web search.',
    example: 0,
  })
  managed_tool_fee!: number;

  @ApiProperty({ type: 'integer', description: 'Currently always 0.', example: 0 })
  agent_runtime_fee!: number;

  @ApiProperty({ type: 'integer', description: 'The total charge in the ledger.', example: 121 })
  total_charge!: number;
}

class LogAttemptDto {
  @ApiProperty({ description: 'Provider and alias.', example: 'openai/openai/gpt-4o-mini' })
  route!: string;

  @ApiPropertyOptional({
    description: 'The operator’s account, if there are several with the provider.',
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
      '`answered`, `aborted` (the caller disconnected), `uncovered` (not called: insufficient credits), `unjoined` ' +
      '(a recovery attempt that did not continue the text), `outpaced` (closed because the other of two  ' +
      'hedged routes was faster), or the failure.',
    example: 'answered',
  })
  outcome!: string;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: "The vendor's HTTP status; null without a response.",
    example: 200,
  })
  status!: number | null;

  @ApiProperty({
    type: 'integer',
    description: 'Milliseconds since the request arrived.',
    example: 2,
  })
  started_ms!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Milliseconds to the end of the answer, or to the failure.',
    example: 1828,
  })
  duration_ms!: number;

  @ApiPropertyOptional({
    type: 'integer',
    description: 'For a recovery attempt: the number of characters of text before it.',
    example: 812,
  })
  continues_at?: number;

  @ApiPropertyOptional({
    description: 'Whether the attempt was a hedge, started after `hedge_ms` of silence.',
    example: true,
  })
  hedged?: true;

  @ApiProperty({
    type: 'integer',
    description:
      'Vendor usage in credits at the route’s prices, charged or not; 0 over a BYOK account.',
    example: 121,
  })
  vendor_cost!: number;
}

/** Details of a request beyond the public API's log row. */
export class RequestDetailsDto {
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Milliseconds from arrival to the first content; null without content.',
    example: 320,
  })
  first_token_ms!: number | null;

  @ApiProperty({
    type: Number,
    nullable: true,
    description:
      'Output tokens per second from the first content to the end; null when the answer came in one piece.',
    example: 63.6,
  })
  tokens_per_second!: number | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description:
      'Vendor usage of all attempts in credits at their routes’ prices, charged or not; null for requests that predate this field.',
    example: 121,
  })
  vendor_cost!: number | null;

  @ApiProperty({
    type: [LogAttemptDto],
    description: 'Vendor calls in order: the first 16, and the last one.',
  })
  attempts!: LoggedAttempt[];

  @ApiProperty({
    description: 'Whether the stream was interrupted and another attempt completed it.',
    example: false,
  })
  recovered!: boolean;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The caller’s id of its own end user, from the body.',
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
      'Request options that affect routing and holds: `models` (a chain of several), ' +
      '`order`, `only`, `ignore`, `allow_fallbacks`, `route`, `sort`, `max_price`, `max_cost`, `max_cost_mode`, `recovery`, ' +
      '`hedge_ms`, `max_tokens`, `n`, `web_searches`, `service_tier`, `inference_geo`, `size`, `quality`, `own_account_for` (a field that shared capacity does not ' +
      'take), `conversation` (a hash), `is_cut` (the lists were too long to store). Null without options, and for requests that predate this field.',
    example: { max_tokens: 500, hedge_ms: 400 },
  })
  asked!: RequestOptions | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description:
      'The configuration version of the route’s prices; null for requests that predate versions, cached answers, and prices from the operator’s file.',
    example: 7,
  })
  config_version!: number | null;
}

export class LogRowDto extends RequestDetailsDto {
  @ApiProperty({ example: '1042' })
  id!: string;

  @ApiProperty({ format: 'uuid', description: "The answer's `x-request-id`." })
  request_id!: string;

  @ApiProperty({
    description: 'The alias that answered, or the first one requested if none did.',
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
    description: 'On byok requests: states that the customer’s provider bills the model usage.',
    example: null,
  })
  billing_note!: string | null;

  @ApiProperty({
    type: 'integer',
    description: 'From the request’s arrival to the end of its answer.',
    example: 1830,
  })
  latency_ms!: number;

  @ApiProperty({ type: String, format: 'date-time', description: 'When the request arrived.' })
  created_at!: string;

  @ApiProperty({ description: 'Call type.', example: 'chat' })
  endpoint!: string;

  @ApiProperty({ format: 'uuid', description: 'The API key of the request.' })
  api_key_id!: string;

  @ApiProperty({
    enum: OUTCOMES,
    description:
      'How the request ended. `cancelled`: its caller disconnected. `timeout`: it exceeded the ' +
      'time limit after its answer had begun. `crashed`: the gateway crashed before it was finished. `refused`: insufficient credits, or blocked by a guardrail.',
    example: 'completed',
  })
  outcome!: RequestOutcome;

  @ApiProperty({
    type: String,
    nullable: true,
    description: "The error body's `type`, if there was an error.",
    example: null,
  })
  error_type!: string | null;

  @ApiProperty({
    enum: USAGE_SOURCES,
    description: 'Source of `tokens` and `cost`: the vendor, an estimate, or none (cost 0).',
    example: 'upstream',
  })
  usage_source!: UsageSource;
}
