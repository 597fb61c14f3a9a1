import { ApiProperty } from '@nestjs/swagger';
import { ArchitectureDto, ModelDto } from './model.dto.js';

class ModelLinksDto {
  @ApiProperty({ example: '/api/v1/models/sandbox/echo' })
  details: string;
}

/** A model with all that clients of OpenRouter's API insist on. */
export class CompatibleModelDto extends ModelDto {
  @ApiProperty({ example: 'sandbox/echo' })
  canonical_slug: string;

  @ApiProperty({ type: ArchitectureDto, description: 'Of embedding models as well.' })
  declare architecture: ArchitectureDto;

  @ApiProperty({ type: 'object', additionalProperties: true, nullable: true, example: null })
  default_parameters: null;

  @ApiProperty({ type: ModelLinksDto })
  links: ModelLinksDto;

  @ApiProperty({ type: [String], nullable: true, example: null })
  supported_voices: null;
}

class PageLinksDto {
  @ApiProperty({ type: String, nullable: true, description: 'Lists are whole.', example: null })
  next: null;
}

export class CompatibleModelListDto {
  @ApiProperty({ type: [CompatibleModelDto] })
  data: CompatibleModelDto[];

  @ApiProperty({ type: PageLinksDto })
  links: PageLinksDto;

  @ApiProperty({ type: 'integer' })
  total_count: number;
}

const EMBEDDING: ArchitectureDto = {
  modality: 'text->embeddings',
  input_modalities: ['text'],
  output_modalities: ['embeddings'],
  tokenizer: 'Other',
};

export function toCompatibleModel(model: ModelDto): CompatibleModelDto {
  return {
    ...model,
    canonical_slug: model.id,
    architecture: model.architecture ?? EMBEDDING,
    default_parameters: null,
    links: { details: `/api/v1/models/${model.id}` },
    supported_voices: null,
  };
}

export function toCompatibleList(models: readonly ModelDto[]): CompatibleModelListDto {
  return {
    data: models.map(toCompatibleModel),
    links: { next: null },
    total_count: models.length,
  };
}
