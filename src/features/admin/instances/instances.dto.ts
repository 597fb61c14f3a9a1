import { ApiProperty } from '@nestjs/swagger';
import { ROUTE_STATES } from '../../../core/routing/route-health.js';
import { CursorPageDto } from '../../../platform/http/cursor-page.js';

/** What instances may differ in. */
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
  @ApiProperty({ type: 'integer', description: 'How long this is about.', example: 62 })
  seconds!: number;

  @ApiProperty({ type: 'integer', description: 'Requests that have ended.', example: 4_120 })
  requests!: number;

  @ApiProperty({ type: 'integer', description: 'Those of them that failed.', example: 3 })
  errors!: number;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Milliseconds to the end of the answer, to a tenth; null without requests.',
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
    description: "The provider's own name for the model; null: the provider as a whole.",
    example: 'echo',
  })
  model!: string | null;

  @ApiProperty({
    enum: ROUTE_STATES,
    description: '`cooling`: the vendor asked to wait; `open`: a run of failures.',
    example: 'open',
  })
  state!: string;
}

/** How often a second route was asked because the first was silent. */
class InstanceHedgingDto {
  @ApiProperty({ type: 'integer', description: 'Requests that it may be asked for.', example: 812 })
  requests!: number;

  @ApiProperty({ type: 'integer', description: 'Those that had one.', example: 40 })
  hedged!: number;

  @ApiProperty({ type: 'integer', description: 'Those that it answered.', example: 31 })
  won!: number;
}

/** A process that is alive. Of an older version some of it is not known, and null. */
export class InstanceDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ description: 'Whether it gives this answer.' })
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
    description: 'Every 5 s. After 20 s without one the process is not listed any more.',
  })
  heartbeat_at!: string;

  @ApiProperty({ type: String, nullable: true, description: 'The last migration that it knows.' })
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
    description: 'Fingerprint of all that it is configured to do.',
    example: '0f3a9c55d21b',
  })
  config!: string | null;

  @ApiProperty({ type: String, nullable: true, description: 'Where it keeps artifacts.' })
  artifacts!: string | null;

  @ApiProperty({
    enum: INSTANCE_PARTS,
    isArray: true,
    description: 'What most of the others have otherwise.',
    example: [],
  })
  differs!: InstancePart[];

  @ApiProperty({ type: 'integer', nullable: true, description: 'Calls of models.', example: 12 })
  requests_in_flight!: number | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Settlements and log rows that wait for their commit.',
    example: 0,
  })
  pending_settlements!: number | null;

  @ApiProperty({
    type: RecentRequestsDto,
    nullable: true,
    description: 'Of about the last minute, as of its heartbeat.',
  })
  recent!: RecentRequestsDto | null;

  @ApiProperty({
    type: [InstanceRouteDto],
    description:
      'Shared routes that it leaves alone, the worst first, 50 at most; of its heartbeat.',
  })
  routes!: InstanceRouteDto[];

  @ApiProperty({ type: 'integer', description: 'How many more of those there are.', example: 0 })
  more_routes!: number;

  @ApiProperty({
    type: InstanceHedgingDto,
    nullable: true,
    description: 'Of its latest 1,000 requests with `hedge_ms` that had a second route.',
  })
  hedging!: InstanceHedgingDto | null;
}

class QueueTopicDto {
  @ApiProperty({ example: 'jobs' })
  topic!: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'integer' },
    description: 'Wake-ups of workers by state.',
    example: { waiting: 0, delayed: 2 },
  })
  depth!: Record<string, number>;
}

export class InstanceListDto extends CursorPageDto {
  @ApiProperty({ type: [InstanceDto], description: 'All that are alive, the oldest first.' })
  data!: InstanceDto[];

  @ApiProperty({
    type: [QueueTopicDto],
    nullable: true,
    description: 'The queue that all share; null: it cannot be reached.',
  })
  queue!: QueueTopicDto[] | null;
}
