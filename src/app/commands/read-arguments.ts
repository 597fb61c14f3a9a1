import { isUuid } from '../../platform/database/is-uuid.js';
import { parseIsoDateTime } from '../../platform/time/parse-iso-date-time.js';
import { CommandError, UsageError } from './command-error.js';
import type { CommandServices } from './command-services.js';
import type { Tenant } from '../../core/access/tenants.service.js';

/** @throws UsageError naming the argument unless it is a whole number in the range. */
export function readInteger(name: string, text: string, min: number, max: number): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (value >= min && value <= max) return value;
  throw new UsageError(`${name} must be an integer from ${min} to ${max}`);
}

export function readName(name: string, text: string): string {
  if (/^[^]{1,255}$/u.test(text)) return text;
  throw new UsageError(`${name} must have 1 to 255 characters`);
}

export function readUuid(name: string, text: string): string {
  if (isUuid(text)) return text;
  throw new UsageError(`${name} must be a UUID`);
}

export function readFutureTime(name: string, text: string): Date {
  const time = parseIsoDateTime(text);
  if (time && time.getTime() > Date.now()) return time;
  throw new UsageError(`${name} must be an ISO 8601 time in the future, e.g. 2030-12-31T23:59:59Z`);
}

/** @throws CommandError when there is no such tenant. */
export async function findTenant(services: CommandServices, name: string): Promise<Tenant> {
  const tenant = await services.tenants.findByName(name);
  if (tenant) return tenant;
  throw new CommandError(
    `there is no tenant ${JSON.stringify(name)}; "tenant list" shows which there are`,
  );
}
