import { describe, expect, it } from '@jest/globals';
import { processorMsOf } from '../../../test/support/processor-ms.js';
import { OutputBuffer } from './output-buffer.js';

describe(OutputBuffer.name, () => {
  it('looks through tens of thousands of tool calls in time that grows with their number', async () => {
    const buffer = new OutputBuffer();
    let looks = 0;
    const tookMs = await processorMsOf(() => {
      for (let index = 0; index < 40_000; index++) {
        buffer.add({ type: 'tool_arguments', choice: 0, index, text: '{}' });
        for (const window of buffer.windowsToScan()) {
          buffer.noteScan(window, Infinity);
          looks++;
        }
        buffer.takeSafe();
      }
    });
    // Going through all calls for each took more than 10 s.
    expect(tookMs).toBeLessThan(8_000);
    // The last 1,000 characters are not looked at yet.
    expect(looks).toBe(40_000 - 500);
  });
});
