import { ApiProperty } from '@nestjs/swagger';

/** A tenant's own account with a provider, without its key. */
export class ProviderCredentialDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ example: 'a-provider' })
  provider!: string;

  @ApiProperty({ type: String, nullable: true })
  name!: string | null;

  @ApiProperty({ description: 'Enough to tell keys apart.', example: 'sk-p...4f2a' })
  key_preview!: string;

  @ApiProperty({ type: 'object', additionalProperties: { type: 'string' } })
  settings!: Record<string, string>;

  @ApiProperty({ example: false })
  allow_shared_fallback!: boolean;

  @ApiProperty({ type: String, format: 'date-time' })
  created_at!: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'Null before the first time; some seconds behind.',
  })
  last_used_at!: string | null;
}

export class ProviderCredentialListDto {
  @ApiProperty({ type: [ProviderCredentialDto], description: 'Newest first.' })
  data!: ProviderCredentialDto[];
}

export class DeletedProviderCredentialDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ example: true })
  deleted!: boolean;
}
