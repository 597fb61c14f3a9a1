import { jest } from '@jest/globals';
import {
  DELIVERY_POLICY,
  DELIVERY_WORK,
  GROUP_LIMITS,
  PATIENT_GROUP_LIMITS,
} from '../../src/features/broadcast/broadcast-limits.js';
import { OutboundClient } from '../../src/platform/outbound/outbound-client.js';
import { bootGateway, type BootedGateway } from './boot-gateway.js';
import { errorAnswer, politeAnswer, startFakeOpenAi, type FakeOpenAi } from './fake-openai.js';
import { writeOperatorFiles } from './operator-files.js';
import type { TestDatabase } from './test-database.js';
import { startTraceReceiver, type TraceReceiver } from './trace-receiver.js';

export const DESTINATIONS = '/v1/customer/broadcast/destinations';
export const OPT_IN = { 'x-gateway-broadcast': 'true' };

export interface BroadcastSetUp {
  gateway: BootedGateway;
  /** Fails, so that a chain of `one/a` and `other/b` shows a fallback. */
  one: FakeOpenAi;
  other: FakeOpenAi;
  receiver: TraceReceiver;
  /** Makes a destination and answers its id. */
  send(fields?: object): Promise<string>;
  destination(id: string): Promise<Record<string, unknown>>;
  /** Removes all destinations. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

/**
 * The service with two vendors and a collector, which a destination has to be made for. Traces are gathered and
 * sent again after a tenth of the usual time.
 */
export async function bootWithBroadcast(
  environment: Record<string, string> = {},
  options: { database?: TestDatabase } = {},
): Promise<BroadcastSetUp> {
  jest.replaceProperty(GROUP_LIMITS, 'maxAgeMs', 100);
  jest.replaceProperty(PATIENT_GROUP_LIMITS, 'maxAgeMs', 500);
  jest.replaceProperty(DELIVERY_POLICY, 'firstRetryMs', 100);
  jest.replaceProperty(DELIVERY_WORK.slots, 'failingRestMs', 100);
  const one = await startFakeOpenAi(errorAnswer(500));
  const other = await startFakeOpenAi(politeAnswer({ text: 'From b.' }));
  const receiver = await startTraceReceiver();
  const pricing = { prompt: '0.000001', completion: '0.000002' };
  const files = await writeOperatorFiles(
    { one: one.baseUrl, other: { base_url: other.baseUrl, own_credentials: true } },
    [
      { id: 'one/a', pricing },
      { id: 'other/b', pricing },
    ],
  );
  const gateway = await bootGateway(
    {
      ...files.environment,
      GATEWAY_ALLOW_PRIVATE_DESTINATIONS: 'true',
      GATEWAY_COOLDOWN_MS: '1',
      GATEWAY_BOOTSTRAP_CREDITS: '1000000000',
      ...environment,
    },
    options,
  );
  return {
    gateway,
    one,
    other,
    receiver,
    async send(fields = {}) {
      const response = await gateway.post(DESTINATIONS, { url: receiver.url, ...fields });
      const body = (await response.json()) as { id: string };
      if (response.status !== 201) throw new Error(JSON.stringify(body));
      return body.id;
    },
    async destination(id) {
      const response = await gateway.fetch(`${DESTINATIONS}/${id}`);
      return (await response.json()) as Record<string, unknown>;
    },
    async clear() {
      const { data } = (await (await gateway.fetch(DESTINATIONS)).json()) as {
        data: { id: string }[];
      };
      for (const { id } of data) {
        await gateway.fetch(`${DESTINATIONS}/${id}`, { method: 'DELETE' });
      }
    },
    async close() {
      await gateway.close();
      for (const server of [one, other, receiver]) await server.close();
      await files.remove();
    },
  };
}

/** Receivers have a tenth of their time for an answer, until the mock is restored. */
export function hastenReceivers(): jest.SpiedFunction<OutboundClient['post']> {
  const { post } = OutboundClient.prototype;
  return jest.spyOn(OutboundClient.prototype, 'post').mockImplementation(function (
    this: OutboundClient,
    request,
  ) {
    return post.call(this, { ...request, timeoutMs: (request.timeoutMs ?? NaN) / 10 });
  });
}
