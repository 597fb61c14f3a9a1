import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsInt, IsOptional, IsString, Matches, Max, Min } from 'class-validator';
import { MODEL_KINDS, type ModelKind } from '../../../core/catalogue/catalogue.types.js';
import { ROUTE_STATES, type RouteState } from '../../../core/routing/route-health.js';
import { PercentilesDto } from '../../../core/routing/percentiles.dto.js';
import { CursorPageDto, CursorPageQueryDto } from '../../../platform/http/cursor-page.js';
import { IsIsoDateTime, QueryInteger } from '../../../platform/http/field.decorators.js';

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

  @ApiProperty({
    type: Number,
    nullable: true,
    description:
      'Share of the prompt tokens of the last half-hour that the vendor read from its cache, 0 to 1; null without any.',
    example: 0.62,
  })
  cache_hit_rate!: number | null;

  @ApiProperty({
    type: PercentilesDto,
    nullable: true,
    description:
      'Milliseconds to the first content over shared capacity, as the instance that answers knows it of all ' +
      'instances, of the last 5 to 10 minutes; null without any.',
  })
  latency!: PercentilesDto | null;

  @ApiProperty({
    type: PercentilesDto,
    nullable: true,
    description: 'The same of output tokens a second.',
  })
  throughput!: PercentilesDto | null;
}

export class OperatedRouteListDto extends CursorPageDto {
  @ApiProperty({
    type: [OperatedRouteDto],
    description: 'By model, in the order in which they are tried.',
  })
  data!: OperatedRouteDto[];
}

const MAX_HOURS = 168;
const HOURS = `hours must be a whole number from 1 to ${MAX_HOURS}`;

export class RouteHistoryQueryDto {
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: MAX_HOURS,
    default: 24,
    description: 'How far back.',
  })
  @QueryInteger()
  @IsInt({ message: HOURS })
  @Min(1, { message: HOURS })
  @Max(MAX_HOURS, { message: HOURS })
  hours: number = 24;
}

export class RouteStepDto {
  @ApiProperty({ format: 'date-time', description: 'Its begin.' })
  at!: string;

  @ApiProperty({ type: 'integer', example: 1_204 })
  answered!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Not answered, or broken off, which counts as answered too.',
    example: 3,
  })
  failed!: number;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Milliseconds to the first content, the mean of what was answered.',
    example: 310,
  })
  latency_ms!: number | null;

  @ApiProperty({
    type: 'integer',
    description: 'Prompt tokens of answers that came to their end.',
    example: 48_200,
  })
  prompt_tokens!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Those of them that the vendor read from its cache.',
    example: 30_100,
  })
  cached_tokens!: number;
}

export class RoutePastDto {
  @ApiProperty({ example: 'sandbox' })
  provider!: string;

  @ApiProperty({ description: 'A row of the catalogue.', example: 'sandbox/echo' })
  model!: string;

  @ApiProperty({ type: [RouteStepDto], description: 'Steps with calls, the oldest first.' })
  steps!: RouteStepDto[];
}

export class RouteHistoryDto {
  @ApiProperty({ enum: ['route_history'] })
  object!: 'route_history';

  @ApiProperty({ format: 'date-time', description: 'Begin of the first step.' })
  start!: string;

  @ApiProperty({ type: 'integer', enum: [300, 1_800, 14_400], example: 1_800 })
  step_seconds!: number;

  @ApiProperty({ type: [RoutePastDto], description: 'Routes that were called, by provider.' })
  data!: RoutePastDto[];
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
