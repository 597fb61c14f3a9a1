import { describe, expect, it } from '@jest/globals';
import type { InstanceService, LivingInstance } from '../../../core/ledger/instance.service.js';
import type { WorkEngine } from '../../../platform/durable-work/work-engine.js';
import { InstancesAdmin } from './instances.service.js';

function instance(id: string, facts: LivingInstance['facts']): LivingInstance {
  const startedAt = new Date(Date.now() - 90_500);
  return { id, startedAt, heartbeatAt: new Date(), facts, live: {} };
}

async function list(living: LivingInstance[], depths: WorkEngine['depths']) {
  const instances = { id: 'b', living: () => Promise.resolve(living) };
  return new InstancesAdmin(
    instances as unknown as InstanceService,
    { depths } as WorkEngine,
  ).list();
}

describe(InstancesAdmin.name, () => {
  it('says who differs from most of the others, and bears those that say nothing', async () => {
    const usual = { version: '2', catalogue: 'aa', secret: 's' };
    const { data, queue } = await list(
      [
        instance('old', {}),
        instance('a', { ...usual, catalogue: 'bb' }),
        instance('b', usual),
        instance('c', { ...usual, version: '3' }),
        instance('d', usual),
      ],
      () => Promise.reject(new Error('away')),
    );
    expect(data.map(({ differs }) => differs)).toEqual([[], ['catalogue'], [], ['version'], []]);
    expect(data.map(({ is_self }) => is_self)).toEqual([false, false, true, false, false]);
    expect(data[0]).toMatchObject({
      version: null,
      requests_in_flight: null,
      routes: [],
      hedging: null,
    });
    expect(data[0]!.uptime_seconds).toBeGreaterThanOrEqual(90);
    expect(queue).toBeNull();
  });
});
