import { ApiProperty } from '@nestjs/swagger';
import { HEADERS_PROPERTY, URL_PROPERTY } from './destination-fields.decorators.js';

const count = (description: string): PropertyDecorator =>
  ApiProperty({ type: 'integer', description });

/** A destination as its tenant sees it. */
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

  @count('Traces that the receiver took.')
  delivered_count!: number;

  @count('Traces that were given up; `last_error` says why the last ones were.')
  dropped_count!: number;

  @count('Deliveries under way, each of up to 250 traces.')
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

export class DeletedDestinationDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ example: true })
  deleted!: boolean;
}

/** How the delivery of one made-up trace went. */
export class DestinationTestDto {
  @ApiProperty({ description: 'Whether the receiver answered with a 2xx status.' })
  delivered!: boolean;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Status of the answer; null when none came.',
  })
  status!: number | null;

  @ApiProperty({ type: String, nullable: true, example: 'answered with status 500' })
  error!: string | null;

  @ApiProperty({ type: 'integer' })
  duration_ms!: number;

  @ApiProperty({ description: 'Of the trace that was sent.', minLength: 32, maxLength: 32 })
  trace_id!: string;
}
