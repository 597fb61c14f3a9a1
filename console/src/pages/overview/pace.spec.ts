import { paceOf } from './pace';

const NOW = new Date('2026-11-23T12:00:00Z');

function day(date: string, cost: number) {
  return { groups: { day: `${date}T00:00:00Z` }, cost };
}

describe('paceOf', () => {
  it('divides by seven days, those without requests included, and leaves today out', () => {
    const pace = paceOf(
      1_000,
      [day('2026-11-20', 500), day('2026-11-21', 200), day('2026-11-23', 9_999)],
      NOW,
    );
    expect(pace?.perDay).toBe(100);
    expect(pace?.endsAt?.toISOString()).toBe('2026-12-03T12:00:00.000Z');
  });

  it('has no end when nothing is spent, and none that is ten years away', () => {
    expect(paceOf(1_000, [day('2026-11-20', 0)], NOW)?.endsAt).toBeNull();
    expect(paceOf(1e12, [day('2026-11-20', 7)], NOW)?.endsAt).toBeNull();
  });

  it('knows nothing before there was a whole day', () => {
    expect(paceOf(1_000, [day('2026-11-23', 10)], NOW)).toBeUndefined();
  });

  it('is over at once with a balance below 0', () => {
    expect(paceOf(-5, [day('2026-11-20', 700)], NOW)?.lastsMs).toBe(0);
  });
});
