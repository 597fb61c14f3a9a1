import { changesBetween } from './changes-between';

describe('changesBetween', () => {
  it('returns changed, added and removed values', () => {
    expect(
      changesBetween(
        { name: 'a', same: 1, gone: true, deep: { list: [1] } },
        { name: 'b', same: 1, deep: { list: [1, 2], new: null } },
      ),
    ).toEqual([
      { path: 'name', before: 'a', after: 'b' },
      { path: 'gone', before: true },
      { path: 'deep.list', before: [1], after: [1, 2] },
      { path: 'deep.new' },
    ]);
  });

  it('lists each value of a created or deleted object', () => {
    expect(changesBetween(null, { role: 'owner' })).toEqual([{ path: 'role', after: 'owner' }]);
    expect(changesBetween({ role: 'owner' }, null)).toEqual([{ path: 'role', before: 'owner' }]);
    expect(changesBetween(null, null)).toEqual([]);
  });
});
