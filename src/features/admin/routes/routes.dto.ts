import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, IsString, Matches } from 'class-validator';
import { MODEL_KINDS, type ModelKind } from '../../../core/catalogue/catalogue.types.js';
import { ROUTE_STATES, type RouteState } from '../../../core/routing/route-health.js';
import { PROVIDER_STATUSES, type ProviderStatus } from '../../../core/routing/provider-status.js';
import { PROVIDER_TYPES, type ProviderType } from '../../../platform/config/app-config.js';
import { CursorPageDto, CursorPageQueryDto } from '../../../platform/http/cursor-page.js';
import { IsIsoDateTime } from '../../../platform/http/field.decorators.js';

export class RoutePauseDto {
  @ApiProperty({ example: 'sandbox' })
  provider!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Null: all that the provider serves.',
    example: 'sandbox/echo',
  })
  model!: string | null;

  @ApiProperty({ example: 'answers are cut short' })
  reason!: string;

  @ApiProperty({ description: 'The name of who paused it.', example: 'console' })
  paused_by!: string;

  @ApiProperty({ type: String, format: 'date-time' })
  paused_at!: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'When it ends by itself; null: when somebody resumes it.',
  })
  until!: string | null;
}

export class RoutePauseListDto extends CursorPageDto {
  @ApiProperty({ type: [RoutePauseDto], description: 'All that hold now, the latest first.' })
  data!: RoutePauseDto[];
}

/** What one process has seen of a route or provider. */
export class InstanceStateDto {
  @ApiProperty({ format: 'uuid' })
  instance_id!: string;

  @ApiProperty({
    enum: ROUTE_STATES,
    description:
      '`cooling`: the vendor asked to wait; `open`: a run of failures opened the breaker.',
    example: 'open',
  })
  state!: string;
}

class HealthDto {
  @ApiProperty({ type: 'integer', description: 'Milliseconds, the median.', example: 120 })
  latency_p50!: number;

  @ApiProperty({ type: 'integer', description: 'Milliseconds.', example: 180 })
  latency_p99!: number;

  @ApiProperty({ description: 'Failed probes of all within 10 s, 0 to 1.', example: 0 })
  error_rate!: number;

  @ApiProperty({ type: String, format: 'date-time' })
  last_checked_at!: string;
}

export class OperatedProviderDto {
  @ApiProperty({ example: 'sandbox' })
  id!: string;

  @ApiProperty({ example: 'Sandbox' })
  name!: string;

  @ApiProperty({ enum: PROVIDER_TYPES })
  type!: ProviderType;

  @ApiProperty({ enum: PROVIDER_STATUSES, description: 'What probes of it say now.' })
  status!: ProviderStatus;

  @ApiProperty({ type: HealthDto })
  health!: HealthDto;

  @ApiProperty({ type: RoutePauseDto, nullable: true, description: 'Of the provider as a whole.' })
  pause!: RoutePauseDto | null;

  @ApiProperty({
    type: [InstanceStateDto],
    description: 'Processes that leave it alone as a whole.',
  })
  instances!: InstanceStateDto[];
}

export class OperatedProviderListDto extends CursorPageDto {
  @ApiProperty({ type: [OperatedProviderDto] })
  data!: OperatedProviderDto[];
}

export class RouteQueryDto extends CursorPageQueryDto {
  @ApiPropertyOptional({ description: 'Only of this provider.', example: 'sandbox' })
  @IsOptional()
  @IsString({ message: 'provider must be one text' })
  provider?: string;

  @ApiPropertyOptional({ description: 'Only of models with this in their names.', example: 'echo' })
  @IsOptional()
  @IsString({ message: 'model must be one text' })
  model?: string;
}

export class OperatedRouteDto {
  @ApiProperty({
    description: 'A row of the catalogue; a family ends in `*`.',
    example: 'sandbox/echo',
  })
  model!: string;

  @ApiProperty({ enum: MODEL_KINDS })
  kind!: ModelKind;

  @ApiProperty({ example: 'sandbox' })
  provider!: string;

  @ApiProperty({ description: "The provider's own name for the model.", example: 'echo' })
  upstream_model!: string;

  @ApiProperty({
    type: 'integer',
    description: 'Its place among the routes of the model.',
    example: 0,
  })
  position!: number;

  @ApiProperty({ description: 'Whether the provider is configured here.' })
  is_configured!: boolean;

  @ApiProperty({
    type: RoutePauseDto,
    nullable: true,
    description: 'Why it is not tried; of several pauses the widest.',
  })
  pause!: RoutePauseDto | null;

  @ApiProperty({
    enum: ROUTE_STATES,
    description: 'The worst that any process has seen, of the model or of the provider as a whole.',
    example: 'healthy',
  })
  state!: RouteState;

  @ApiProperty({ type: [InstanceStateDto], description: 'Processes that leave it alone.' })
  instances!: InstanceStateDto[];
}

export class OperatedRouteListDto extends CursorPageDto {
  @ApiProperty({
    type: [OperatedRouteDto],
    description: 'By model, in the order in which they are tried.',
  })
  data!: OperatedRouteDto[];
}

/** A route, or all of a provider. */
export class RouteNameDto {
  @ApiProperty({ example: 'sandbox' })
  @IsString({ message: 'provider must be the id of a provider' })
  provider!: string;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description:
      'An alias, or a row of the catalogue; null or absent: all that the provider serves.',
    example: 'sandbox/echo',
  })
  @IsOptional()
  @IsString({ message: 'model must be the name of a model' })
  model?: string | null;
}

const MAX_REASON = 1_000;

export class PauseRouteDto extends RouteNameDto {
  @ApiProperty({
    minLength: 1,
    maxLength: MAX_REASON,
    description: 'For other operators.',
    example: 'answers are cut short',
  })
  @Matches(new RegExp(`^[^]{1,${MAX_REASON}}$`, 'u'), {
    message: `reason must be a text of 1 to ${MAX_REASON} characters`,
  })
  reason!: string;

  @ApiPropertyOptional({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'When it ends by itself, in the future; null or absent: when somebody resumes it.',
    example: '2030-12-31T23:59:59Z',
  })
  @IsOptional()
  @IsIsoDateTime()
  until?: string | null;
}
