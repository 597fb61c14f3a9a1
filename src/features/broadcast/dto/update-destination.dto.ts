import { ApiPropertyOptional } from '@nestjs/swagger';
import { ValidateIf } from 'class-validator';
import {
  IsDestinationKind,
  IsFlag,
  IsHeaderObject,
  IsMethod,
  IsRate,
  IsUrlText,
  URL_PROPERTY,
} from './destination-fields.decorators.js';

/** What is left out stays as it is; `headers` are replaced as a whole. */
export class UpdateDestinationDto {
  @IsDestinationKind()
  destination?: 'webhook';

  @IsFlag('enabled', true, 'Whether traces are sent.')
  enabled?: boolean;

  @ApiPropertyOptional(URL_PROPERTY)
  @ValidateIf((_, value) => value !== undefined)
  @IsUrlText()
  url?: string;

  @IsMethod()
  method?: 'POST';

  @IsHeaderObject()
  headers?: Record<string, unknown>;

  @IsRate()
  sampling_rate?: number;

  @IsFlag('include_content', false, 'Whether prompts and answers are part of the traces.')
  include_content?: boolean;
}
