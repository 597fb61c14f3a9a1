import { describe, expect, it } from '@jest/globals';
import { onceFor } from './once.js';

describe(onceFor.name, () => {
  it('creates one value per source', () => {
    let source = { text: 'a' };
    let made = 0;
    const read = onceFor(
      () => source,
      ({ text }) => ({ text, made: ++made }),
    );
    expect(read()).toBe(read());
    expect(read()).toEqual({ text: 'a', made: 1 });
    source = { text: 'b' };
    expect(read()).toEqual({ text: 'b', made: 2 });
  });
});
