import {
  ApiUrl,
  IsDestinationKind,
  IsFlag,
  IsHeaderObject,
  IsMethod,
  IsRate,
  IsUrlText,
} from './destination-fields.decorators.js';

export class CreateDestinationDto {
  @IsDestinationKind()
  destination?: 'webhook';

  @IsFlag('enabled', true, 'Whether traces are sent.')
  enabled?: boolean;

  @ApiUrl()
  @IsUrlText()
  url!: string;

  @IsMethod()
  method?: 'POST';

  @IsHeaderObject()
  headers?: Record<string, unknown>;

  @IsRate()
  sampling_rate?: number;

  @IsFlag('include_content', false, 'Whether prompts and answers are part of the traces.')
  include_content?: boolean;
}
