import { describe, expect, it } from '@jest/globals';
import { ContentionWindow } from './contention-window.js';

describe(ContentionWindow.name, () => {
  it('is shared for a quarter of a second after two owners took turns', () => {
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
