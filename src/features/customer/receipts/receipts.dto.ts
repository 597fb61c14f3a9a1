import {
  BooleanField,
  DateTimeField,
  EnumField,
  IntegerField,
  MapField,
  StringField,
  UuidField,
} from '../../../platform/http/field.decorators.js';
import { ObjectField, ObjectListField } from '../../../platform/http/nested-field.decorators.js';
import type { PublicKey } from '../../../core/ledger/receipts/signing-keys.service.js';

const UUID = 'b4c1a6a2-6f0e-4d55-9c3e-0d8f2f1f6a10';

class ReceiptRequestDto {
  @UuidField({ description: '`x-request-id` of the response.', example: UUID })
  id!: string;

  @UuidField({ example: UUID })
  tenant_id!: string;

  @UuidField({ description: 'API key of the request.', example: UUID })
  api_key_id!: string;

  @StringField({ description: 'Endpoint of the call.', example: 'chat' })
  endpoint!: string;

  @StringField({
    description: 'Alias that answered, or the first requested one when none did.',
    example: 'openai/gpt-4o-mini',
  })
  model!: string;

  @BooleanField({ example: true })
  streamed!: boolean;

  @DateTimeField({ description: 'Arrival of the request.' })
  created_at!: string;
}

class ReceiptAnswerDto {
  @StringField({ description: 'Status as in the log.', example: 'completed' })
  outcome!: string;

  @StringField({ nullable: true, example: 'stop' })
  finish_reason!: string | null;

  @StringField({ nullable: true, example: null })
  error_type!: string | null;

  @StringField({ example: 'openai' })
  provider!: string;

  @EnumField(['shared', 'byok'], {
    description: "Vendor account: the gateway's or the tenant's BYOK account.",
  })
  traffic_mode!: 'shared' | 'byok';

  @BooleanField({ description: 'Whether the answer came from the cache, which is free.' })
  cached!: boolean;

  @StringField({ nullable: true, example: null })
  billing_note!: string | null;
}

class ReceiptPricesDto {
  @UuidField({ description: 'Hash of the prices, so equal prices have equal ids.', example: UUID })
  id!: string;

  @MapField(
    { type: 'string' },
    {
      description: 'Decimal prices in USD by catalogue name, without zeros.',
      example: { prompt: '0.00000015', completion: '0.0000006' },
    },
  )
  usd!: Record<string, string>;

  @StringField({
    optional: true,
    description:
      'Service tier, region or both that the prices apply to; absent for standard prices.',
    example: 'flex',
  })
  served_as?: string;
}

class ReceiptUsageDto {
  @EnumField(['upstream', 'estimated', 'none'], {
    description: 'Source of the counts: the vendor, an estimate, or none (nothing charged).',
  })
  source!: 'upstream' | 'estimated' | 'none';

  @MapField(
    { type: 'integer' },
    {
      description:
        '`input_tokens` and `output_tokens` include their parts `cache_read_tokens`, ' +
        '`cache_write_tokens` (with `cache_write_1h_tokens`) and `reasoning_tokens`. Zero counts are left out.',
      example: { input_tokens: 420, output_tokens: 96 },
    },
  )
  counts!: Record<string, number>;
}

class ReceiptLineDto {
  @StringField({ example: 'input_tokens' })
  item!: string;

  @IntegerField({ example: 420 })
  quantity!: number;

  @StringField({ description: 'Price name in the catalogue.', example: 'prompt' })
  price!: string;

  @StringField({ description: 'Decimal price in USD for `per` units.', example: '0.00000015' })
  unit_price!: string;

  @IntegerField({ description: '60,000 for milliseconds at a per-minute price.' })
  per!: number;

  @StringField({
    description:
      'Exact `quantity × unit_price / per` in credits: a decimal, or a decimal divided by 3 (`12.5/3`).',
    example: '63',
  })
  amount!: string;
}

class ReceiptRefundDto {
  @IntegerField({ description: 'Refunded credits.', example: 40_000 })
  amount!: number;

  @DateTimeField()
  created_at!: string;
}

