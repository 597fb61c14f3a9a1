import { ApiProperty } from '@nestjs/swagger';
import { ROUTE_STATES } from '../../../core/routing/route-health.js';
import { CursorPageDto } from '../../../platform/http/cursor-page.js';

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
  @ApiProperty({ type: 'integer', description: 'Length of the period in seconds.', example: 62 })
  seconds!: number;

  @ApiProperty({ type: 'integer', description: 'Completed requests.', example: 4_120 })
  requests!: number;

  @ApiProperty({ type: 'integer', description: 'Failed requests.', example: 3 })
  errors!: number;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Milliseconds to the end of the answer, with one decimal; null without requests.',
    example: 724,
  })
  latency_p50!: number | null;

  @ApiProperty({ type: 'integer', nullable: true, example: 2_896 })
  latency_p95!: number | null;
}

class InstanceRouteDto {
  @ApiProperty({ example: 'sandbox' })
  provider!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: "The provider's name of the model; null for the whole provider.",
    example: 'echo',
  })
  model!: string | null;

  @ApiProperty({
    enum: ROUTE_STATES,
    description: '`cooling`: the vendor asked to wait. `open`: repeated failures.',
    example: 'open',
  })
  state!: string;
}

/** How often requests were hedged with a second route. */
class InstanceHedgingDto {
  @ApiProperty({ type: 'integer', description: 'Requests that could be hedged.', example: 812 })
  requests!: number;

  @ApiProperty({ type: 'integer', description: 'Requests that were hedged.', example: 40 })
  hedged!: number;

  @ApiProperty({ type: 'integer', description: 'Requests answered by the hedge.', example: 31 })
  won!: number;
}

/** A running instance. Fields unknown to older versions are null. */
export class InstanceDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ description: 'Whether this instance sent the response.' })
  is_self!: boolean;

  @ApiProperty({ type: String, enum: ['gateway', 'worker'], nullable: true, example: 'gateway' })
  role!: string | null;

  @ApiProperty({ type: String, nullable: true, example: '1.0.0' })
  version!: string | null;

  @ApiProperty({ type: String, nullable: true, example: 'gateway-1' })
  host!: string | null;

  @ApiProperty({ type: 'integer', nullable: true, example: 4711 })
  pid!: number | null;

  @ApiProperty({ type: String, format: 'date-time' })
  started_at!: string;

  @ApiProperty({ type: 'integer', example: 86_400 })
  uptime_seconds!: number;

  @ApiProperty({
    type: String,
    format: 'date-time',
    description: 'Sent every 5 s. An instance without one for 20 s is no longer listed.',
  })
  heartbeat_at!: string;

  @ApiProperty({ type: String, nullable: true, description: 'Latest migration it knows.' })
  schema!: string | null;

  @ApiProperty({ type: String, nullable: true, description: 'Fingerprint of GATEWAY_SECRET.' })
  secret!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Fingerprint of its models, routes and prices.',
    example: '0f3a9c55d21b',
  })
  catalogue!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Fingerprint of its whole configuration.',
    example: '0f3a9c55d21b',
  })
  config!: string | null;

  @ApiProperty({ type: String, nullable: true, description: 'Artifact storage location.' })
  artifacts!: string | null;

  @ApiProperty({
    enum: INSTANCE_PARTS,
    isArray: true,
    description: 'Aspects in which it differs from the majority.',
    example: [],
  })
  differs!: InstancePart[];

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Model calls in progress.',
    example: 12,
  })
  requests_in_flight!: number | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Settlements and log rows waiting to be committed.',
    example: 0,
  })
  pending_settlements!: number | null;

  @ApiProperty({
    type: RecentRequestsDto,
    nullable: true,
    description: 'About one minute up to the heartbeat.',
  })
  recent!: RecentRequestsDto | null;

  @ApiProperty({
    type: [InstanceRouteDto],
    description:
      'Shared routes in cooldown or with an open breaker at the heartbeat, worst first, at most 50.',
  })
  routes!: InstanceRouteDto[];

  @ApiProperty({ type: 'integer', description: 'Number of further such routes.', example: 0 })
  more_routes!: number;

  @ApiProperty({
    type: InstanceHedgingDto,
    nullable: true,
    description: 'The latest 1,000 requests with `hedge_ms` and a second route.',
  })
  hedging!: InstanceHedgingDto | null;
}

class QueueTopicDto {
  @ApiProperty({ example: 'jobs' })
  topic!: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'integer' },
    description: 'Rows of background work by state.',
    example: { waiting: 0, delayed: 2 },
  })
  depth!: Record<string, number>;
}

export class InstanceListDto extends CursorPageDto {
  @ApiProperty({ type: [InstanceDto], description: 'All running instances, oldest first.' })
  data!: InstanceDto[];

  @ApiProperty({
    type: [QueueTopicDto],
    nullable: true,
    description: 'Background work of all instances; null when unavailable.',
  })
  queue!: QueueTopicDto[] | null;
}
