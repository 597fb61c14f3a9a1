import type { AppConfig } from '../platform/config/app-config.js';
import { loadConfig, processEnvironment } from '../platform/config/load-config.js';
import { VENDORS } from '../vendors/vendors.js';

/**
 * Loads the settings of the service and all its vendors.
 *
 * @throws ConfigError with one line per invalid variable
 */
export function loadSettings(environment: NodeJS.ProcessEnv = processEnvironment()): AppConfig {
  return loadConfig(environment, VENDORS);
}
