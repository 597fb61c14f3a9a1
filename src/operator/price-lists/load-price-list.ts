import { open } from 'node:fs/promises';
import { codeOf, messageOf } from '../../platform/errors/thrown.js';
import { PriceListError, type PriceList } from './price-list.js';
import { readPriceList } from './read-price-list.js';

/** Public lists have 1 to 3 MB. */
const MAX_BYTES = 16 * 1024 * 1024;
const TIMEOUT_MS = 30_000;

/**
 * Loads a price list from a file or an http(s) URL.
 * @param timeoutMs total time for a URL
 * @throws PriceListError whose message starts with the source
 */
export async function loadPriceList(
  place: string,
  {
    today = new Date().toISOString().slice(0, 10),
    timeoutMs = TIMEOUT_MS,
    maxBytes = MAX_BYTES,
  } = {},
): Promise<PriceList> {
  try {
    const bytes = isUrl(place)
      ? await fetchBytes(place, timeoutMs, maxBytes)
      : await fileBytes(place, maxBytes);
    return readPriceList(bytes, today);
  } catch (error) {
    if (!(error instanceof PriceListError)) throw error;
    throw new PriceListError(`${place}: ${error.message}`, { cause: error });
  }
}

/** Returns whether the source is a URL. */
function isUrl(place: string): boolean {
  return /^https?:\/\//i.test(place);
}

async function fileBytes(path: string, maxBytes: number): Promise<Buffer> {
  try {
    const file = await open(path);
    try {
      return await collect(file.createReadStream({ autoClose: false }), maxBytes);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof PriceListError) throw error;
    const message = `the file cannot be read (${codeOf(error) ?? messageOf(error)})`;
    throw new PriceListError(message, { cause: error });
  }
}

async function fetchBytes(url: string, timeoutMs: number, maxBytes: number): Promise<Buffer> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, { redirect: 'manual', signal });
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel();
      const target = response.headers.get('location')?.slice(0, 500);
      throw new PriceListError(`it redirects to ${target ?? 'nowhere'}; name that address instead`);
    }
    if (!response.ok || !response.body) {
      await response.body?.cancel();
      throw new PriceListError(`the server responded with status ${response.status}`);
    }
    return await collect(response.body, maxBytes);
  } catch (error) {
    if (error instanceof PriceListError) throw error;
    if (signal.aborted) {
      throw new PriceListError(`it did not arrive within ${timeoutMs / 1_000} s`, { cause: error });
    }
    const { cause } = error instanceof Error ? error : {};
    const message = `it cannot be fetched (${codeOf(cause) ?? messageOf(cause ?? error)})`;
    throw new PriceListError(message, { cause: error });
  }
}

/** Leaving the loop destroys the stream. */
async function collect(stream: AsyncIterable<unknown>, maxBytes: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of stream) {
    if (!(piece instanceof Uint8Array)) continue;
    size += piece.length;
    if (size > maxBytes) {
      throw new PriceListError(`it is larger than ${maxBytes / 1024 / 1024} MB`);
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
