import { plainToInstance, Type } from 'class-transformer';
import { API_KEY_TYPES, type ApiKeyType } from '../../core/access/caller.js';
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
import { ConfigError, findViolations, readJsonFile } from '../../platform/config/config-error.js';
import {
  MAX_GRANT_CREDITS,
  MAX_RATE_LIMIT_PER_MINUTE,
  isOperatorKey,
  OPERATOR_KEY_RULES,
} from '../../platform/config/setting-values.js';
import { messageOf } from '../../platform/errors/thrown.js';

const NAME = { message: 'must be a string of 1 to 255 characters' };

const CREDITS = { message: `must be an integer from 0 to ${MAX_GRANT_CREDITS}` };

const RATE_LIMIT = { message: `must be an integer from 1 to ${MAX_RATE_LIMIT_PER_MINUTE}` };

class BootstrapKeyEntry {
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

class BootstrapTenantEntry {
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
class BootstrapFile {
  @IsArray({ message: 'must be an array' })
  @ValidateNested({ each: true, message: 'must be an object' })
  @Type(() => BootstrapTenantEntry)
  tenants!: BootstrapTenantEntry[];
}

const VARIABLE = 'GATEWAY_BOOTSTRAP_FILE';

/**
 * Reads the tenants that the operator's file declares.
 *
 * @throws ConfigError with one line per invalid entry; lines give paths in the file, never keys
 */
export function readBootstrapFile(
  path: string,
  defaults: { rateLimitPerMinute: number },
): DeclaredTenant[] {
  const file = parse(path);
  const tenants = file.tenants.map((tenant, index) => ({
    name: tenant.name,
    credits: tenant.credits,
    keys: tenant.keys.map((entry, keyIndex) => ({
      type: entry.type,
      plaintext: entry.key,
      name: entry.name ?? `${entry.type} key`,
      rateLimitPerMinute: entry.rate_limit_per_minute ?? defaults.rateLimitPerMinute,
      source: `${VARIABLE}: tenants.${index}.keys.${keyIndex}.key`,
    })),
  }));
  rejectUnusable(tenants);
  return tenants;
}

function parse(path: string): BootstrapFile {
  let content: unknown;
  try {
    content = readJsonFile(path);
  } catch (error) {
    throw new ConfigError([`${VARIABLE} ${messageOf(error)}`]);
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new ConfigError([`${VARIABLE} must name a file with an object {"tenants": […]}`]);
  }
  const file = plainToInstance(BootstrapFile, content);
  const violations = findViolations(file, { refuseUnknown: true });
  if (violations.length > 0) {
    throw new ConfigError(violations.map((bad) => `${VARIABLE}: ${bad.path} ${bad.message}`));
  }
  return file;
}

function rejectUnusable(tenants: DeclaredTenant[]): void {
  const problems: string[] = [];
  const names = new Set<string>();
  tenants.forEach(({ name }, index) => {
    if (names.has(name)) problems.push(`${VARIABLE}: tenants.${index}.name is declared twice`);
    names.add(name);
  });
  const seen = new Set<string>();
  for (const key of tenants.flatMap((tenant) => tenant.keys)) {
    if (!isOperatorKey(key.type, key.plaintext)) {
      problems.push(`${key.source} ${OPERATOR_KEY_RULES[key.type]}`);
    } else if (seen.has(key.plaintext)) {
      problems.push(`${key.source} is declared twice`);
    }
    seen.add(key.plaintext);
  }
  if (problems.length > 0) throw new ConfigError(problems);
}

/** A tenant that must exist. */
export interface DeclaredTenant {
  name: string;
  /** Granted once, when the tenant is created. */
  credits: number;
  keys: DeclaredKey[];
}

export interface DeclaredKey {
  type: ApiKeyType;
  plaintext: string;
  name: string;
  rateLimitPerMinute: number;
  /** Where the operator declared it, for messages: a variable or a path in the file. */
  source: string;
}
