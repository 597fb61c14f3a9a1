import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AppConfig } from '../config/app-config.js';

/**
 * Base of the URLs that the service gives out, without a trailing slash: the configured one, else
 * where this process listens. What callers say in their `Host` header is never trusted.
 */
export function baseUrlOf(server: Server, { http }: Pick<AppConfig, 'http'>): string {
  if (http.publicUrl !== undefined) return http.publicUrl;
  const port = (server.address() as AddressInfo | null)?.port ?? http.port;
  const host = http.host ?? 'localhost';
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
