import { IntegerField, StringField } from '../../platform/http/field.decorators.js';
import { ObjectField, ObjectListField } from '../../platform/http/nested-field.decorators.js';
import { ImageTokensDetailsDto } from './jobs.dto.js';

class GeneratedImageDto {
  @StringField({
    optional: true,
    description: 'Signed URL without a key, valid while the image is stored.',
  })
  url?: string;

  @StringField({ optional: true, description: 'Base64 image.' })
  b64_json?: string;
}

class ImageUsageDto {
  @IntegerField({ example: 1 })
  image_count!: number;

  @IntegerField({ optional: true })
  input_tokens?: number;

  @ObjectField(ImageTokensDetailsDto, { optional: true })
  input_tokens_details?: ImageTokensDetailsDto;

  @IntegerField({ optional: true })
  output_tokens?: number;

  @IntegerField({ optional: true })
  total_tokens?: number;
}

/** Images of a synchronous request. */
export class ImageGenerationDto {
  @IntegerField({ description: 'Unix seconds.' })
  created!: number;

  @ObjectListField(GeneratedImageDto)
  data!: GeneratedImageDto[];

  @ObjectField(ImageUsageDto, { nullable: true })
  usage!: ImageUsageDto | null;
}
