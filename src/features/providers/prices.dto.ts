import { ApiExtraModels, ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';
import type { Pricing } from '../../core/catalogue/catalogue.types.js';

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

  @ApiPropertyOptional({ description: '… to be kept for an hour, where that costs more.' })
  input_cache_write_1h?: string;

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

export class LongPromptPricesDto {
  @ApiProperty({
    type: 'integer',
    description: 'Tokens, those of the cache included.',
    example: 272000,
  })
  above: number;

  @ApiProperty({ type: PricingDto, description: 'What the whole request costs then.' })
  pricing: PricingDto;
}

export class VariantPricesDto {
  @ApiProperty({ type: PricingDto })
  pricing: PricingDto;

  @ApiPropertyOptional({
    type: [LongPromptPricesDto],
    description: 'Absent: as of the model, but never below `pricing`.',
  })
  long_prompts?: LongPromptPricesDto[];
}

class SizePricesDto {
  @ApiPropertyOptional({ description: 'Absent: any.', example: '1024x1536' })
  size?: string;

  @ApiPropertyOptional({ description: 'Absent: any.', example: 'high' })
  quality?: string;

  @ApiProperty({ type: PricingDto })
  pricing: PricingDto;
}

const VARIANTS = {
  type: 'object',
  additionalProperties: { $ref: getSchemaPath(VariantPricesDto) },
} as const;

/** Prices beside the ordinary ones. */
@ApiExtraModels(VariantPricesDto)
export class PriceTiersDto {
  @ApiPropertyOptional({
    type: [LongPromptPricesDto],
    description:
      'Other prices of requests with longer prompts, from short to long; absent: there are none.',
  })
  long_prompts?: LongPromptPricesDto[];

  @ApiPropertyOptional({
    ...VARIANTS,
    description:
      'Other prices by the service tier that served the request, as the vendor says; a tier that is here may be asked for in ' +
      '`service_tier`. `batch` is for information. Absent: there are none.',
  })
  service_tiers?: Record<string, VariantPricesDto>;

  @ApiPropertyOptional({
    ...VARIANTS,
    description: 'Other prices by the region that served the request; absent: there are none.',
  })
  regions?: Record<string, VariantPricesDto>;

  @ApiPropertyOptional({
    type: [SizePricesDto],
    description:
      'Prices of pictures and video by size and quality; what is not listed costs the dearest. Absent: all cost the same.',
  })
  sizes?: SizePricesDto[];
}

export class PriceChangeDto extends PriceTiersDto {
  @ApiProperty({ description: 'From 00:00 UTC of that day.', example: '2026-12-01' })
  effective_from: string;

  @ApiProperty({ type: PricingDto })
  pricing: PricingDto;
}
