import { ApiProperty } from '@nestjs/swagger';
import { API_KEY_STATUSES, type ApiKeyStatus } from '../../../../core/access/api-key.entity.js';

class ApiKeyUsageDto {
  @ApiProperty({ type: 'integer', description: 'Requests made with the key.', example: 42 })
  request_count!: number;

  @ApiProperty({ type: 'integer', description: 'Credits charged to the key.', example: 12_500 })
  total_spend!: number;
}

/** An API key as its tenant sees it. */
export class ApiKeyDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ example: 'billing service' })
  name!: string;

  @ApiProperty({ example: 'sk-4fR9...x2Qa' })
  key_preview!: string;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  expires_at!: string | null;

  @ApiProperty({ description: 'False once the key is expired or revoked.' })
  is_active!: boolean;

  @ApiProperty({ enum: API_KEY_STATUSES, example: 'active' })
  status!: ApiKeyStatus;

  @ApiProperty({ type: ApiKeyUsageDto })
  usage!: ApiKeyUsageDto;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Credits in a calendar month; null: no limit of its own.',
    example: null,
  })
  monthly_spend_limit!: number | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  last_used_at!: string | null;

  @ApiProperty({ type: String, format: 'date-time' })
  created_at!: string;

  @ApiProperty({ type: String, format: 'date-time' })
  updated_at!: string;
}

/** The answer to a key's creation, the only one that ever holds the key itself. */
export class CreatedApiKeyDto extends ApiKeyDto {
  @ApiProperty({ type: 'integer', example: 600 })
  rate_limit_per_minute!: number;

  @ApiProperty({
    description: 'The key in plaintext. It is shown this once and not stored.',
    example: 'sk-4fR9…x2Qa',
  })
  key!: string;
}

export class ApiKeyListDto {
  @ApiProperty({
    type: [ApiKeyDto],
    description: 'Newest first, revoked and expired ones included.',
  })
  data!: ApiKeyDto[];
}
