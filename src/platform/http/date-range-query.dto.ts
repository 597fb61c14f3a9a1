import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, IsString } from 'class-validator';

/** A span of time, open at the sides that are left out; `parseDateRange` reads it. */
export class DateRangeQueryDto {
  @ApiPropertyOptional({
    description: 'The first day or instant, as `YYYY-MM-DD` or ISO 8601; UTC without an offset.',
  })
  @IsOptional()
  @IsString({ message: 'start_date must be one date' })
  start_date?: string;

  @ApiPropertyOptional({
    description:
      'The last day or instant, itself included, as `YYYY-MM-DD` or ISO 8601; UTC without an offset.',
  })
  @IsOptional()
  @IsString({ message: 'end_date must be one date' })
  end_date?: string;
}
