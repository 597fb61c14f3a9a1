import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ImageTokensDetailsDto } from './jobs.dto.js';

class GeneratedImageDto {
  @ApiPropertyOptional({
    description: 'Signed URL without a key, valid while the image is stored.',
  })
  url?: string;

  @ApiPropertyOptional({ description: 'Base64 image.' })
  b64_json?: string;
}

class ImageUsageDto {
  @ApiProperty({ type: 'integer', example: 1 })
  image_count!: number;

  @ApiPropertyOptional({ type: 'integer' })
  input_tokens?: number;

  @ApiPropertyOptional({ type: ImageTokensDetailsDto })
  input_tokens_details?: ImageTokensDetailsDto;

  @ApiPropertyOptional({ type: 'integer' })
  output_tokens?: number;

  @ApiPropertyOptional({ type: 'integer' })
  total_tokens?: number;
}

/** Images of a synchronous request. */
export class ImageGenerationDto {
  @ApiProperty({ type: 'integer', description: 'Unix seconds.' })
  created!: number;

  @ApiProperty({ type: [GeneratedImageDto] })
  data!: GeneratedImageDto[];

  @ApiProperty({ type: ImageUsageDto, nullable: true })
  usage!: ImageUsageDto | null;
}
