import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { RedisChannel } from '../../src/platform/redis/redis-channel.js';
import { recordLogs } from '../support/recorded-logs.js';
import { describeWithRedis, startTestRedis, type TestRedis } from '../support/redis-server.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';

describeWithRedis(RedisChannel.name, () => {
  const warnings = recordLogs('warn', RedisChannel.name);
  recordLogs('log', RedisChannel.name);
  let redis: TestRedis;
  let proxy: TcpProxy;
  let near: RedisChannel;
  /** Connected through the proxy. */
  let far: RedisChannel;

  beforeAll(async () => {
    redis = await startTestRedis();
  });
  afterAll(() => redis.stop());

  beforeEach(async () => {
    proxy = new TcpProxy({ host: '127.0.0.1', port: Number(new URL(redis.url).port) });
    await proxy.open();
    near = new RedisChannel(redis.url);
    far = new RedisChannel(`redis://127.0.0.1:${proxy.port}`);
    for (const channel of [near, far]) await channel.onModuleInit();
  });
  afterEach(async () => {
    for (const channel of [near, far]) channel.onApplicationShutdown();
    await proxy.cut();
    warnings.mockClear();
  });

  /** Returns the texts received on a topic, with `back` whenever the channel subscribes again. */
  async function heardBy(channel: RedisChannel, topic = 'letters'): Promise<string[]> {
    const received: string[] = [];
    channel.listen(
      topic,
      (text) => received.push(text),
      () => received.push('back'),
    );
    await until(() => received.length > 0);
    return received;
  }

  it('delivers to all, the sender included, in one order, and not to other topics or databases', async () => {
    const elsewhere = new RedisChannel(`${redis.url}/1`);
    await elsewhere.onModuleInit();
    const [one, two, other] = [
      await heardBy(near),
      await heardBy(far),
      await heardBy(far, 'parcels'),
    ];
    const inOtherDatabase = await heardBy(elsewhere);
    await Promise.all(
      Array.from({ length: 50 }, (_, at) => (at % 2 ? near : far).publish('letters', String(at))),
    );
    await until(() => one.length === 51 && two.length === 51);
    expect(one).toEqual(two);
    expect(await near.publish('parcels', 'x')).toBe(true);
    await until(() => other.length === 2);
    expect(other).toEqual(['back', 'x']);
    expect(inOtherDatabase).toEqual(['back']);
    elsewhere.onApplicationShutdown();
  });

  it('reports undelivered messages, logs the outage once, and reports its end', async () => {
    const received = await heardBy(far);
    await proxy.cut();
    await until(async () => !(await far.publish('letters', 'lost')));
    await until(() => far.isDegraded);
    expect(await far.publish('letters', 'lost')).toBe(false);
    await near.publish('letters', 'missed');
    await proxy.open();
    await until(() => received.length === 2);
    expect(received).toEqual(['back', 'back']);
    await until(() => near.publish('letters', 'heard'));
    await until(() => received.includes('heard'));
    expect(warnings).toHaveBeenCalledTimes(1);
  });
});
