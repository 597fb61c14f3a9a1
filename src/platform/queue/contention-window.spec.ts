import { describe, expect, it } from '@jest/globals';
import { ContentionWindow } from './contention-window.js';

describe(ContentionWindow.name, () => {
  it('is shared for 250 ms after two owners alternate', () => {
    let nowMs = 1_000;
    const time = new ContentionWindow(() => nowMs);
    time.note('a');
    nowMs += 251;
    for (let call = 0; call < 100; call++) time.note('a');
    expect(time.isShared).toBe(false);
    time.note('b');
    expect(time.isShared).toBe(true);
    nowMs += 250;
    expect(time.isShared).toBe(true);
    nowMs += 1;
    expect(time.isShared).toBe(false);
  });
});
