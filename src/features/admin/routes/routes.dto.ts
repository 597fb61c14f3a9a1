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
    description: 'Null: the whole provider.',
    example: 'sandbox/echo',
  })
  model!: string | null;

  @ApiProperty({ example: 'answers are cut short' })
  reason!: string;

  @ApiProperty({ description: 'Name of the author.', example: 'console' })
  paused_by!: string;

  @ApiProperty({ type: String, format: 'date-time' })
  paused_at!: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'When it ends automatically; null: when someone resumes it.',
  })
  until!: string | null;
}

export class RoutePauseListDto extends CursorPageDto {
  @ApiProperty({ type: [RoutePauseDto], description: 'Current pauses, newest first.' })
  data!: RoutePauseDto[];
}

/** State of a route or provider on one instance. */
export class InstanceStateDto {
  @ApiProperty({ format: 'uuid' })
  instance_id!: string;

  @ApiProperty({
    enum: ROUTE_STATES,
    description:
      '`cooling`: the vendor asked to wait. `open`: repeated failures opened the breaker.',
    example: 'open',
  })
  state!: string;
}

export class RouteQueryDto extends CursorPageQueryDto {
  @ApiPropertyOptional({ description: 'Only of this provider.', example: 'sandbox' })
  @IsOptional()
  @IsString({ message: 'provider must be a single string' })
  provider?: string;

  @ApiPropertyOptional({ description: 'Only models whose name contains this.', example: 'echo' })
  @IsOptional()
  @IsString({ message: 'model must be a single string' })
  model?: string;
}

export class OperatedRouteDto {
  @ApiProperty({
    description: 'Catalogue row; a family ends in `*`.',
    example: 'sandbox/echo',
  })
  model!: string;

  @ApiProperty({ enum: MODEL_KINDS })
  kind!: ModelKind;

  @ApiProperty({ example: 'sandbox' })
  provider!: string;

  @ApiProperty({ description: "The provider's name of the model.", example: 'echo' })
  upstream_model!: string;

  @ApiProperty({
    type: 'integer',
    description: 'Position among the routes of the model.',
    example: 0,
  })
  position!: number;

  @ApiProperty({ description: 'Whether the provider is configured on this instance.' })
  is_configured!: boolean;

  @ApiProperty({
    type: RoutePauseDto,
    nullable: true,
    description: 'The pause in effect; the widest of several.',
  })
  pause!: RoutePauseDto | null;

  @ApiProperty({
    enum: ROUTE_STATES,
    description: 'The worst state on any instance, of the model or the whole provider.',
    example: 'healthy',
  })
  state!: RouteState;

  @ApiProperty({
    type: [InstanceStateDto],
    description: 'Instances with a cooldown or open breaker.',
  })
  instances!: InstanceStateDto[];

  @ApiProperty({
    type: Number,
    nullable: true,
    description:
      'Share of prompt tokens of the last half-hour that the vendor read from its cache, 0 to 1; null without any.',
    example: 0.62,
  })
  cache_hit_rate!: number | null;

  @ApiProperty({
    type: PercentilesDto,
    nullable: true,
    description:
      'Milliseconds to first content on shared capacity over the last 5 to 10 minutes, of all instances ' +
      'as known to the responding one; null without data.',
  })
  latency!: PercentilesDto | null;

  @ApiProperty({
    type: PercentilesDto,
    nullable: true,
    description: 'Output tokens per second over the same period.',
  })
  throughput!: PercentilesDto | null;
}

export class OperatedRouteListDto extends CursorPageDto {
  @ApiProperty({
    type: [OperatedRouteDto],
    description: 'By model, in the order of attempts.',
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
    description: 'Length of the history.',
  })
  @QueryInteger()
  @IsInt({ message: HOURS })
  @Min(1, { message: HOURS })
  @Max(MAX_HOURS, { message: HOURS })
  hours: number = 24;
}

export class RouteStepDto {
  @ApiProperty({ format: 'date-time', description: 'Start of the step.' })
  at!: string;

  @ApiProperty({ type: 'integer', example: 1_204 })
  answered!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Failed or interrupted calls. Interrupted calls count as answered too.',
    example: 3,
  })
  failed!: number;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Mean milliseconds to first content of answered calls.',
    example: 310,
  })
  latency_ms!: number | null;

  @ApiProperty({
    type: 'integer',
    description: 'Prompt tokens of completed answers.',
    example: 48_200,
  })
  prompt_tokens!: number;

  @ApiProperty({
    type: 'integer',
    description: "Prompt tokens read from the vendor's cache.",
    example: 30_100,
  })
  cached_tokens!: number;
}

export class RoutePastDto {
  @ApiProperty({ example: 'sandbox' })
  provider!: string;

  @ApiProperty({ description: 'Catalogue row.', example: 'sandbox/echo' })
  model!: string;

  @ApiProperty({ type: [RouteStepDto], description: 'Steps with calls, oldest first.' })
  steps!: RouteStepDto[];
}

export class RouteHistoryDto {
  @ApiProperty({ enum: ['route_history'] })
  object!: 'route_history';

  @ApiProperty({ format: 'date-time', description: 'Start of the first step.' })
  start!: string;

  @ApiProperty({ type: 'integer', enum: [300, 1_800, 14_400], example: 1_800 })
  step_seconds!: number;

  @ApiProperty({ type: [RoutePastDto], description: 'Routes with calls, by provider.' })
  data!: RoutePastDto[];
}

/** Names a route, or a whole provider. */
export class RouteNameDto {
  @ApiProperty({ example: 'sandbox' })
  @IsString({ message: 'provider must be the id of a provider' })
  provider!: string;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description: 'Alias or catalogue row; null or absent: the whole provider.',
    example: 'sandbox/echo',
  })
  @IsOptional()
  @IsString({ message: 'model must be a model name' })
  model?: string | null;
}

const MAX_REASON = 1_000;

export class PauseRouteDto extends RouteNameDto {
  @ApiProperty({
    minLength: 1,
    maxLength: MAX_REASON,
    description: 'Shown to other operators.',
    example: 'answers are cut short',
  })
  @Matches(new RegExp(`^[^]{1,${MAX_REASON}}$`, 'u'), {
    message: `reason must be a string of 1 to ${MAX_REASON} characters`,
  })
  reason!: string;

  @ApiPropertyOptional({
    type: String,
    format: 'date-time',
    nullable: true,
    description:
      'When it ends automatically, in the future; null or absent: when someone resumes it.',
    example: '2030-12-31T23:59:59Z',
  })
  @IsOptional()
  @IsIsoDateTime()
  until?: string | null;
}
