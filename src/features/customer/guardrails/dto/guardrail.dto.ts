import { ApiProperty } from '@nestjs/swagger';
import {
  GUARDRAIL_ACTIONS,
  type GuardrailAction,
  type GuardrailDirection,
  type GuardrailRule,
} from '../../../../core/guardrails/guardrail-rule.js';
import { DIRECTIONS_PROPERTY, RULES_PROPERTY } from './guardrail-fields.decorators.js';

/** A guardrail that has just been made. */
export class CreatedGuardrailDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ example: 'no project names' })
  name!: string;

  @ApiProperty({ type: String, nullable: true })
  description!: string | null;

  @ApiProperty(RULES_PROPERTY)
  rules!: GuardrailRule[];

  @ApiProperty({ enum: GUARDRAIL_ACTIONS, example: 'block' })
  action!: GuardrailAction;

  @ApiProperty(DIRECTIONS_PROPERTY)
  applies_to!: GuardrailDirection[];

  @ApiProperty({ example: true })
  is_enabled!: boolean;

  @ApiProperty({ type: 'integer', description: 'Requests and answers that it matched.' })
  trigger_count!: number;

  @ApiProperty({ type: String, format: 'date-time' })
  created_at!: string;
}

/** A guardrail as its tenant sees it later. */
export class GuardrailDto extends CreatedGuardrailDto {
  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'Null before the first time.',
  })
  last_triggered_at!: string | null;

  @ApiProperty({ type: String, format: 'date-time' })
  updated_at!: string;
}

export class GuardrailListDto {
  @ApiProperty({ type: [GuardrailDto], description: 'Newest first.' })
  data!: GuardrailDto[];
}

export class DeletedGuardrailDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ example: true })
  deleted!: boolean;
}
