import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const CREDITS = 1_000_000_000_000;
/** The maximum of a key, and more than any run needs. */
const RATE_LIMIT_PER_MINUTE = 1_000_000;

/**
 * Prepares the folder and environment of a gateway under load with an embedded PostgreSQL.
 *
 * @param options.folder exists; receives settings files and the folder `data`
 * @param options.keyPrefix prefix of the only tenant's key
 * @param options.providers as in `GATEWAY_PROVIDERS`, without the variable of their key
 * @param options.models rows of the catalogue
 * @param options.further additional or overriding variables
 * @returns the tenant's key, the data folder and all variables of the process
 */
export function gatewayEnvironment({ folder, keyPrefix, providers, models, further }) {
  const dataDirectory = join(folder, 'data');
  mkdirSync(dataDirectory);
  // As root, the service runs PostgreSQL as another user, who needs access to the folder.
  for (const path of [folder, dataDirectory]) chmodSync(path, 0o711);
  const apiKey = `${keyPrefix}${randomBytes(16).toString('hex')}`;
  const environment = {
    PATH: process.env.PATH ?? '',
    HOST: '127.0.0.1',
    PORT: '0',
    // As in the start scripts and the image.
    MALLOC_ARENA_MAX: process.env.MALLOC_ARENA_MAX ?? '2',
    MALLOC_TRIM_THRESHOLD_: process.env.MALLOC_TRIM_THRESHOLD_ ?? '131072',
    NODE_OPTIONS: process.env.NODE_OPTIONS ?? '--v8-pool-size=2',
    GATEWAY_DATA_DIR: dataDirectory,
    GATEWAY_BOOTSTRAP_API_KEY: apiKey,
    GATEWAY_BOOTSTRAP_CREDITS: String(CREDITS),
    GATEWAY_BOOTSTRAP_RATE_LIMIT_PER_MINUTE: String(RATE_LIMIT_PER_MINUTE),
    GATEWAY_MANAGEMENT_RATE_LIMIT_PER_MINUTE: String(RATE_LIMIT_PER_MINUTE),
    // A stream's connection is reused before its end is known here.
    GATEWAY_MAX_IN_FLIGHT_PER_KEY: '10000',
    GATEWAY_MAX_IN_FLIGHT_PER_TENANT: '10000',
    GATEWAY_PROVIDERS: writeJson(
      folder,
      'providers.json',
      providers.map((provider) => ({ ...provider, api_key_env: 'UPSTREAM_KEY' })),
    ),
    GATEWAY_CATALOGUE: writeJson(folder, 'catalogue.json', { models }),
    UPSTREAM_KEY: 'upstream-key',
    ...further,
  };
  return { apiKey, dataDirectory, environment };
}

function writeJson(folder, name, value) {
  const file = join(folder, name);
  writeFileSync(file, JSON.stringify(value));
  return file;
}
