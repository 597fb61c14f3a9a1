import { ApiProperty } from '@nestjs/swagger';
import { IsName } from '../../../../platform/http/field.decorators.js';
import type {
  GuardrailAction,
  GuardrailDirection,
} from '../../../../core/guardrails/guardrail-rule.js';
import {
  IsDirectionArray,
  IsEnabledFlag,
  IsGuardrailAction,
  IsGuardrailDescription,
  IsRuleArray,
  RULES_PROPERTY,
} from './guardrail-fields.decorators.js';

export class CreateGuardrailDto {
  @ApiProperty({ minLength: 1, maxLength: 255, example: 'no project names' })
  @IsName()
  name!: string;

  @IsGuardrailDescription()
  description?: string | null;

  @ApiProperty(RULES_PROPERTY)
  @IsRuleArray()
  rules!: unknown[];

  @IsGuardrailAction()
  action?: GuardrailAction;

  @IsDirectionArray()
  applies_to?: GuardrailDirection[];

  @IsEnabledFlag()
  is_enabled?: boolean;
}
