import type { LookupAddress } from 'node:dns';
import { describe, expect, it } from '@jest/globals';
import { OutboundLookup, type FindAddresses } from './public-address.js';

const FOUND: LookupAddress[] = [{ address: '93.184.215.14', family: 4 }];
const failWith = (code: string) => Promise.reject(Object.assign(new Error(code), { code }));
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function openLookup(askDns: FindAddresses, askSystem: FindAddresses, local: string[] = []) {
  const lookups: string[] = [];
  const lookup = new OutboundLookup(
    (name) => {
      lookups.push(`dns ${name}`);
      return askDns(name);
    },
    (name) => {
      lookups.push(`system ${name}`);
      return askSystem(name);
    },
    (name) => Promise.resolve(local.includes(name)),
  );
  return { lookup, lookups };
}

describe(OutboundLookup.name, () => {
  it('shares the lookup of a name between concurrent callers', async () => {
    const { lookup, lookups } = openLookup(
      () => Promise.resolve(FOUND),
      () => failWith('ENOTFOUND'),
    );
    expect(await Promise.all([lookup.find('a.example'), lookup.find('a.example')])).toEqual([
      FOUND,
      FOUND,
    ]);
    await lookup.find('a.example');
    expect(lookups).toEqual(['dns a.example']);
  });

  it('asks the system for names that DNS does not know, one at a time', async () => {
    const hung: ((addresses: LookupAddress[]) => void)[] = [];
    const { lookup, lookups } = openLookup(
      () => failWith('ENOTFOUND'),
      () => new Promise((resolve) => hung.push(resolve)),
    );
    const finds = ['a.example', 'b.example', 'c.example'].map((name) => lookup.find(name));
    await turn();
    expect(lookups.filter((each) => each.startsWith('system'))).toEqual(['system a.example']);
    while (hung.length > 0) {
      hung.pop()!(FOUND);
      await turn();
    }
    expect(await Promise.all(finds)).toEqual([FOUND, FOUND, FOUND]);
  });

  it('blocks no thread for a name whose nameserver hangs, and does not cache that', async () => {
    const { lookup, lookups } = openLookup(
      () => failWith('ETIMEOUT'),
      () => Promise.resolve(FOUND),
    );
    for (let count = 0; count < 2; count++) {
      await expect(lookup.find('black.hole')).rejects.toMatchObject({ code: 'EAI_AGAIN' });
    }
    expect(lookups).toEqual(['dns black.hole', 'dns black.hole']);
  });

  it('asks no nameserver about a local name', async () => {
    const { lookup, lookups } = openLookup(
      () => failWith('ENOTFOUND'),
      () => Promise.resolve(FOUND),
      ['here.example'],
    );
    expect(await lookup.find('here.example')).toEqual(FOUND);
    expect(lookups).toEqual(['system here.example']);
  });
});
