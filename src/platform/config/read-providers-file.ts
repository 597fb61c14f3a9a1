import { plainToInstance } from 'class-transformer';
import {
  IsBoolean,
  IsIn,
  IsOptional,
  IsString,
  Length,
  Matches,
  ValidateBy,
} from 'class-validator';
import { PROVIDER_TYPES, type ProviderConfig, type ProviderType } from './app-config.js';
import { findViolations } from './find-violations.js';
import { isUrl, withoutTrailingSlash } from './is-url.js';
import { readJsonFile } from './read-json-file.js';

const VARIABLE = 'GATEWAY_PROVIDERS';
/** Provider ids that have a meaning of their own, configured or not. */
const BUILT_IN_IDS = ['openai', 'anthropic', 'azure', 'bedrock', 'vertex', 'fish-audio', 'sandbox'];

/** One entry of the `GATEWAY_PROVIDERS` file: by default a server that speaks the OpenAI dialect. */
class ProviderEntry {
  @Matches(/^[a-z0-9-]+$/, { message: 'must be made of a-z, 0-9 and -' })
  id!: string;

  @Length(1, 255, { message: 'must have 1 to 255 characters' })
  name!: string;

  @ValidateBy({
    name: 'isHttpUrl',
    validator: {
      validate: (value: unknown) => typeof value === 'string' && isUrl(value, ['http', 'https']),
      defaultMessage: () => 'must be a URL that starts with http:// or https://',
    },
  })
  base_url!: string;

  @IsOptional()
  @IsString({ message: 'must be the name of an environment variable' })
  api_key_env?: string;

  /** The adapter that speaks to it, by its name in the registry of upstreams. */
  @IsOptional()
  @Matches(/^[a-z0-9-]+$/, { message: 'must be the name of an adapter' })
  adapter?: string;

  @IsOptional()
  @IsIn(PROVIDER_TYPES, { message: `must be one of ${PROVIDER_TYPES.join(', ')}` })
  type?: ProviderType;

  /** What only this adapter needs to know: strings by name. */
  @IsOptional()
  @ValidateBy({
    name: 'isStringRecord',
    validator: {
      validate: (value: unknown) =>
        typeof value === 'object' &&
        value !== null &&
        Object.values(value).every((setting) => typeof setting === 'string'),
      defaultMessage: () => 'must be an object whose values are strings',
    },
  })
  settings?: Record<string, string>;

  /** Whether tenants may store keys of their own for it; by default if it has one. */
  @IsOptional()
  @IsBoolean({ message: 'must be true or false' })
  own_credentials?: boolean;
}

/**
 * The operator's further OpenAI-compatible providers. What is wrong with the file is added to
 * `problems`, each line naming the entry and the field.
 */
export function readProvidersFile(
  path: string,
  environment: NodeJS.ProcessEnv,
  problems: string[],
): ProviderConfig[] {
  let content: unknown;
  try {
    content = readJsonFile(path);
  } catch (error) {
    problems.push(`${VARIABLE} ${(error as Error).message}`);
    return [];
  }
  if (!Array.isArray(content)) {
    problems.push(`${VARIABLE} must name a file with an array of providers`);
    return [];
  }
  const usedIds = new Set(BUILT_IN_IDS);
  return content.flatMap((plain: unknown, index) => {
    const complain = (field: string, message: string) =>
      problems.push(`${VARIABLE}: ${index}${field && `.${field}`} ${message}`);
    if (typeof plain !== 'object' || plain === null || Array.isArray(plain)) {
      complain('', 'must be an object');
      return [];
    }
    const entry = plainToInstance(ProviderEntry, plain);
    const violations = findViolations(entry, { refuseUnknown: true });
    violations.forEach((violation) => complain(violation.path, violation.message));
    if (violations.length > 0) return [];
    if (usedIds.has(entry.id)) {
      complain('id', `"${entry.id}" is built in or used twice; choose another`);
      return [];
    }
    usedIds.add(entry.id);
    const apiKey = entry.api_key_env === undefined ? undefined : environment[entry.api_key_env];
    if (entry.api_key_env !== undefined && !apiKey) {
      complain('api_key_env', `names the variable ${entry.api_key_env}, which is not set`);
      return [];
    }
    return [
      {
        id: entry.id,
        name: entry.name,
        adapter: entry.adapter ?? 'openai',
        type: entry.type ?? 'openai',
        baseUrl: withoutTrailingSlash(entry.base_url),
        apiKey,
        settings: { ...entry.settings },
        ...(entry.own_credentials !== undefined && { takesOwnAccounts: entry.own_credentials }),
      },
    ];
  });
}
