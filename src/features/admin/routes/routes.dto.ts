import { CursorPageDto, CursorPageQueryDto } from '../../../platform/http/cursor-page.js';
import {
  BooleanField,
  DateTimeField,
  EnumField,
  IntegerField,
  NumberField,
  QueryIntegerField,
  SchemaField,
  StringField,
  UuidField,
  type FieldOptions,
} from '../../../platform/http/field.decorators.js';
import { ObjectField, ObjectListField } from '../../../platform/http/nested-field.decorators.js';
import { MODEL_KINDS, type ModelKind } from '../../../core/catalogue/catalogue.types.js';
import { ROUTE_STATES } from '../../../core/routing/route-health.js';
import { PercentilesDto } from '../../../core/routing/percentiles.dto.js';

export class RoutePauseDto {
  @StringField({ example: 'sandbox' })
  provider!: string;

  @StringField({
    nullable: true,
    description: 'Null: the whole provider.',
    example: 'sandbox/echo',
  })
  model!: string | null;

  @StringField({ example: 'answers are cut short' })
  reason!: string;

  @StringField({ description: 'Name of the author.', example: 'console' })
  paused_by!: string;

  @DateTimeField()
  paused_at!: string;

  @DateTimeField({
    nullable: true,
    description: 'When it ends automatically; null: when someone resumes it.',
  })
  until!: string | null;
}

export class RoutePauseListDto extends CursorPageDto {
  @ObjectListField(RoutePauseDto, { description: 'Current pauses, newest first.' })
  data!: RoutePauseDto[];
}

/** State of a route or provider on one instance. */
export class InstanceStateDto {
  @UuidField()
  instance_id!: string;

  @EnumField<string, FieldOptions>(ROUTE_STATES, {
    description:
      '`cooling`: the vendor asked to wait. `open`: repeated failures opened the breaker.',
    example: 'open',
  })
  state!: string;
}

export class RouteQueryDto extends CursorPageQueryDto {
  @StringField({
    optional: true,
    description: 'Only of this provider.',
    example: 'sandbox',
    message: 'must be a single string',
  })
  provider?: string;

  @StringField({
    optional: true,
    description: 'Only models whose name contains this.',
    example: 'echo',
    message: 'must be a single string',
  })
  model?: string;
}

export class OperatedRouteDto {
  @StringField({ description: 'Catalogue row; a family ends in `*`.', example: 'sandbox/echo' })
  model!: string;

  @EnumField(MODEL_KINDS)
  kind!: ModelKind;

  @StringField({ example: 'sandbox' })
  provider!: string;

  @StringField({ description: "The provider's name of the model.", example: 'echo' })
  upstream_model!: string;

  @IntegerField({ description: 'Position among the routes of the model.', example: 0 })
  position!: number;

  @BooleanField({ description: 'Whether the provider is configured on this instance.' })
  is_configured!: boolean;

  @ObjectField(RoutePauseDto, {
    nullable: true,
    description: 'The pause in effect; the widest of several.',
  })
  pause!: RoutePauseDto | null;

  @EnumField<string, FieldOptions>(ROUTE_STATES, {
    description: 'The worst state on any instance, of the model or the whole provider.',
    example: 'healthy',
  })
  state!: string;

  @ObjectListField(InstanceStateDto, { description: 'Instances with a cooldown or open breaker.' })
  instances!: InstanceStateDto[];

  @NumberField({
    nullable: true,
    description:
      'Share of prompt tokens of the last half-hour that the vendor read from its cache, 0 to 1; null without any.',
    example: 0.62,
  })
  cache_hit_rate!: number | null;

  @ObjectField(PercentilesDto, {
    nullable: true,
    description:
      'Milliseconds to first content on shared capacity over the last 5 to 10 minutes, of all instances ' +
      'as known to the responding one; null without data.',
  })
  latency!: PercentilesDto | null;

  @ObjectField(PercentilesDto, {
    nullable: true,
    description: 'Output tokens per second over the same period.',
  })
  throughput!: PercentilesDto | null;
}

export class OperatedRouteListDto extends CursorPageDto {
  @ObjectListField(OperatedRouteDto, { description: 'By model, in the order of attempts.' })
  data!: OperatedRouteDto[];
}

const MAX_HOURS = 168;

export class RouteHistoryQueryDto {
  @QueryIntegerField({
    minimum: 1,
    maximum: MAX_HOURS,
    default: 24,
    description: 'Length of the history.',
  })
  hours: number = 24;
}

export class RouteStepDto {
  @DateTimeField({ description: 'Start of the step.' })
  at!: string;

  @IntegerField({ example: 1_204 })
  answered!: number;

  @IntegerField({
    description: 'Failed or interrupted calls. Interrupted calls count as answered too.',
    example: 3,
  })
  failed!: number;

  @IntegerField({
    nullable: true,
    description: 'Mean milliseconds to first content of answered calls.',
    example: 310,
  })
  latency_ms!: number | null;

  @IntegerField({ description: 'Prompt tokens of completed answers.', example: 48_200 })
  prompt_tokens!: number;

  @IntegerField({ description: "Prompt tokens read from the vendor's cache.", example: 30_100 })
  cached_tokens!: number;
}

export class RoutePastDto {
  @StringField({ example: 'sandbox' })
  provider!: string;

  @StringField({ description: 'Catalogue row.', example: 'sandbox/echo' })
  model!: string;

  @ObjectListField(RouteStepDto, { description: 'Steps with calls, oldest first.' })
  steps!: RouteStepDto[];
}

export class RouteHistoryDto {
  @EnumField(['route_history'])
  object!: 'route_history';

  @DateTimeField({ description: 'Start of the first step.' })
  start!: string;

  @SchemaField({ type: 'integer', enum: [300, 1_800, 14_400] }, { example: 1_800 })
  step_seconds!: number;

  @ObjectListField(RoutePastDto, { description: 'Routes with calls, by provider.' })
  data!: RoutePastDto[];
}

/** Names a route, or a whole provider. */
export class RouteNameDto {
  @StringField({ example: 'sandbox', message: 'must be the id of a provider' })
  provider!: string;

  @StringField({
    optional: true,
    nullable: true,
    description: 'Alias or catalogue row; null or absent: the whole provider.',
    example: 'sandbox/echo',
    message: 'must be a model name',
  })
  model?: string | null;
}

const MAX_REASON = 1_000;

export class PauseRouteDto extends RouteNameDto {
  @StringField({
    minLength: 1,
    maxLength: MAX_REASON,
    description: 'Shown to other operators.',
    example: 'answers are cut short',
  })
  reason!: string;

  @DateTimeField({
    optional: true,
    nullable: true,
    description:
      'When it ends automatically, in the future; null or absent: when someone resumes it.',
    example: '2030-12-31T23:59:59Z',
  })
  until?: string | null;
}