class ReceiptPartsDto {
  @IntegerField({ example: 121 })
  model_charge!: number;

  @IntegerField({ example: 0 })
  byok_platform_fee!: number;

  @IntegerField({ example: 0 })
  managed_tool_fee!: number;

  @IntegerField({ example: 0 })
  agent_runtime_fee!: number;
}

class ReceiptChargeDto {
  @ObjectListField(ReceiptLineDto, {
    nullable: true,
    description: 'Null: the request predates stored prices, so its cost cannot be explained.',
  })
  lines!: ReceiptLineDto[] | null;

  @StringField({ nullable: true, description: 'Exact sum of the lines.', example: '120.6' })
  sum!: string | null;

  @IntegerField({ nullable: true, description: 'The sum, rounded up once.', example: 121 })
  rounded!: number | null;

  @IntegerField({
    nullable: true,
    description:
      'BYOK: percentage of `rounded` that is charged as a fee, rounded up. Otherwise null.',
    example: null,
  })
  byok_fee_percent!: number | null;

  @IntegerField({
    description: 'Part of an estimate above the reservation. Not charged.',
    example: 0,
  })
  beyond_hold!: number;

  @IntegerField({
    description:
      "Part not covered by the tenant's credits or above `max_cost`. Borne by the operator.",
    example: 0,
  })
  shortfall!: number;

  @IntegerField({
    description: 'Charge: `rounded`, or the fee, less `beyond_hold` and `shortfall`.',
    example: 121,
  })
  cost!: number;

  @ObjectField(ReceiptPartsDto, { description: 'Breakdown of `cost`.' })
  parts!: ReceiptPartsDto;

  @ObjectListField(ReceiptRefundDto, { description: 'Refunds of jobs that failed.' })
  refunds!: ReceiptRefundDto[];

  @IntegerField({ description: '`cost` less refunds.', example: 121 })
  net!: number;
}

/** Explains the cost of a request. Amounts are credits: 1 credit is 0.000001 USD. */
export class ReceiptDto {
  @EnumField(['receipt'])
  object!: 'receipt';

  @IntegerField({ description: 'Version of this format.', example: 1 })
  version!: 1;

  @StringField({
    nullable: true,
    description: 'Public URL of the gateway, if configured.',
    example: 'https://gateway.example.com',
  })
  issuer!: string | null;

  @DateTimeField({ description: 'Time of issue. Refunds can follow.' })
  issued_at!: string;

  @ObjectField(ReceiptRequestDto)
  request!: ReceiptRequestDto;

  @ObjectField(ReceiptAnswerDto)
  answer!: ReceiptAnswerDto;

  @ObjectField(ReceiptPricesDto, {
    nullable: true,
    description: 'Null: nothing was charged, or the request predates stored prices.',
  })
  prices!: ReceiptPricesDto | null;

  @ObjectField(ReceiptUsageDto)
  usage!: ReceiptUsageDto;

  @ObjectField(ReceiptChargeDto)
  charge!: ReceiptChargeDto;
}

export class SignedReceiptDto {
  @ObjectField(ReceiptDto)
  receipt!: ReceiptDto;

  @StringField({
    description:
      'The receipt as a compact JWS (RFC 7515), signed with Ed25519 (`EdDSA`). The payload is `receipt`; the header names the key in `/.well-known/jwks.json`.',
    example: 'eyJhbGciOiJFZERTQSJ9.eyJvYmplY3QiOiJyZWNlaXB0In0.c2lnbmF0dXJl',
  })
  jws!: string;
}

class PublicKeyDto implements PublicKey {
  @EnumField(['OKP'])
  kty!: 'OKP';

  @EnumField(['Ed25519'])
  crv!: 'Ed25519';

  @StringField({ example: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' })
  x!: string;

  @UuidField({ example: UUID })
  kid!: string;

  @EnumField(['sig'])
  use!: 'sig';

  @EnumField(['EdDSA'])
  alg!: 'EdDSA';
}

export class KeySetDto {
  @ObjectListField(PublicKeyDto, { description: 'Newest first.' })
  keys!: PublicKeyDto[];
}
