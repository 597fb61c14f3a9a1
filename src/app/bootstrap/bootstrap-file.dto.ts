import { Type } from 'class-transformer';
import {
  IsArray,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Length,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';
import { API_KEY_TYPES, type ApiKeyType } from '../../core/access/caller.js';
import {
  MAX_GRANT_CREDITS,
  MAX_RATE_LIMIT_PER_MINUTE,
} from '../../platform/config/setting-bounds.js';

const NAME = { message: 'must be a string of 1 to 255 characters' };
const CREDITS = { message: `must be an integer from 0 to ${MAX_GRANT_CREDITS}` };
const RATE_LIMIT = { message: `must be an integer from 1 to ${MAX_RATE_LIMIT_PER_MINUTE}` };

export class BootstrapKeyEntry {
  @IsIn(API_KEY_TYPES, { message: `must be ${API_KEY_TYPES.join(' or ')}` })
  type!: ApiKeyType;

  @IsString({ message: 'must be a string' })
  key!: string;

  @IsOptional()
  @Length(1, 255, NAME)
  name?: string;

  @IsOptional()
  @IsInt(RATE_LIMIT)
  @Min(1, RATE_LIMIT)
  @Max(MAX_RATE_LIMIT_PER_MINUTE, RATE_LIMIT)
  rate_limit_per_minute?: number;
}

export class BootstrapTenantEntry {
  @Length(1, 255, NAME)
  name!: string;

  @IsInt(CREDITS)
  @Min(0, CREDITS)
  @Max(MAX_GRANT_CREDITS, CREDITS)
  credits!: number;

  @IsArray({ message: 'must be an array' })
  @ValidateNested({ each: true, message: 'must be an object' })
  @Type(() => BootstrapKeyEntry)
  keys!: BootstrapKeyEntry[];
}

/** The content of `GATEWAY_BOOTSTRAP_FILE`. */
export class BootstrapFile {
  @IsArray({ message: 'must be an array' })
  @ValidateNested({ each: true, message: 'must be an object' })
  @Type(() => BootstrapTenantEntry)
  tenants!: BootstrapTenantEntry[];
}
