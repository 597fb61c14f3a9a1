import type { Server } from 'node:http';
import type { AppConfig } from '../config/app-config.js';

/** Addresses to listen on that nobody can call. */
const ANY_ADDRESS = new Set(['0.0.0.0', '::']);

/**
 * Base of the URLs that the service gives out, without a trailing slash: the configured one, else
 * where this process listens. What callers say in their `Host` header is never trusted.
 */
export function baseUrlOf(server: Server, { http }: Pick<AppConfig, 'http'>): string {
  const address = server.address();
  return configuredBaseUrl({ http }, typeof address === 'string' ? http.port : address?.port);
}

/** The same where nothing listens, as in a command. */
export function configuredBaseUrl(
  { http }: Pick<AppConfig, 'http'>,
  port: number = http.port,
): string {
  if (http.publicUrl !== undefined) return http.publicUrl;
  const host = ANY_ADDRESS.has(http.host) ? 'localhost' : http.host;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
