import {
  ApiPropertyOptional,
  ApiProperty,
  ApiSchema,
  type ApiPropertyOptions,
} from '@nestjs/swagger';
import {
  IsBoolean,
  IsIn,
  IsNumber,
  IsObject,
  IsString,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { applyDecorators } from '@nestjs/common';
import { ScopeDto } from '../../core/access/scope.js';
import { DeletedDto } from '../../platform/http/deleted.dto.js';
import { MayBeAbsent } from '../../platform/http/field.decorators.js';
import { MAX_URL_LENGTH } from '../../platform/outbound/destination.js';

const HEADERS_PROPERTY = {
  type: 'object',
  additionalProperties: { type: 'string' },
  description: 'Sent with each delivery. Stored encrypted and never shown again.',
  example: { 'X-Api-Key': '********' },
} satisfies ApiPropertyOptions;

const URL_PROPERTY = {
  type: String,
  maxLength: MAX_URL_LENGTH,
  description: 'http or https. Must resolve to public addresses.',
  example: 'https://collector.example.com/v1/traces',
} satisfies ApiPropertyOptions;

const ApiUrl = (): PropertyDecorator => ApiProperty(URL_PROPERTY);

const count = (description: string): PropertyDecorator =>
  ApiProperty({ type: 'integer', description });

/** A destination as its tenant sees it. */
@ApiSchema({ name: 'BroadcastDestination' })
export class DestinationDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ enum: ['webhook'] })
  destination!: 'webhook';

  @ApiProperty()
  enabled!: boolean;

  @ApiProperty(URL_PROPERTY)
  url!: string;

  @ApiProperty({ enum: ['POST'] })
  method!: 'POST';

  @ApiProperty(HEADERS_PROPERTY)
  headers!: Record<string, string>;

  @ApiProperty({ type: Number, minimum: 0, maximum: 1 })
  sampling_rate!: number;

  @ApiProperty()
  include_content!: boolean;

  @ApiProperty({ type: ScopeDto })
  scope!: ScopeDto;

  @count('Traces accepted by the receiver.')
  delivered_count!: number;

  @count('Dropped traces. `last_error` has the most recent reason.')
  dropped_count!: number;

  @count('Pending deliveries, each of up to 250 traces.')
  pending_count!: number;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  last_success_at!: string | null;

  @ApiProperty({ type: String, nullable: true, example: 'answered with status 500' })
  last_error!: string | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  last_error_at!: string | null;

  @ApiProperty({ type: String, format: 'date-time' })
  created_at!: string;

  @ApiProperty({ type: String, format: 'date-time' })
  updated_at!: string;
}

export class DestinationListDto {
  @ApiProperty({ type: [DestinationDto], description: 'Newest first.' })
  data!: DestinationDto[];
}

export class DeletedDestinationDto extends DeletedDto {}

/** Outcome of a test delivery. */
export class DestinationTestDto {
  @ApiProperty({ description: 'Whether the receiver answered with a 2xx status.' })
  delivered!: boolean;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Status of the response; null when there was none.',
  })
  status!: number | null;

  @ApiProperty({ type: String, nullable: true, example: 'answered with status 500' })
  error!: string | null;

  @ApiProperty({ type: 'integer' })
  duration_ms!: number;

  @ApiProperty({ description: 'Id of the sample trace.', minLength: 32, maxLength: 32 })
  trace_id!: string;
}

export class CreateDestinationDto {
  @IsDestinationKind()
  destination?: 'webhook';

  @IsFlag('enabled', true, 'Whether traces are sent.')
  enabled?: boolean;

  @ApiUrl()
  @IsUrlText()
  url!: string;

  @IsMethod()
  method?: 'POST';

  @IsHeaderObject()
  headers?: Record<string, unknown>;

  @IsRate()
  sampling_rate?: number;

  @IsFlag('include_content', false, 'Whether traces contain prompts and answers.')
  include_content?: boolean;
}

/** Omitted fields keep their values. `headers` are replaced as a whole. */
export class UpdateDestinationDto {
  @IsDestinationKind()
  destination?: 'webhook';

  @IsFlag('enabled', true, 'Whether traces are sent.')
  enabled?: boolean;

  @ApiPropertyOptional(URL_PROPERTY)
  @MayBeAbsent()
  @IsUrlText()
  url?: string;

  @IsMethod()
  method?: 'POST';

  @IsHeaderObject()
  headers?: Record<string, unknown>;

  @IsRate()
  sampling_rate?: number;

  @IsFlag('include_content', false, 'Whether traces contain prompts and answers.')
  include_content?: boolean;
}

function IsDestinationKind(): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ enum: ['webhook'], default: 'webhook' }),
    MayBeAbsent(),
    IsIn(['webhook'], { message: 'destination must be webhook' }),
  );
}

function IsMethod(): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ enum: ['POST'], default: 'POST' }),
    MayBeAbsent(),
    IsIn(['POST'], { message: 'method must be POST' }),
  );
}

function IsUrlText(): PropertyDecorator {
  const message = `url must be a string of at most ${MAX_URL_LENGTH} characters`;
  return applyDecorators(IsString({ message }), MaxLength(MAX_URL_LENGTH, { message }));
}

function IsFlag(name: string, whenAbsent: boolean, description: string): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ type: Boolean, default: whenAbsent, description }),
    MayBeAbsent(),
    IsBoolean({ message: `${name} must be true or false` }),
  );
}

function IsRate(): PropertyDecorator {
  const message = 'sampling_rate must be a number from 0 to 1';
  return applyDecorators(
    ApiPropertyOptional({
      type: Number,
      minimum: 0,
      maximum: 1,
      default: 1,
      description: 'Share of traces to send, decided by trace id.',
    }),
    MayBeAbsent(),
    IsNumber({ allowInfinity: false, allowNaN: false }, { message }),
    Min(0, { message }),
    Max(1, { message }),
  );
}

/** Checks only the object. `readDestinationHeaders` validates its content. */
function IsHeaderObject(): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ ...HEADERS_PROPERTY, example: { 'X-Api-Key': 'key-of-the-collector' } }),
    MayBeAbsent(),
    IsObject({ message: 'headers must be an object of header name to value' }),
  );
}
