import { plainToInstance } from 'class-transformer';
import { ConfigError } from '../../platform/config/config-error.js';
import { findViolations } from '../../platform/config/find-violations.js';
import { isOperatorKey, OPERATOR_KEY_RULES } from '../../platform/config/operator-key.js';
import { readJsonFile } from '../../platform/config/read-json-file.js';
import { BootstrapFile } from './bootstrap-file.dto.js';
import type { DeclaredTenant } from './declared-tenant.js';

const VARIABLE = 'GATEWAY_BOOTSTRAP_FILE';

/**
 * The tenants that the operator's file declares.
 * @throws ConfigError with a line per bad entry, which gives its path in the file and never a key.
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
  refuseUnusable(tenants);
  return tenants;
}

function parse(path: string): BootstrapFile {
  let content: unknown;
  try {
    content = readJsonFile(path);
  } catch (error) {
    throw new ConfigError([`${VARIABLE} ${(error as Error).message}`]);
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

function refuseUnusable(tenants: DeclaredTenant[]): void {
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
