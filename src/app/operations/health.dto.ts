import { ApiProperty } from '@nestjs/swagger';

export class HealthDto {
  @ApiProperty({ enum: ['ok'] })
  status: 'ok';
}

export class ReadinessDto {
  @ApiProperty({ enum: ['ok', 'unavailable'] })
  status: 'ok' | 'unavailable';

  @ApiProperty({ enum: ['ok', 'unreachable'] })
  database: 'ok' | 'unreachable';

  @ApiProperty({ enum: ['in-process', 'redis'], description: 'Where rate limits are counted.' })
  rate_limits: 'in-process' | 'redis';

  @ApiProperty({
    enum: ['redis', 'database', 'unreachable'],
    description: 'Where the queue of background work is kept.',
  })
  queue: 'redis' | 'database' | 'unreachable';
}
