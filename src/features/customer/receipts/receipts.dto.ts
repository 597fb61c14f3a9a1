import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { PublicKey } from '../../../core/ledger/receipts/signing-keys.service.js';

const UUID = 'b4c1a6a2-6f0e-4d55-9c3e-0d8f2f1f6a10';

class ReceiptRequestDto {
  @ApiProperty({ format: 'uuid', description: '`x-request-id` of the response.', example: UUID })
  id!: string;

  @ApiProperty({ format: 'uuid', example: UUID })
  tenant_id!: string;

  @ApiProperty({ format: 'uuid', description: 'API key of the request.', example: UUID })
  api_key_id!: string;

  @ApiProperty({ description: 'Endpoint of the call.', example: 'chat' })
  endpoint!: string;

  @ApiProperty({
    description: 'Alias that answered, or the first requested one when none did.',
    example: 'openai/gpt-4o-mini',
  })
  model!: string;

  @ApiProperty({ example: true })
  streamed!: boolean;

  @ApiProperty({ format: 'date-time', description: 'Arrival of the request.' })
  created_at!: string;
}

class ReceiptAnswerDto {
  @ApiProperty({ description: 'Status as in the log.', example: 'completed' })
  outcome!: string;

  @ApiProperty({ type: String, nullable: true, example: 'stop' })
  finish_reason!: string | null;

  @ApiProperty({ type: String, nullable: true, example: null })
  error_type!: string | null;

  @ApiProperty({ example: 'openai' })
  provider!: string;

  @ApiProperty({
    enum: ['shared', 'byok'],
    description: "Vendor account: the gateway's or the tenant's BYOK account.",
  })
  traffic_mode!: 'shared' | 'byok';

  @ApiProperty({ description: 'Whether the answer came from the cache, which is free.' })
  cached!: boolean;

  @ApiProperty({ type: String, nullable: true, example: null })
  billing_note!: string | null;
}

class ReceiptPricesDto {
  @ApiProperty({
    format: 'uuid',
    description: 'Hash of the prices, so equal prices have equal ids.',
    example: UUID,
  })
  id!: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'Decimal prices in USD by catalogue name, without zeros.',
    example: { prompt: '0.00000015', completion: '0.0000006' },
  })
  usd!: Record<string, string>;

  @ApiPropertyOptional({
    description:
      'Service tier, region or both that the prices apply to; absent for standard prices.',
    example: 'flex',
  })
  served_as?: string;
}

class ReceiptUsageDto {
  @ApiProperty({
    enum: ['upstream', 'estimated', 'none'],
    description: 'Source of the counts: the vendor, an estimate, or none (nothing charged).',
  })
  source!: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'integer' },
    description:
      '`input_tokens` and `output_tokens` include their parts `cache_read_tokens`, ' +
      '`cache_write_tokens` (with `cache_write_1h_tokens`) and `reasoning_tokens`. Zero counts are left out.',
    example: { input_tokens: 420, output_tokens: 96 },
  })
  counts!: Record<string, number>;
}

class ReceiptLineDto {
  @ApiProperty({ example: 'input_tokens' })
  item!: string;

  @ApiProperty({ type: 'integer', example: 420 })
  quantity!: number;

  @ApiProperty({ description: 'Price name in the catalogue.', example: 'prompt' })
  price!: string;

  @ApiProperty({
    description: 'Decimal price in USD for `per` units.',
    example: '0.00000015',
  })
  unit_price!: string;

  @ApiProperty({ type: 'integer', description: '60,000 for milliseconds at a per-minute price.' })
  per!: number;

  @ApiProperty({
    description:
      'Exact `quantity × unit_price / per` in credits: a decimal, or a decimal divided by 3 (`12.5/3`).',
    example: '63',
  })
  amount!: string;
}

class ReceiptRefundDto {
  @ApiProperty({ type: 'integer', description: 'Refunded credits.', example: 40_000 })
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
    description: 'Null: the request predates stored prices, so its cost cannot be explained.',
  })
  lines!: ReceiptLineDto[] | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Exact sum of the lines.',
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
      'BYOK: percentage of `rounded` that is charged as a fee, rounded up. Otherwise null.',
    example: null,
  })
  byok_fee_percent!: number | null;

  @ApiProperty({
    type: 'integer',
    description: 'Part of an estimate above the reservation. Not charged.',
    example: 0,
  })
  beyond_hold!: number;

  @ApiProperty({
    type: 'integer',
    description:
      "Part not covered by the tenant's credits or above `max_cost`. Borne by the operator.",
    example: 0,
  })
  shortfall!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Charge: `rounded`, or the fee, less `beyond_hold` and `shortfall`.',
    example: 121,
  })
  cost!: number;

  @ApiProperty({ type: ReceiptPartsDto, description: 'Breakdown of `cost`.' })
  parts!: ReceiptPartsDto;

  @ApiProperty({ type: [ReceiptRefundDto], description: 'Refunds of jobs that failed.' })
  refunds!: ReceiptRefundDto[];

  @ApiProperty({ type: 'integer', description: '`cost` less refunds.', example: 121 })
  net!: number;
}

/** Explains the cost of a request. Amounts are credits: 1 credit is 0.000001 USD. */
export class ReceiptDto {
  @ApiProperty({ enum: ['receipt'] })
  object!: 'receipt';

  @ApiProperty({ type: 'integer', description: 'Version of this format.', example: 1 })
  version!: 1;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Public URL of the gateway, if configured.',
    example: 'https://gateway.example.com',
  })
  issuer!: string | null;

  @ApiProperty({ format: 'date-time', description: 'Time of issue. Refunds can follow.' })
  issued_at!: string;

  @ApiProperty({ type: ReceiptRequestDto })
  request!: ReceiptRequestDto;

  @ApiProperty({ type: ReceiptAnswerDto })
  answer!: ReceiptAnswerDto;

  @ApiProperty({
    type: ReceiptPricesDto,
    nullable: true,
    description: 'Null: nothing was charged, or the request predates stored prices.',
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
      'The receipt as a compact JWS (RFC 7515), signed with Ed25519 (`EdDSA`). The payload is `receipt`; the header names the key in `/.well-known/jwks.json`.',
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
  @ApiProperty({ type: [PublicKeyDto], description: 'Newest first.' })
  keys!: PublicKeyDto[];
}
