import { isIP } from 'node:net';

/** An address, or with a prefix a network. */
export interface Network {
  readonly address: string;
  readonly prefix: number;
  readonly family: 'ipv4' | 'ipv6';
}

/** Reads `10.0.0.1,192.168.0.0/16,fd00::/8`. Undefined when it is not of that form. */
export function readNetworks(text: string): readonly Network[] | undefined {
  const networks: Network[] = [];
  for (const item of text.split(',').map((each) => each.trim())) {
    if (item === '') continue;
    const [, address = '', digits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(item) ?? [];
    const version = isIP(address);
    const longest = version === 4 ? 32 : 128;
    const prefix = digits === undefined ? longest : Number(digits);
    if (version === 0 || prefix > longest) return undefined;
    networks.push({ address, prefix, family: version === 4 ? 'ipv4' : 'ipv6' });
  }
  return networks;
}
