import { ApiProperty } from '@nestjs/swagger';

export class PercentilesDto {
  @ApiProperty({ example: 310 })
  p50: number;

  @ApiProperty({ example: 420 })
  p75: number;

  @ApiProperty({ example: 600 })
  p90: number;

  @ApiProperty({ example: 1_250 })
  p99: number;
}
