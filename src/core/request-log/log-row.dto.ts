import { ScopeDto } from '../access/scope.js';
import {
  BooleanField,
  DateTimeField,
  EnumField,
  IntegerField,
  MapField,
  NumberField,
  StringField,
  UuidField,
} from '../../platform/http/field.decorators.js';
import {
  ObjectField,
  ObjectListField,
  StringListField,
} from '../../platform/http/nested-field.decorators.js';
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
  @IntegerField({ example: 420 })
  prompt!: number;

  @IntegerField({ example: 96 })
  completion!: number;

  @IntegerField({ example: 516 })
  total!: number;
}

class CostBreakdownDto {
  @IntegerField({ description: 'Model usage on shared capacity; 0 on byok.', example: 121 })
  model_charge!: number;

  @IntegerField({ description: 'Fee on byok requests.', example: 0 })
  byok_platform_fee!: number;

  @IntegerField({ description: 'Tools run by the vendor, such as web search.', example: 0 })
  managed_tool_fee!: number;

  @IntegerField({ description: 'Currently always 0.', example: 0 })
  agent_runtime_fee!: number;

  @IntegerField({ description: 'The total charge in the ledger.', example: 121 })
  total_charge!: number;
}

class LogAttemptDto {
  @StringField({ description: 'Provider and alias.', example: 'openai/openai/gpt-4o-mini' })
  route!: string;

  @StringField({
    optional: true,
    description: 'The operator’s account, if there are several with the provider.',
    example: 'eu-west',
  })
  account?: string;

  @ObjectField(ScopeDto, {
    optional: true,
    description: 'Of a BYOK account that serves one key and the keys below it.',
  })
  scope?: ScopeDto;

  @StringField({
    description:
      '`answered`, `aborted` (the caller disconnected), `uncovered` (not called: insufficient credits), `unjoined` ' +
      '(a recovery attempt that did not continue the text), `outpaced` (closed because the other of two  ' +
      'hedged routes was faster), or the failure.',
    example: 'answered',
  })
  outcome!: string;

  @IntegerField({
    nullable: true,
    description: "The vendor's HTTP status; null without a response.",
    example: 200,
  })
  status!: number | null;

  @IntegerField({ description: 'Milliseconds since the request arrived.', example: 2 })
  started_ms!: number;

  @IntegerField({
    description: 'Milliseconds to the end of the answer, or to the failure.',
    example: 1828,
  })
  duration_ms!: number;

  @IntegerField({
    optional: true,
    description: 'For a recovery attempt: the number of characters of text before it.',
    example: 812,
  })
  continues_at?: number;

  @BooleanField({
    optional: true,
    description: 'Whether the attempt was a hedge, started after `hedge_ms` of silence.',
    example: true,
  })
  hedged?: true;

  @IntegerField({
    description:
      'Vendor usage in credits at the route’s prices, charged or not; 0 over a BYOK account.',
    example: 121,
  })
  vendor_cost!: number;
}

/** Details of a request beyond the public API's log row. */
export class RequestDetailsDto {
  @IntegerField({
    nullable: true,
    description: 'Milliseconds from arrival to the first content; null without content.',
    example: 320,
  })
  first_token_ms!: number | null;

  @NumberField({
    nullable: true,
    description:
      'Output tokens per second from the first content to the end; null when the answer came in one piece.',
    example: 63.6,
  })
  tokens_per_second!: number | null;

  @IntegerField({
    nullable: true,
    description:
      'Vendor usage of all attempts in credits at their routes’ prices, charged or not; null for requests that predate this field.',
    example: 121,
  })
  vendor_cost!: number | null;

  @ObjectListField(LogAttemptDto, {
    description: 'Vendor calls in order: the first 16, and the last one.',
  })
  attempts!: LoggedAttempt[];

  @BooleanField({
    description: 'Whether the stream was interrupted and another attempt completed it.',
    example: false,
  })
  recovered!: boolean;

  @StringField({
    nullable: true,
    description: 'The caller’s id of its own end user, from the body.',
    example: 'user-17',
  })
  end_user!: string | null;

  @MapField(
    { type: 'string' },
    {
      description: 'From `X-Gateway-Tags`, and from the `metadata` of the body.',
      example: { team: 'search' },
    },
  )
  tags!: Record<string, string>;

  @MapField(true, {
    nullable: true,
    description:
      'Request options that affect routing and holds: `models` (a chain of several), ' +
      '`order`, `only`, `ignore`, `allow_fallbacks`, `route`, `sort`, `max_price`, `max_cost`, `max_cost_mode`, `recovery`, ' +
      '`hedge_ms`, `max_tokens`, `n`, `web_searches`, `service_tier`, `inference_geo`, `size`, `quality`, `own_account_for` (a field that shared capacity does not ' +
      'take), `conversation` (a hash), `is_cut` (the lists were too long to store). Null without options, and for requests that predate this field.',
    example: { max_tokens: 500, hedge_ms: 400 },
  })
  asked!: RequestOptions | null;

  @IntegerField({
    nullable: true,
    description:
      'The configuration version of the route’s prices; null for requests that predate versions, cached answers, and prices from the operator’s file.',
    example: 7,
  })
  config_version!: number | null;
}

export class LogRowDto extends RequestDetailsDto {
  @StringField({ example: '1042' })
  id!: string;

  @UuidField({ description: "The answer's `x-request-id`." })
  request_id!: string;

  @StringField({
    description: 'The alias that answered, or the first one requested if none did.',
    example: 'openai/gpt-4o-mini',
  })
  model!: string;

  @StringField({ example: 'openai' })
  provider!: string;

  @EnumField(REQUEST_STATUSES, { example: 'success' })
  status!: RequestStatus;

  @EnumField(TRAFFIC_MODES, {
    description:
      "Whose vendor account was used: the gateway's (`shared`) or the tenant's (`byok`).",
    example: 'shared',
  })
  traffic_mode!: TrafficMode;

  @ObjectField(LogTokensDto)
  tokens!: LogTokensDto;

  @IntegerField({ description: 'Credits charged.', example: 121 })
  cost!: number;

  @ObjectField(CostBreakdownDto)
  cost_breakdown!: CostBreakdownDto;

  @StringListField({ example: [] })
  skills_used!: string[];

  @StringField({
    nullable: true,
    description: 'On byok requests: states that the customer’s provider bills the model usage.',
    example: null,
  })
  billing_note!: string | null;

  @IntegerField({
    description: 'From the request’s arrival to the end of its answer.',
    example: 1830,
  })
  latency_ms!: number;

  @DateTimeField({ description: 'When the request arrived.' })
  created_at!: string;

  @StringField({ description: 'Call type.', example: 'chat' })
  endpoint!: string;

  @UuidField({ description: 'The API key of the request.' })
  api_key_id!: string;

  @EnumField(OUTCOMES, {
    description:
      'How the request ended. `cancelled`: its caller disconnected. `timeout`: it exceeded the ' +
      'time limit after its answer had begun. `crashed`: the gateway crashed before it was finished. `refused`: insufficient credits, or blocked by a guardrail.',
    example: 'completed',
  })
  outcome!: RequestOutcome;

  @StringField({
    nullable: true,
    description: "The error body's `type`, if there was an error.",
    example: null,
  })
  error_type!: string | null;

  @EnumField(USAGE_SOURCES, {
    description: 'Source of `tokens` and `cost`: the vendor, an estimate, or none (cost 0).',
    example: 'upstream',
  })
  usage_source!: UsageSource;
}
