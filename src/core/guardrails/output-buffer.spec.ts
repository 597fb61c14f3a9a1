import { describe, expect, it } from '@jest/globals';
import { processorMsOf } from '../../../test/support/processor-ms.js';
import { OutputBuffer } from './output-buffer.js';

describe(OutputBuffer.name, () => {
  it('handles tens of thousands of tool calls in linear time', async () => {
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
    // Scanning all calls for each one took over 10 s.
    expect(tookMs).toBeLessThan(8_000);
    // The last 1,000 characters are not scanned yet.
    expect(looks).toBe(40_000 - 500);
  });
});
