import { describe, expect, it } from '@jest/globals';
import { HedgeShare } from './hedge-share.js';

const share = (percent: number): HedgeShare => new HedgeShare(() => percent);

describe(HedgeShare.name, () => {
  it('never exceeds the share, from the first request on', () => {
    const tenth = share(10);
    const taken: number[] = [];
    for (let count = 1; count <= 40; count++) {
      tenth.noteRequest();
      if (tenth.take()) taken.push(count);
    }
    expect(taken).toEqual([10, 20, 30, 40]);
    expect(tenth.latest).toEqual({ requests: 40, hedged: 4, won: 0 });
  });

  it('never exceeds the share in any 1,000 consecutive requests', () => {
    const third = share(33);
    const given: number[] = [];
    for (let count = 0; count < 5_000; count++) {
      third.noteRequest();
      // Some take several at once, on behalf of earlier requests.
      const wishes = (count * 7) % 13 === 0 ? 40 : 0;
      given.push(Array.from({ length: wishes }, () => third.take()).filter(Boolean).length);
    }
    let sum = 0;
    const sums = given.map((each, at) => (sum += each - (given[at - 1_000] ?? 0)));
    expect(Math.max(...sums)).toBeLessThanOrEqual(330);
    expect(given.reduce((total, each) => total + each, 0)).toBeGreaterThan(1_500);
  });

  it('looks back over 1,000 requests only', () => {
    const all = share(100);
    all.noteRequest();
    all.take();
    all.noteWin();
    for (let count = 1; count < 1_000; count++) all.noteRequest();
    expect(all.latest).toEqual({ requests: 1_000, hedged: 1, won: 1 });
    all.noteRequest();
    expect(all.latest).toEqual({ requests: 1_000, hedged: 0, won: 0 });
  });

  it('applies a changed share at once', () => {
    let percent = 0;
    const changing = new HedgeShare(() => percent);
    changing.noteRequest();
    expect([changing.isOff, changing.take()]).toEqual([true, false]);
    percent = 100;
    expect([changing.isOff, changing.take(), changing.take()]).toEqual([false, true, false]);
  });
});
