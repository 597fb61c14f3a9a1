import { ApiPropertyOptional, ApiProperty } from '@nestjs/swagger';
import { IsIn, IsNotEmpty, IsOptional, IsString } from 'class-validator';
import { DateRangeQueryDto } from '../../../platform/http/date-range.js';
import { PageLimit, PageOffset } from '../../../platform/http/field.decorators.js';
import {
  REQUEST_STATUSES,
  type RequestStatus,
  type RequestOutcome,
} from '../../../core/ledger/request-log/request-log-row.js';
import type { UsageSource } from '../../../canonical/usage.js';
import type { TrafficMode } from '../../../canonical/billable-route.js';

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

/** One request, as its tenant sees it. Amounts are credits. */
export class LogRowDto {
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

class LogPaginationDto {
  @ApiProperty({ type: 'integer', description: 'Rows that match, on all pages.', example: 1042 })
  total!: number;

  @ApiProperty({ type: 'integer', description: 'The limit that was applied.', example: 50 })
  limit!: number;

  @ApiProperty({ type: 'integer', example: 0 })
  offset!: number;

  @ApiProperty({ description: 'Whether rows follow this page.', example: true })
  has_more!: boolean;
}

export class LogListDto {
  @ApiProperty({ type: [LogRowDto], description: 'Newest first.' })
  logs!: LogRowDto[];

  @ApiProperty({ type: LogPaginationDto })
  pagination!: LogPaginationDto;
}

/** Which part of the request log is exported. */
export class LogsExportQueryDto extends DateRangeQueryDto {}

const DEFAULT_LIMIT = 50;

/** A larger `limit` is taken for this one. */
export const MAX_LIMIT = 100;

/** Which part of the request log is asked for. Filters add up. */
export class LogsQueryDto extends DateRangeQueryDto {
  @PageLimit({
    default: DEFAULT_LIMIT,
    description: `Rows per page; more than ${MAX_LIMIT} is taken for ${MAX_LIMIT}.`,
  })
  limit: number = DEFAULT_LIMIT;

  @PageOffset('Rows')
  offset: number = 0;

  @ApiPropertyOptional({
    enum: REQUEST_STATUSES,
    description: '`success` includes requests whose caller left before the end of the answer.',
  })
  @IsOptional()
  @IsIn(REQUEST_STATUSES, { message: `status must be ${REQUEST_STATUSES.join(' or ')}` })
  status?: RequestStatus;

  // Filters have no example: Swagger UI would fill it in and leave nothing of most logs.
  @ApiPropertyOptional({
    minLength: 1,
    description: 'Exactly this model alias, as `openai/gpt-4o-mini`.',
  })
  @IsOptional()
  @IsString({ message: 'model must be one model alias' })
  @IsNotEmpty({ message: 'model must be one model alias' })
  model?: string;

  @ApiPropertyOptional({ format: 'uuid', description: "One of the tenant's API keys, by its id." })
  @IsOptional()
  @IsString({ message: 'api_key_id must be one id' })
  api_key_id?: string;
}
