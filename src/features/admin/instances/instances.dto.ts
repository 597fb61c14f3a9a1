import { CursorPageDto } from '../../../platform/http/cursor-page.js';
import {
  BooleanField,
  DateTimeField,
  EnumField,
  IntegerField,
  MapField,
  StringField,
  UuidField,
  type FieldOptions,
} from '../../../platform/http/field.decorators.js';
import {
  EnumListField,
  ObjectField,
  ObjectListField,
} from '../../../platform/http/nested-field.decorators.js';
import { ROUTE_STATES } from '../../../core/routing/route-health.js';

/** Aspects in which instances can differ. */
export const INSTANCE_PARTS = [
  'version',
  'schema',
  'secret',
  'catalogue',
  'config',
  'artifacts',
] as const;
export type InstancePart = (typeof INSTANCE_PARTS)[number];

class RecentRequestsDto {
  @IntegerField({ description: 'Length of the period in seconds.', example: 62 })
  seconds!: number;

  @IntegerField({ description: 'Completed requests.', example: 4_120 })
  requests!: number;

  @IntegerField({ description: 'Failed requests.', example: 3 })
  errors!: number;

  @IntegerField({
    nullable: true,
    description: 'Milliseconds to the end of the answer, with one decimal; null without requests.',
    example: 724,
  })
  latency_p50!: number | null;

  @IntegerField({ nullable: true, example: 2_896 })
  latency_p95!: number | null;
}

class InstanceRouteDto {
  @StringField({ example: 'sandbox' })
  provider!: string;

  @StringField({
    nullable: true,
    description: "The provider's name of the model; null for the whole provider.",
    example: 'echo',
  })
  model!: string | null;

  @EnumField<string, FieldOptions>(ROUTE_STATES, {
    description: '`cooling`: the vendor asked to wait. `open`: repeated failures.',
    example: 'open',
  })
  state!: string;
}

/** How often requests were hedged with a second route. */
class InstanceHedgingDto {
  @IntegerField({ description: 'Requests that could be hedged.', example: 812 })
  requests!: number;

  @IntegerField({ description: 'Requests that were hedged.', example: 40 })
  hedged!: number;

  @IntegerField({ description: 'Requests answered by the hedge.', example: 31 })
  won!: number;
}

/** A running instance. Fields unknown to older versions are null. */
export class InstanceDto {
  @UuidField()
  id!: string;

  @BooleanField({ description: 'Whether this instance sent the response.' })
  is_self!: boolean;

  @EnumField(['gateway', 'worker'], { nullable: true, example: 'gateway' })
  role!: 'gateway' | 'worker' | null;

  @StringField({ nullable: true, example: '1.0.0' })
  version!: string | null;

  @StringField({ nullable: true, example: 'gateway-1' })
  host!: string | null;

  @IntegerField({ nullable: true, example: 4711 })
  pid!: number | null;

  @DateTimeField()
  started_at!: string;

  @IntegerField({ example: 86_400 })
  uptime_seconds!: number;

  @DateTimeField({
    description: 'Sent every 5 s. An instance without one for 20 s is no longer listed.',
  })
  heartbeat_at!: string;

  @StringField({ nullable: true, description: 'Latest migration it knows.' })
  schema!: string | null;

  @StringField({ nullable: true, description: 'Fingerprint of GATEWAY_SECRET.' })
  secret!: string | null;

  @StringField({
    nullable: true,
    description: 'Fingerprint of its models, routes and prices.',
    example: '0f3a9c55d21b',
  })
  catalogue!: string | null;

  @StringField({
    nullable: true,
    description: 'Fingerprint of its whole configuration.',
    example: '0f3a9c55d21b',
  })
  config!: string | null;

  @StringField({ nullable: true, description: 'Artifact storage location.' })
  artifacts!: string | null;

  @EnumListField(INSTANCE_PARTS, {
    description: 'Aspects in which it differs from the majority.',
    example: [],
  })
  differs!: InstancePart[];

  @IntegerField({ nullable: true, description: 'Model calls in progress.', example: 12 })
  requests_in_flight!: number | null;

  @IntegerField({
    nullable: true,
    description: 'Settlements and log rows waiting to be committed.',
    example: 0,
  })
  pending_settlements!: number | null;

  @ObjectField(RecentRequestsDto, {
    nullable: true,
    description: 'About one minute up to the heartbeat.',
  })
  recent!: RecentRequestsDto | null;

  @ObjectListField(InstanceRouteDto, {
    description:
      'Shared routes in cooldown or with an open breaker at the heartbeat, worst first, at most 50.',
  })
  routes!: InstanceRouteDto[];

  @IntegerField({ description: 'Number of further such routes.', example: 0 })
  more_routes!: number;

  @ObjectField(InstanceHedgingDto, {
    nullable: true,
    description: 'The latest 1,000 requests with `hedge_ms` and a second route.',
  })
  hedging!: InstanceHedgingDto | null;
}

class QueueTopicDto {
  @StringField({ example: 'jobs' })
  topic!: string;

  @MapField(
    { type: 'integer' },
    { description: 'Rows of background work by state.', example: { waiting: 0, delayed: 2 } },
  )
  depth!: Record<string, number>;
}

export class InstanceListDto extends CursorPageDto {
  @ObjectListField(InstanceDto, { description: 'All running instances, oldest first.' })
  data!: InstanceDto[];

  @ObjectListField(QueueTopicDto, {
    nullable: true,
    description: 'Background work of all instances; null when unavailable.',
  })
  queue!: QueueTopicDto[] | null;
}
