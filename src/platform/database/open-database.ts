import type { AppConfig } from '../config/app-config.js';
import { startEmbeddedPostgres } from './embedded-postgres.js';

export interface OpenDatabase {
  url: string;
  /** Stops the database if it is the embedded one. */
  stop(): Promise<void>;
}

/**
 * Opens the operator's database, or starts the embedded one in the data folder.
 *
 * @param log receives a line per event of the embedded database that operators should know about
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
