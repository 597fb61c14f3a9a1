import { ApiSchema } from '@nestjs/swagger';
import {
  BooleanField,
  DateTimeField,
  EnumField,
  MapField,
  IntegerField,
  NumberField,
  StringField,
  UuidField,
} from '../../platform/http/field.decorators.js';
import { ObjectField, ObjectListField } from '../../platform/http/nested-field.decorators.js';
import { ScopeDto } from '../../core/access/scope.js';
import { DeletedDto } from '../../platform/http/deleted.dto.js';
import { MAX_URL_LENGTH } from '../../platform/outbound/destination.js';

const HEADERS = {
  description: 'Sent with each delivery. Stored encrypted and never shown again.',
  example: { 'X-Api-Key': '********' },
} as const;

/** `readDestinationHeaders` validates their values. */
const NEW_HEADERS = {
  ...HEADERS,
  optional: true,
  example: { 'X-Api-Key': 'key-of-the-collector' },
} as const;

const URL_OPTIONS = {
  maxLength: MAX_URL_LENGTH,
  description: 'http or https. Must resolve to public addresses.',
  example: 'https://collector.example.com/v1/traces',
} as const;

const ENABLED = { default: true, description: 'Whether traces are sent.' } as const;
const WITH_CONTENT = {
  default: false,
  description: 'Whether traces contain prompts and answers.',
} as const;
const SAMPLING_RATE = {
  minimum: 0,
  maximum: 1,
  default: 1,
  description: 'Share of traces to send, decided by trace id.',
} as const;

/** A destination as its tenant sees it. */
@ApiSchema({ name: 'BroadcastDestination' })
export class DestinationDto {
  @UuidField()
  id!: string;

  @EnumField(['webhook'])
  destination!: 'webhook';

  @BooleanField()
  enabled!: boolean;

  @StringField(URL_OPTIONS)
  url!: string;

  @EnumField(['POST'])
  method!: 'POST';

  @MapField({ type: 'string' }, HEADERS)
  headers!: Record<string, string>;

  @NumberField({ minimum: 0, maximum: 1 })
  sampling_rate!: number;

  @BooleanField()
  include_content!: boolean;

  @ObjectField(ScopeDto)
  scope!: ScopeDto;

  @IntegerField({ description: 'Traces accepted by the receiver.' })
  delivered_count!: number;

  @IntegerField({ description: 'Dropped traces. `last_error` has the most recent reason.' })
  dropped_count!: number;

  @IntegerField({ description: 'Pending deliveries, each of up to 250 traces.' })
  pending_count!: number;

  @DateTimeField({ nullable: true })
  last_success_at!: string | null;

  @StringField({ nullable: true, example: 'answered with status 500' })
  last_error!: string | null;

  @DateTimeField({ nullable: true })
  last_error_at!: string | null;

  @DateTimeField()
  created_at!: string;

  @DateTimeField()
  updated_at!: string;
}

export class DestinationListDto {
  @ObjectListField(DestinationDto, { description: 'Newest first.' })
  data!: DestinationDto[];
}

export class DeletedDestinationDto extends DeletedDto {}

/** Outcome of a test delivery. */
export class DestinationTestDto {
  @BooleanField({ description: 'Whether the receiver answered with a 2xx status.' })
  delivered!: boolean;

  @IntegerField({
    nullable: true,
    description: 'Status of the response; null when there was none.',
  })
  status!: number | null;

  @StringField({ nullable: true, example: 'answered with status 500' })
  error!: string | null;

  @IntegerField()
  duration_ms!: number;

  @StringField({ description: 'Id of the sample trace.', minLength: 32, maxLength: 32 })
  trace_id!: string;
}

export class CreateDestinationDto {
  @EnumField(['webhook'], { default: 'webhook' })
  destination?: 'webhook';

  @BooleanField(ENABLED)
  enabled?: boolean;

  @StringField(URL_OPTIONS)
  url!: string;

  @EnumField(['POST'], { default: 'POST' })
  method?: 'POST';

  @MapField({ type: 'string' }, NEW_HEADERS)
  headers?: Record<string, unknown>;

  @NumberField(SAMPLING_RATE)
  sampling_rate?: number;

  @BooleanField(WITH_CONTENT)
  include_content?: boolean;
}

/** Omitted fields keep their values. `headers` are replaced as a whole. */
export class UpdateDestinationDto {
  @EnumField(['webhook'], { default: 'webhook' })
  destination?: 'webhook';

  @BooleanField(ENABLED)
  enabled?: boolean;

  @StringField({ ...URL_OPTIONS, optional: true })
  url?: string;

  @EnumField(['POST'], { default: 'POST' })
  method?: 'POST';

  @MapField({ type: 'string' }, NEW_HEADERS)
  headers?: Record<string, unknown>;

  @NumberField(SAMPLING_RATE)
  sampling_rate?: number;

  @BooleanField(WITH_CONTENT)
  include_content?: boolean;
}
