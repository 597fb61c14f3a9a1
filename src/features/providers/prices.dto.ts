import { ApiExtraModels, getSchemaPath } from '@nestjs/swagger';
import { IntegerField, MapField, StringField } from '../../platform/http/field.decorators.js';
import { ObjectField, ObjectListField } from '../../platform/http/nested-field.decorators.js';
import type { Pricing } from '../../core/catalogue/catalogue.types.js';

const USD = 'USD as a decimal string';

export class PricingDto implements Pricing {
  @StringField({ description: `Per input token, ${USD}.`, example: '0.00000015' })
  prompt: string;

  @StringField({ description: `Per output token, ${USD}.`, example: '0.0000006' })
  completion: string;

  @StringField({ description: `Per request, ${USD}.`, example: '0' })
  request: string;

  @StringField({ description: `Per image, ${USD}.`, example: '0' })
  image: string;

  @StringField({ optional: true, description: 'Per input token read from the prompt cache.' })
  input_cache_read?: string;

  @StringField({ optional: true, description: 'Per input token written to the prompt cache.' })
  input_cache_write?: string;

  @StringField({
    optional: true,
    description: 'Per input token cached for an hour, where that costs more.',
  })
  input_cache_write_1h?: string;

  @StringField({ optional: true, description: 'Per reasoning token.' })
  internal_reasoning?: string;

  @StringField({ optional: true, description: 'Per web search that the vendor runs.' })
  web_search?: string;

  @StringField({ optional: true, description: 'Per character of speech input.' })
  audio_character?: string;

  @StringField({ optional: true, description: 'Per UTF-8 byte of speech input.' })
  audio_byte?: string;

  @StringField({ optional: true, description: 'Per minute of audio.' })
  audio_minute?: string;

  @StringField({ optional: true, description: 'Per second of video.' })
  video_second?: string;
}

export class LongPromptPricesDto {
  @IntegerField({ description: 'Prompt tokens, including cached ones.', example: 272000 })
  above: number;

  @ObjectField(PricingDto, { description: 'Prices of the whole request above that length.' })
  pricing: PricingDto;
}

export class VariantPricesDto {
  @ObjectField(PricingDto)
  pricing: PricingDto;

  @ObjectListField(LongPromptPricesDto, {
    optional: true,
    description: 'Absent: same as the model, but never below `pricing`.',
  })
  long_prompts?: LongPromptPricesDto[];
}

class SizePricesDto {
  @StringField({ optional: true, description: 'Absent: any.', example: '1024x1536' })
  size?: string;

  @StringField({ optional: true, description: 'Absent: any.', example: 'high' })
  quality?: string;

  @ObjectField(PricingDto)
  pricing: PricingDto;
}

const VARIANTS = { $ref: getSchemaPath(VariantPricesDto) };

/** Prices that replace the standard ones under a condition. */
@ApiExtraModels(VariantPricesDto)
export class PriceTiersDto {
  @ObjectListField(LongPromptPricesDto, {
    optional: true,
    description: 'Prices of longer prompts, by ascending length. Absent: none.',
  })
  long_prompts?: LongPromptPricesDto[];

  @MapField(VARIANTS, {
    optional: true,
    description:
      'Prices by the service tier that the vendor reports. Requests can choose a listed tier with ' +
      '`service_tier`. `batch` is informational. Absent: none.',
  })
  service_tiers?: Record<string, VariantPricesDto>;

  @MapField(VARIANTS, {
    optional: true,
    description: 'Prices by the region that served the request. Absent: none.',
  })
  regions?: Record<string, VariantPricesDto>;

  @ObjectListField(SizePricesDto, {
    optional: true,
    description:
      'Prices of images and video by size and quality. Others cost as much as the most expensive one. Absent: one price for all.',
  })
  sizes?: SizePricesDto[];
}

export class PriceChangeDto extends PriceTiersDto {
  @StringField({ description: 'From 00:00 UTC of that day.', example: '2026-12-01' })
  effective_from: string;

  @ObjectField(PricingDto)
  pricing: PricingDto;
}
