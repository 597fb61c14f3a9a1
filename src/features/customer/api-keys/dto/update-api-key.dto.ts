import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional } from 'class-validator';
import { IsName, MayBeAbsent } from '../../../../platform/http/field.decorators.js';
import { IsIsoDateTime } from './api-key-fields.decorators.js';

/** The two fields that can change; any other is refused. */
export class UpdateApiKeyDto {
  @ApiPropertyOptional({ minLength: 1, maxLength: 255, example: 'billing service' })
  @MayBeAbsent()
  @IsName()
  name?: string;

  @ApiPropertyOptional({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'The new expiry, in the future; null clears it.',
    example: '2030-12-31T23:59:59Z',
  })
  @IsOptional()
  @IsIsoDateTime()
  expires_at?: string | null;
}
