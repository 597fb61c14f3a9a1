import type { Server } from 'node:http';
import type { AppConfig } from '../config/app-config.js';

/** Listen addresses that callers cannot use. */
const ANY_ADDRESS = new Set(['0.0.0.0', '::']);

/**
 * Returns the base of the URLs that the service gives out, without a trailing slash: the configured one, else where
 * this process listens. Never trusts the `Host` header.
 */
export function baseUrlOf(server: Server, { http }: Pick<AppConfig, 'http'>): string {
  const address = server.address();
  return configuredBaseUrl({ http }, typeof address === 'string' ? http.port : address?.port);
}

/** Returns the same without a listening server, as in a command. */
export function configuredBaseUrl(
  { http }: Pick<AppConfig, 'http'>,
  port: number = http.port,
): string {
  if (http.publicUrl !== undefined) return http.publicUrl;
  const host = ANY_ADDRESS.has(http.host) ? 'localhost' : http.host;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
