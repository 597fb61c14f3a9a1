import { describe, expect, it } from '@jest/globals';
import { sourceOf } from '../../../../test/support/artifact-bytes.js';
import { Canceller } from '../../../canonical/cancel-signal.js';
import type { MediaResult } from '../../media-work.js';
import { MediaMemory } from './media-memory.js';

const SMALL = 16 * 1024 * 1024;

describe(MediaMemory.name, () => {
  const nobody = new Canceller();

  /** Reserves memory and returns two files. */
  const make = (memory: MediaMemory, bytes: number, signal = nobody): Promise<MediaResult> =>
    memory.hold(signal, async (reservation) => {
      await reservation.take(bytes);
      const file = () => ({ contentType: 'image/png', bytes: sourceOf(Buffer.from('a')) });
      return { state: 'done', files: [file(), file()], usage: undefined };
    });
  const isSettled = async (work: Promise<unknown>): Promise<boolean> => {
    const marker = {};
    await new Promise(setImmediate);
    return (await Promise.race([work.catch(() => undefined), Promise.resolve(marker)])) !== marker;
  };

  it('queues large answers until the files of the one before are read or skipped, but no small ones', async () => {
    const memory = new MediaMemory();
    const first = await make(memory, SMALL + 1);
    const second = make(memory, SMALL + 1);
    expect((await make(memory, SMALL)).files).toHaveLength(2);
    for await (const _ of first.files[0]!.bytes);
    expect(await isSettled(second)).toBe(false);
    await first.files[1]!.bytes[Symbol.asyncIterator]().return?.();
    expect((await second).files).toHaveLength(2);
  });

  it('continues when an answer fails or its caller disconnects while it waits', async () => {
    const memory = new MediaMemory();
    const failing = memory.hold(nobody, async (reservation) => {
      await reservation.take(SMALL + 1);
      await reservation.take(400 * 1024 * 1024);
      throw new Error('not reached');
    });
    const disconnected = new Canceller();
    const left = make(memory, SMALL + 1, disconnected);
    const last = make(memory, SMALL + 1);
    disconnected.abort();
    await expect(failing).rejects.toMatchObject({ failure: 'unreadable' });
    await expect(left).rejects.toThrow('aborted');
    expect((await last).files).toHaveLength(2);
  });
});
