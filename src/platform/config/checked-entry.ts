// Settings are read before anything of Nest is loaded, and `Type` asks for it.
import 'reflect-metadata';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsString,
  Length,
  Matches,
  Max,
  Min,
  ValidateBy,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import { PROVIDER_TYPES, type ProviderType } from './app-config.js';
import { MAX_ACCOUNTS, PRICE_NAMES } from './pool-accounts.js';
import { isUrl } from './setting-values.js';

const MAX_WEIGHT = 1_000_000;
const MAX_PER_MINUTE = 1_000_000_000;
const MODELS_RULE = 'must be a list of 1 to 1000 ids of catalogue rows, or be left out';
const ACCOUNTS_RULE = `must be a list of 1 to ${MAX_ACCOUNTS} accounts, or be left out`;

/** Unlike `IsOptional`, refuses null, which code that reads an entry does not expect. */
const MayBeLeftOut = (): PropertyDecorator =>
  ValidateIf((_entry, value: unknown) => value !== undefined);

const IsHttpUrl = (): PropertyDecorator =>
  ValidateBy({
    name: 'isHttpUrl',
    validator: {
      validate: (value: unknown) => typeof value === 'string' && isUrl(value, ['http', 'https']),
      defaultMessage: () => 'must be a URL that starts with http:// or https://',
    },
  });

const IsStringRecord = (): PropertyDecorator =>
  ValidateBy({
    name: 'isStringRecord',
    validator: {
      validate: isStringRecord,
      defaultMessage: () => 'must be an object whose values are strings',
    },
  });

function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isStringRecord(value: unknown): value is Record<string, string> {
  return (
    isPlainObject(value) && Object.values(value).every((setting) => typeof setting === 'string')
  );
}

function isPrices(value: unknown): boolean {
  if (!isPlainObject(value)) return false;
  return Object.values(value).every(
    (row: unknown) =>
      isStringRecord(row) &&
      Object.keys(row).length > 0 &&
      Object.entries(row).every(
        ([name, price]) => PRICE_NAMES.includes(name) && /^\d{1,9}(?:\.\d{1,18})?$/.test(price),
      ) &&
      'prompt' in row === 'completion' in row,
  );
}

/** One of the `accounts` of a provider's entry. */
class CheckedAccount {
  @Matches(/^[a-zA-Z0-9._-]{1,64}$/, {
    message: 'must be 1 to 64 of a-z, A-Z, 0-9, ".", "_" and "-"',
  })
  id!: string;

  /** Rejected in files; the management API removes it before this check. */
  @ValidateBy({
    name: 'isNoKey',
    validator: {
      validate: (value: unknown) => value === undefined,
      defaultMessage: () => 'must not be in a file; name its variable in api_key_env',
    },
  })
  api_key?: undefined;

  @MayBeLeftOut()
  @IsString({ message: 'must be the name of an environment variable' })
  api_key_env?: string;

  @MayBeLeftOut()
  @IsHttpUrl()
  base_url?: string;

  @MayBeLeftOut()
  @IsStringRecord()
  settings?: Record<string, string>;

  @MayBeLeftOut()
  @Length(1, 64, { message: 'must be the name of a region' })
  region?: string;

  @MayBeLeftOut()
  @IsInt({ message: `must be an integer from 1 to ${MAX_WEIGHT}` })
  @Min(1, { message: `must be an integer from 1 to ${MAX_WEIGHT}` })
  @Max(MAX_WEIGHT, { message: `must be an integer from 1 to ${MAX_WEIGHT}` })
  weight?: number;

  @MayBeLeftOut()
  @IsInt({ message: `must be an integer from 1 to ${MAX_PER_MINUTE}` })
  @Min(1, { message: `must be an integer from 1 to ${MAX_PER_MINUTE}` })
  @Max(MAX_PER_MINUTE, { message: `must be an integer from 1 to ${MAX_PER_MINUTE}` })
  requests_per_minute?: number;

  @MayBeLeftOut()
  @IsInt({ message: `must be an integer from 1 to ${MAX_PER_MINUTE}` })
  @Min(1, { message: `must be an integer from 1 to ${MAX_PER_MINUTE}` })
  @Max(MAX_PER_MINUTE, { message: `must be an integer from 1 to ${MAX_PER_MINUTE}` })
  tokens_per_minute?: number;

  @MayBeLeftOut()
  @IsArray({ message: MODELS_RULE })
  @ArrayMinSize(1, { message: MODELS_RULE })
  @ArrayMaxSize(1_000, { message: MODELS_RULE })
  @Length(1, 255, { each: true, message: MODELS_RULE })
  models?: string[];

  @MayBeLeftOut()
  @ValidateBy({
    name: 'isPrices',
    validator: {
      validate: isPrices,
      defaultMessage: () =>
        `must be an object of catalogue rows' ids, each with decimal strings by the names of prices (${PRICE_NAMES.join(', ')}); prompt and completion come together`,
    },
  })
  prices?: Record<string, Record<string, string>>;
}

/** One entry of the `GATEWAY_PROVIDERS` file: by default a server that speaks the default vendor's dialect. */
export class CheckedEntry {
  @Matches(/^[a-z0-9-]+$/, { message: 'must be made of a-z, 0-9 and -' })
  id!: string;

  @Length(1, 255, { message: 'must have 1 to 255 characters' })
  name!: string;

  /** Optional for adapters with a default address. */
  @ValidateIf(({ base_url }: CheckedEntry) => base_url !== undefined)
  @IsHttpUrl()
  base_url?: string;

  @MayBeLeftOut()
  @IsString({ message: 'must be the name of an environment variable' })
  api_key_env?: string;

  /** Id of the vendor whose adapter to use. */
  @MayBeLeftOut()
  @Matches(/^[a-z0-9-]+$/, { message: 'must be the name of an adapter' })
  adapter?: string;

  @MayBeLeftOut()
  @IsIn(PROVIDER_TYPES, { message: `must be one of ${PROVIDER_TYPES.join(', ')}` })
  type?: ProviderType;

  /** Settings specific to the adapter: strings by name. */
  @MayBeLeftOut()
  @IsStringRecord()
  settings?: Record<string, string>;

  /** True when tenants may store BYOK keys for it; by default if the operator has one. */
  @MayBeLeftOut()
  @IsBoolean({ message: 'must be true or false' })
  own_credentials?: boolean;

  /** True when undocumented request fields are passed on to it; false by default. */
  @MayBeLeftOut()
  @IsBoolean({ message: 'must be true or false' })
  pass_unknown_fields?: boolean;

  /** Accounts over which its requests are distributed. */
  @MayBeLeftOut()
  @IsArray({ message: ACCOUNTS_RULE })
  @ArrayMinSize(1, { message: ACCOUNTS_RULE })
  @ArrayMaxSize(MAX_ACCOUNTS, { message: ACCOUNTS_RULE })
  @ValidateBy(
    { name: 'isPlainObject', validator: { validate: isPlainObject } },
    { each: true, message: ACCOUNTS_RULE },
  )
  @ValidateNested({ each: true, message: ACCOUNTS_RULE })
  @Type(() => CheckedAccount)
  accounts?: CheckedAccount[];
}
