import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { PublicKey } from '../../../core/ledger/receipts/signing-keys.service.js';

const UUID = 'b4c1a6a2-6f0e-4d55-9c3e-0d8f2f1f6a10';

class ReceiptRequestDto {
  @ApiProperty({ format: 'uuid', description: "The answer's `x-request-id`.", example: UUID })
  id!: string;

  @ApiProperty({ format: 'uuid', example: UUID })
  tenant_id!: string;

  @ApiProperty({ format: 'uuid', description: 'The key it was made with.', example: UUID })
  api_key_id!: string;

  @ApiProperty({ description: 'The kind of call.', example: 'chat' })
  endpoint!: string;

  @ApiProperty({
    description: 'The alias that answered, or the first one asked for when none did.',
    example: 'openai/gpt-4o-mini',
  })
  model!: string;

  @ApiProperty({ example: true })
  streamed!: boolean;

  @ApiProperty({ format: 'date-time', description: 'When it arrived.' })
  created_at!: string;
}

class ReceiptAnswerDto {
  @ApiProperty({ description: 'As in the log.', example: 'completed' })
  outcome!: string;

  @ApiProperty({ type: String, nullable: true, example: 'stop' })
  finish_reason!: string | null;

  @ApiProperty({ type: String, nullable: true, example: null })
  error_type!: string | null;

  @ApiProperty({ example: 'openai' })
  provider!: string;

  @ApiProperty({
    enum: ['shared', 'byok'],
    description: "Whose vendor account: the gateway's or the tenant's own.",
  })
  traffic_mode!: 'shared' | 'byok';

  @ApiProperty({ description: 'Whether an answer of before was given again, which is free.' })
  cached!: boolean;

  @ApiProperty({ type: String, nullable: true, example: null })
  billing_note!: string | null;
}

class ReceiptPricesDto {
  @ApiProperty({
    format: 'uuid',
    description: 'The same for all requests at the same prices: it is made of them.',
    example: UUID,
  })
  id!: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'Decimal, in USD, by their names in the catalogue. All that are not 0.',
    example: { prompt: '0.00000015', completion: '0.0000006' },
  })
  usd!: Record<string, string>;

  @ApiPropertyOptional({
    description:
      'The service tier, the region, or both, whose prices they are; absent: they are the ordinary ones.',
    example: 'flex',
  })
  served_as?: string;
}

class ReceiptUsageDto {
  @ApiProperty({
    enum: ['upstream', 'estimated', 'none'],
    description:
      "Whose counts these are: the vendor's, an estimate, or nobody's (nothing charged).",
  })
  source!: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'integer' },
    description:
      '`input_tokens` and `output_tokens` include their parts: `cache_read_tokens`, ' +
      '`cache_write_tokens` (with `cache_write_1h_tokens`) and `reasoning_tokens`. Counts of 0 are left out.',
    example: { input_tokens: 420, output_tokens: 96 },
  })
  counts!: Record<string, number>;
}

class ReceiptLineDto {
  @ApiProperty({ example: 'input_tokens' })
  item!: string;

  @ApiProperty({ type: 'integer', example: 420 })
  quantity!: number;

  @ApiProperty({ description: 'Its name in the catalogue.', example: 'prompt' })
  price!: string;

  @ApiProperty({
    description: 'Decimal, in USD, for `per` of the quantity.',
    example: '0.00000015',
  })
  unit_price!: string;

  @ApiProperty({ type: 'integer', description: '60,000 for milliseconds at a price per minute.' })
  per!: number;

  @ApiProperty({
    description:
      '`quantity × unit_price / per` in credits, exact: a decimal, or one divided by 3 (`12.5/3`).',
    example: '63',
  })
  amount!: string;
}

class ReceiptRefundDto {
  @ApiProperty({ type: 'integer', description: 'Credits given back.', example: 40_000 })
  amount!: number;

  @ApiProperty({ format: 'date-time' })
  created_at!: string;
}

class ReceiptPartsDto {
  @ApiProperty({ type: 'integer', example: 121 })
  model_charge!: number;

  @ApiProperty({ type: 'integer', example: 0 })
  byok_platform_fee!: number;

