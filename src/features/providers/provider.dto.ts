import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { PROVIDER_TYPES, type ProviderType } from '../../platform/config/app-config.js';
import type { ProviderStatus } from './provider-status.js';

export class ProviderHealthDto {
  @ApiProperty({ type: 'integer', description: 'Milliseconds, the median.', example: 120 })
  latency_p50: number;

  @ApiProperty({ type: 'integer', description: 'Milliseconds.', example: 180 })
  latency_p99: number;

  @ApiProperty({ description: 'Failed probes of all within 10 s, 0 to 1.', example: 0 })
  error_rate: number;

  @ApiProperty({ format: 'date-time', description: 'When the provider was last probed.' })
  last_checked_at: string;
}

export class ProviderDto {
  @ApiProperty({ example: 'openai' })
  id: string;

  @ApiProperty({ example: 'OpenAI' })
  name: string;

  @ApiProperty({ enum: PROVIDER_TYPES, description: 'The vendor kind whose API it follows.' })
  type: ProviderType;

  @ApiProperty({
    enum: ['healthy', 'degraded', 'unhealthy', 'unknown'],
    description: '`unknown` unless `include_health=true`.',
  })
  status: ProviderStatus;

  @ApiProperty({ type: 'integer', description: 'Models whose primary route is at this provider.' })
  models_count: number;

  @ApiPropertyOptional({ type: ProviderHealthDto, description: 'Only with `include_health=true`.' })
  health?: ProviderHealthDto;
}

export class ProviderListDto {
  @ApiProperty({ type: [ProviderDto] })
  data: ProviderDto[];
}
