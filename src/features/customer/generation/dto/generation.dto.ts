import { ApiProperty } from '@nestjs/swagger';

/** What one request used and cost. Amounts are credits, times are milliseconds. */
export class GenerationRecordDto {
  @ApiProperty({ format: 'uuid', description: 'The request id.' })
  id!: string;

  @ApiProperty({
    description: 'The alias that answered, or the first one asked for when none did.',
    example: 'openai/gpt-4o-mini',
  })
  model!: string;

  @ApiProperty({ example: 'openai' })
  provider_name!: string;

  @ApiProperty({ type: String, format: 'date-time', description: 'When the request arrived.' })
  created_at!: string;

  @ApiProperty({ type: 'integer', description: 'Prompt tokens that were billed.', example: 420 })
  tokens_prompt!: number;

  @ApiProperty({ type: 'integer', description: 'Output tokens that were billed.', example: 96 })
  tokens_completion!: number;

  @ApiProperty({
    description: 'Milliseconds from the arrival of the request to the end of its answer.',
    example: 1830,
  })
  latency!: number;

  @ApiProperty({
    description: 'Why the answer ended; empty when it gave no reason, as after an error.',
    example: 'stop',
  })
  finish_reason!: string;

  @ApiProperty({ description: 'Credits charged.', example: 121 })
  total_cost!: number;

  @ApiProperty({ type: Boolean, nullable: true, example: true })
  streamed!: boolean | null;

  @ApiProperty({
    type: Boolean,
    nullable: true,
    description: 'Whether the caller left before the end.',
    example: false,
  })
  cancelled!: boolean | null;

  @ApiProperty({
    description: 'Milliseconds from the first content to the end of the answer.',
    example: 1510,
  })
  generation_time!: number;

  @ApiProperty({ description: 'Credits charged, as `total_cost`.', example: 121 })
  usage!: number;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: "The vendor's own count; null when it gave none.",
    example: 420,
  })
  native_tokens_prompt!: number | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: "The vendor's own count; null when it gave none.",
    example: 96,
  })
  native_tokens_completion!: number | null;
}

export class GenerationDto {
  @ApiProperty({ type: GenerationRecordDto })
  data!: GenerationRecordDto;
}
