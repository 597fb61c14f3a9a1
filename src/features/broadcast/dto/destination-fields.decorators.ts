import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import {
  IsBoolean,
  IsIn,
  IsNumber,
  IsObject,
  IsString,
  Max,
  MaxLength,
  Min,
  ValidateIf,
} from 'class-validator';

const MAX_URL_LENGTH = 2_048;

/** The field may be left out, but not be null. */
function MayBeAbsent(): PropertyDecorator {
  return ValidateIf((_, value) => value !== undefined);
}

export function IsDestinationKind(): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ enum: ['webhook'], default: 'webhook' }),
    MayBeAbsent(),
    IsIn(['webhook'], { message: 'destination must be webhook' }),
  );
}

export function IsMethod(): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ enum: ['POST'], default: 'POST' }),
    MayBeAbsent(),
    IsIn(['POST'], { message: 'method must be POST' }),
  );
}

export function IsUrlText(): PropertyDecorator {
  const message = `url must be a string of at most ${MAX_URL_LENGTH} characters`;
  return applyDecorators(IsString({ message }), MaxLength(MAX_URL_LENGTH, { message }));
}

export function IsFlag(name: string, whenAbsent: boolean, description: string): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ type: Boolean, default: whenAbsent, description }),
    MayBeAbsent(),
    IsBoolean({ message: `${name} must be true or false` }),
  );
}

export function IsRate(): PropertyDecorator {
  const message = 'sampling_rate must be a number from 0 to 1';
  return applyDecorators(
    ApiPropertyOptional({
      type: Number,
      minimum: 0,
      maximum: 1,
      default: 1,
      description: 'The share of traces that is sent, decided by trace id.',
    }),
    MayBeAbsent(),
    IsNumber({ allowInfinity: false, allowNaN: false }, { message }),
    Min(0, { message }),
    Max(1, { message }),
  );
}

/** The object alone; what is in it is read by `readDestinationHeaders`. */
export function IsHeaderObject(): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional(HEADERS_PROPERTY),
    MayBeAbsent(),
    IsObject({ message: 'headers must be an object of header name to value' }),
  );
}

export const HEADERS_PROPERTY = {
  type: 'object',
  additionalProperties: { type: 'string' },
  description: 'Sent with each delivery. They are kept encrypted, and never shown again.',
  example: { 'X-Api-Key': '********' },
} satisfies ApiPropertyOptions;

export const URL_PROPERTY = {
  type: String,
  maxLength: MAX_URL_LENGTH,
  description: 'http or https; it must lead to public addresses.',
  example: 'https://collector.example.com/v1/traces',
} satisfies ApiPropertyOptions;

export const ApiUrl = (): PropertyDecorator => ApiProperty(URL_PROPERTY);
