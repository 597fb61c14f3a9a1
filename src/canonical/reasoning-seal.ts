/**
 * Vendors seal what their models think (a signature, or the encrypted thought itself) and want the
 * seal back in the next turn, unchanged. Inside the gateway a seal names who made it, as
 * `<maker>:<seal>`, so that one is never shown to another vendor, which would refuse it. Callers
 * keep seals as opaque strings.
 */
export function nameSeal(maker: string, seal: string): string {
  return `${maker}:${seal}`;
}

/** The seal as its maker wrote it; undefined when another one made it, or there is none. */
export function sealOf(maker: string, named: string | undefined): string | undefined {
  return named?.startsWith(`${maker}:`) ? named.slice(maker.length + 1) : undefined;
}
