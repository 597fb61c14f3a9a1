import { ApiProperty } from '@nestjs/swagger';
import { PROVIDER_TYPES, type ProviderType } from '../common/config/app-config.js';

export class ProviderDto {
  @ApiProperty({ example: 'openai' })
  id: string;

  @ApiProperty({ example: 'OpenAI' })
  name: string;

  @ApiProperty({ enum: PROVIDER_TYPES, description: 'The vendor kind whose API it follows.' })
  type: ProviderType;

  @ApiProperty({ enum: ['healthy', 'degraded', 'unhealthy', 'unknown'] })
  status: 'healthy' | 'degraded' | 'unhealthy' | 'unknown';

  @ApiProperty({ type: 'integer', description: 'Models whose primary route is at this provider.' })
  models_count: number;
}

export class ProviderListDto {
  @ApiProperty({ type: [ProviderDto] })
  data: ProviderDto[];
}
