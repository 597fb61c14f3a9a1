import { expect } from '@jest/globals';
import { openAccessServices, type AccessServices } from './access-services.js';
import { bootGateway, type BootedGateway } from './boot-gateway.js';
import { createTestDatabase } from './test-database.js';

export interface JsonAnswer {
  status: number;
  body: Record<string, unknown>;
}

/** Two instances on one database, for tests of changes that a tenant makes to its account. */
export interface CustomerGateways {
  access: AccessServices;
  gateway: BootedGateway;
  /** Has the same routing key, but only management keys may change anything here. */
  restricted: BootedGateway;
  /** Sends JSON to an instance, by default to the first, with its routing key; '' sends no key. */
  call(
    method: string,
    path: string,
    body?: unknown,
    key?: string,
    instance?: BootedGateway,
  ): Promise<JsonAnswer>;
  close(): Promise<void>;
}

let calls = 0;
/** Returns an unused address, since wrong keys are counted per address. */
export function nextAddress(): string {
  calls++;
  return `10.1.${(calls >> 8) & 255}.${calls & 255}`;
}

/** @param environment more settings of both */
export async function bootCustomerGateways(
  environment: Record<string, string> = {},
): Promise<CustomerGateways> {
  const database = await createTestDatabase();
  const access = await openAccessServices(database.url);
  environment = { GATEWAY_TRUSTED_PROXIES: '127.0.0.0/8, ::1', ...environment };
  const gateway = await bootGateway(environment, { database });
  const restricted = await bootGateway(
    {
      ...environment,
      GATEWAY_BOOTSTRAP_API_KEY: gateway.apiKey,
      GATEWAY_CUSTOMER_WRITES: 'management',
    },
    { database },
  );
  return {
    access,
    gateway,
    restricted,
    async call(method, path, body, key = gateway.apiKey, instance = gateway) {
      const response = await fetch(instance.url + path, {
        method,
        headers: {
          'x-forwarded-for': nextAddress(),
          ...(key !== '' && { authorization: `Bearer ${key}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-/);
      return { status: response.status, body: (await response.json()) as JsonAnswer['body'] };
    },
    async close() {
      await gateway.close();
      await restricted.close();
      await access.close();
      await database.drop();
    },
  };
}

/** An error answer in the interface's shape with any message. */
export function refusal(status: number, type: string, param: string): object {
  return { status, body: { error: { message: expect.any(String), type, code: status, param } } };
}
