import { ApiPropertyOptional, ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { IsName, MayBeAbsent } from '../../../platform/http/field.decorators.js';
import {
  GUARDRAIL_ACTIONS,
  type GuardrailAction,
  type GuardrailDirection,
  type GuardrailRule,
  GUARDRAIL_DIRECTIONS,
  MAX_PATTERN_LENGTH,
  MAX_RULES,
  MAX_TEXT_LENGTH,
  MAX_WORDS,
  MAX_WORD_LENGTH,
  PERSONAL_DATA,
} from '../../../core/guardrails/guardrail-rule.js';
import { applyDecorators } from '@nestjs/common';
import {
  ArrayMaxSize,
  ArrayNotEmpty,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsIn,
  IsOptional,
  Matches,
} from 'class-validator';
import { DeletedDto } from '../../../platform/http/deleted.dto.js';

const DIRECTIONS_PROPERTY = {
  type: 'array',
  minItems: 1,
  uniqueItems: true,
  items: { type: 'string', enum: [...GUARDRAIL_DIRECTIONS] },
  default: ['input'],
  description: 'Texts to check: requests, model answers, or both.',
} satisfies ApiPropertyOptions;

const rule = (type: string, required: string[], properties: object = {}) => ({
  type: 'object' as const,
  required: ['type', ...required],
  properties: { type: { type: 'string' as const, enum: [type] }, ...properties },
});

/** OpenAPI schema of rules. */
export const RULES_PROPERTY = {
  type: 'array',
  minItems: 1,
  maxItems: MAX_RULES,
  description: 'The guardrail triggers when any rule matches.',
  example: [{ type: 'regex', pattern: 'project\\s+falcon', flags: 'i' }],
  items: {
    oneOf: [
      rule('regex', ['pattern'], {
        pattern: {
          type: 'string',
          minLength: 1,
          maxLength: MAX_PATTERN_LENGTH,
          description: 'RE2 syntax.',
        },
        flags: {
          type: 'string',
          pattern: '^[ims]{0,3}$',
          description: 'Any of `i`, `m`, `s`, each once.',
        },
      }),
      rule('keyword', ['words'], {
        words: {
          type: 'array',
          minItems: 1,
          maxItems: MAX_WORDS,
          items: { type: 'string', minLength: 1, maxLength: MAX_WORD_LENGTH },
          description: 'Whole words or phrases, case-insensitive.',
        },
      }),
      rule('pii', ['entities'], {
        entities: {
          type: 'array',
          minItems: 1,
          maxItems: PERSONAL_DATA.length,
          items: { type: 'string', enum: [...PERSONAL_DATA] },
        },
      }),
      rule('secret', []),
      rule('max_length', ['max'], {
        max: { type: 'integer', minimum: 1, maximum: MAX_TEXT_LENGTH, description: 'Characters.' },
      }),
    ],
  },
} satisfies ApiPropertyOptions;

/** A new guardrail. */
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

  @ApiProperty({ type: 'integer', description: 'Number of matching requests and answers.' })
  trigger_count!: number;

  @ApiProperty({ type: String, format: 'date-time' })
  created_at!: string;
}

/** A guardrail with its latest match. */
export class GuardrailDto extends CreatedGuardrailDto {
  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'Null before the first match.',
  })
  last_triggered_at!: string | null;

  @ApiProperty({ type: String, format: 'date-time' })
  updated_at!: string;
}

export class GuardrailListDto {
  @ApiProperty({ type: [GuardrailDto], description: 'Newest first.' })
  data!: GuardrailDto[];
}

export class DeletedGuardrailDto extends DeletedDto {}

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

/** Omitted fields keep their values. `rules` are replaced as a whole. */
export class UpdateGuardrailDto {
  @ApiPropertyOptional({ minLength: 1, maxLength: 255, example: 'no project names' })
  @MayBeAbsent()
  @IsName()
  name?: string;

  @IsGuardrailDescription()
  description?: string | null;

  @ApiPropertyOptional(RULES_PROPERTY)
  @MayBeAbsent()
  @IsRuleArray()
  rules?: unknown[];

  @IsGuardrailAction()
  action?: GuardrailAction;

  @IsDirectionArray()
  applies_to?: GuardrailDirection[];

  @IsEnabledFlag()
  is_enabled?: boolean;
}

function IsGuardrailDescription(): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ type: String, nullable: true, maxLength: 2_000 }),
    IsOptional(),
    Matches(/^[^]{0,2000}$/u, {
      message: 'description must be a string of at most 2000 characters, or null',
    }),
  );
}

/** Checks only the array. `readGuardrailRules` validates its content. */
export function IsRuleArray(): PropertyDecorator {
  const message = `rules must be an array of 1 to ${MAX_RULES} rules`;
  return applyDecorators(
    IsArray({ message }),
    ArrayNotEmpty({ message }),
    ArrayMaxSize(MAX_RULES, { message }),
  );
}

export function IsGuardrailAction(): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ enum: GUARDRAIL_ACTIONS, default: 'block' }),
    MayBeAbsent(),
    IsIn(GUARDRAIL_ACTIONS, { message: 'action must be block, log or flag' }),
  );
}

function IsDirectionArray(): PropertyDecorator {
  const message = 'applies_to must hold input, output or both, each once';
  return applyDecorators(
    ApiPropertyOptional(DIRECTIONS_PROPERTY),
    MayBeAbsent(),
    IsArray({ message }),
    ArrayNotEmpty({ message }),
    ArrayUnique({ message }),
    IsIn(GUARDRAIL_DIRECTIONS, { each: true, message }),
  );
}

function IsEnabledFlag(): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ default: true }),
    MayBeAbsent(),
    IsBoolean({ message: 'is_enabled must be true or false' }),
  );
}
