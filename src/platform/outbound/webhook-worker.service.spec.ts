import { expect, it, jest } from '@jest/globals';
import { WebhookWorker } from './webhook-worker.service.js';

it('lets tenants with webhooks for one origin take turns', async () => {
  const deliveries = {
    areForgotten: () => 'false',
    receiverOfDue: (tenantId: string) =>
      Promise.resolve({ url: `https://hooks.test/${tenantId}`, tenantId }),
  };
  const engine = { register: jest.fn() };
  const worker = new WebhookWorker(
    ...([deliveries, {}, {}, {}, engine] as unknown as ConstructorParameters<typeof WebhookWorker>),
  );
  expect([await worker.place('a'), await worker.place('b')]).toEqual([
    { group: 'https://hooks.test', owner: 'a' },
    { group: 'https://hooks.test', owner: 'b' },
  ]);
});
