import { ApiProperty } from '@nestjs/swagger';

export class WebhookSecretDto {
  @ApiProperty({
    description: 'The key of the HMAC-SHA256 in `X-Gateway-Signature`, as a whole.',
    example: 'whsec_mb0ck3VhV9pW8Jr0dV7l2n4Xq6sT1uYzA5bC8dE3fGh',
  })
  secret!: string;
}