  @ApiProperty({ type: 'integer', example: 0 })
  managed_tool_fee!: number;

  @ApiProperty({ type: 'integer', example: 0 })
  agent_runtime_fee!: number;
}

class ReceiptChargeDto {
  @ApiProperty({
    type: [ReceiptLineDto],
    nullable: true,
    description:
      'Null: the request is of before prices were kept, and how its cost came about is not known.',
  })
  lines!: ReceiptLineDto[] | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The sum of the lines, exact.',
    example: '120.6',
  })
  sum!: string | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'The sum, rounded up once.',
    example: 121,
  })
  rounded!: number | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description:
      "Over the tenant's own vendor account: the percentage of `rounded` that is charged as a fee, rounded up. Null otherwise.",
    example: null,
  })
  byok_fee_percent!: number | null;

  @ApiProperty({
    type: 'integer',
    description: 'What an estimate came to beyond what had been set aside, which nobody pays.',
    example: 0,
  })
  beyond_hold!: number;

  @ApiProperty({
    type: 'integer',
    description:
      "What the tenant's credits did not reach for, or is above `max_cost`, which the operator bears.",
    example: 0,
  })
  shortfall!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Charged: `rounded`, or the fee of it, less `beyond_hold` and `shortfall`.',
    example: 121,
  })
  cost!: number;

  @ApiProperty({ type: ReceiptPartsDto, description: 'Of `cost`.' })
  parts!: ReceiptPartsDto;

  @ApiProperty({ type: [ReceiptRefundDto], description: 'Of jobs that came to nothing.' })
  refunds!: ReceiptRefundDto[];

  @ApiProperty({ type: 'integer', description: '`cost` less the refunds.', example: 121 })
  net!: number;
}

/** What one request cost, and why. Amounts are credits: 1 credit is 0.000001 USD. */
export class ReceiptDto {
  @ApiProperty({ enum: ['receipt'] })
  object!: 'receipt';

  @ApiProperty({ type: 'integer', description: 'Of this layout.', example: 1 })
  version!: 1;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The public URL of the gateway, if it has been told one.',
    example: 'https://gateway.example.com',
  })
  issuer!: string | null;

  @ApiProperty({ format: 'date-time', description: 'Refunds may come later.' })
  issued_at!: string;

  @ApiProperty({ type: ReceiptRequestDto })
  request!: ReceiptRequestDto;

  @ApiProperty({ type: ReceiptAnswerDto })
  answer!: ReceiptAnswerDto;

  @ApiProperty({
    type: ReceiptPricesDto,
    nullable: true,
    description: 'Null: nothing was charged, or prices were not kept yet.',
  })
  prices!: ReceiptPricesDto | null;

  @ApiProperty({ type: ReceiptUsageDto })
  usage!: ReceiptUsageDto;

  @ApiProperty({ type: ReceiptChargeDto })
  charge!: ReceiptChargeDto;
}

export class SignedReceiptDto {
  @ApiProperty({ type: ReceiptDto })
  receipt!: ReceiptDto;

  @ApiProperty({
    description:
      'The receipt as a compact JWS (RFC 7515), signed with Ed25519 (`EdDSA`). Its payload is `receipt`; its header names the key in `/.well-known/jwks.json`.',
    example: 'eyJhbGciOiJFZERTQSJ9.eyJvYmplY3QiOiJyZWNlaXB0In0.c2lnbmF0dXJl',
  })
  jws!: string;
}

class PublicKeyDto implements PublicKey {
  @ApiProperty({ enum: ['OKP'] })
  kty!: 'OKP';

  @ApiProperty({ enum: ['Ed25519'] })
  crv!: 'Ed25519';

  @ApiProperty({ example: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' })
  x!: string;

  @ApiProperty({ format: 'uuid', example: UUID })
  kid!: string;

  @ApiProperty({ enum: ['sig'] })
  use!: 'sig';

  @ApiProperty({ enum: ['EdDSA'] })
  alg!: 'EdDSA';
}

export class KeySetDto {
  @ApiProperty({ type: [PublicKeyDto], description: 'The newest first.' })
  keys!: PublicKeyDto[];
}
