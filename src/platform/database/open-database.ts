import type { AppConfig } from '../config/app-config.js';
import { startEmbeddedPostgres } from './embedded-postgres.js';

export interface OpenDatabase {
  url: string;
  /** Stops the database if it is the embedded one. */
  stop(): Promise<void>;
}

/**
 * The operator's database, or the embedded one under the data folder.
 *
 * @param log gets a line whenever something happens to the embedded one that an operator may want to know
 */
export async function openDatabase(
  config: Pick<AppConfig, 'databaseUrl' | 'dataDirectory'>,
  log?: (line: string) => void,
): Promise<OpenDatabase> {
  if (config.databaseUrl !== undefined) {
    return { url: config.databaseUrl, stop: () => Promise.resolve() };
  }
  return startEmbeddedPostgres({ dataDirectory: config.dataDirectory, log });
}
