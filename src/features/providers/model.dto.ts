import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { Architecture, Pricing } from '../../core/catalogue/catalogue.types.js';

const USD = 'USD as a decimal string';

export class PricingDto implements Pricing {
  @ApiProperty({ description: `Per input token, ${USD}.`, example: '0.00000015' })
  prompt: string;

  @ApiProperty({ description: `Per output token, ${USD}.`, example: '0.0000006' })
  completion: string;

  @ApiProperty({ description: `Per request, ${USD}.`, example: '0' })
  request: string;

  @ApiProperty({ description: `Per image, ${USD}.`, example: '0' })
  image: string;

  @ApiPropertyOptional({ description: 'Per input token read from the prompt cache.' })
  input_cache_read?: string;

  @ApiPropertyOptional({ description: 'Per input token written to the prompt cache.' })
  input_cache_write?: string;

  @ApiPropertyOptional({ description: 'Per reasoning token.' })
  internal_reasoning?: string;

  @ApiPropertyOptional({ description: 'Per web search that the vendor runs.' })
  web_search?: string;

  @ApiPropertyOptional({ description: 'Per character of speech input.' })
  audio_character?: string;

  @ApiPropertyOptional({ description: 'Per UTF-8 byte of speech input.' })
  audio_byte?: string;

  @ApiPropertyOptional({ description: 'Per minute of audio.' })
  audio_minute?: string;

  @ApiPropertyOptional({ description: 'Per second of video.' })
  video_second?: string;
}

export class ArchitectureDto implements Architecture {
  @ApiProperty({ example: 'text+image->text' })
  modality: string;

  @ApiProperty({ type: [String], example: ['text', 'image'] })
  input_modalities: string[];

  @ApiProperty({ type: [String], example: ['text'] })
  output_modalities: string[];

  @ApiProperty({ example: 'GPT' })
  tokenizer: string;
}

export class TopProviderDto {
  @ApiProperty({ type: 'integer', example: 128000 })
  context_length: number;

  @ApiProperty({ type: 'integer', nullable: true, example: 16384 })
  max_completion_tokens: number | null;

  @ApiProperty()
  is_moderated: boolean;
}

export class ModelDto {
  @ApiProperty({ description: 'Alias `<provider>/<model>`.', example: 'sandbox/echo' })
  id: string;

  @ApiProperty({ enum: ['model'] })
  object: 'model';

  @ApiProperty({ type: 'integer', description: 'Unix seconds.' })
  created: number;

  @ApiProperty({ example: 'sandbox' })
  owned_by: string;

  @ApiProperty()
  name: string;

  @ApiProperty()
  description: string;

  @ApiProperty({ type: 'integer', example: 128000 })
  context_length: number;

  @ApiProperty({ type: PricingDto })
  pricing: PricingDto;

  @ApiProperty({ type: ArchitectureDto, nullable: true, description: 'Null for embedding models.' })
  architecture: ArchitectureDto | null;

  @ApiProperty({ type: TopProviderDto })
  top_provider: TopProviderDto;

  @ApiProperty({ type: [String], example: ['temperature', 'max_tokens', 'stream'] })
  supported_parameters: string[];

  @ApiProperty({ type: 'object', additionalProperties: true, nullable: true, example: null })
  per_request_limits: null;
}

export class ModelListDto {
  @ApiProperty({ type: [ModelDto] })
  data: ModelDto[];
}
