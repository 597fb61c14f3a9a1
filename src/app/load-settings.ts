import type { AppConfig } from '../platform/config/app-config.js';
import { loadConfig, processEnvironment } from '../platform/config/load-config.js';
import { VENDORS } from '../vendors/vendors.js';

/**
 * The settings of this service with all its vendors, as every way to start it reads them.
 *
 * @throws ConfigError with one line per bad variable
 */
export function loadSettings(environment: NodeJS.ProcessEnv = processEnvironment()): AppConfig {
  return loadConfig(environment, VENDORS);
}
