import type { CacheControl } from '../../../canonical/canonical-request.js';
import type { JsonObject } from '../../../platform/http/json-body.js';
import type { ConverseTraits } from './converse-traits.js';

const IMAGE_FORMATS: ReadonlyMap<string, string> = new Map([
  ['image/png', 'png'],
  ['image/jpeg', 'jpeg'],
  ['image/jpg', 'jpeg'],
  ['image/gif', 'gif'],
  ['image/webp', 'webp'],
]);

const DOCUMENT_FORMATS: ReadonlyMap<string, string> = new Map([
  ['application/pdf', 'pdf'],
  ['text/csv', 'csv'],
  ['text/html', 'html'],
  ['text/markdown', 'md'],
  ['text/plain', 'txt'],
  ['application/msword', 'doc'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx'],
  ['application/vnd.ms-excel', 'xls'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
]);

const MAX_LENGTH = 200;

/** Longest name that gets a number. */
const MAX_STEM_LENGTH = MAX_LENGTH - ' 100000'.length;

const FALLBACK = 'document';

/**
 * Creates names for a request's documents that the vendor accepts: letters, digits, single spaces,
 * hyphens, parentheses and square brackets, at most 200 characters, all distinct.
 */
export class DocumentNames {
  private readonly taken = new Set<string>();
  /** The next number of each repeated name, because a request may have thousands with one name. */
  private readonly counts = new Map<string, number>();

  /** @param filename the caller's own file name */
  next(filename: string | undefined): string {
    const base = clean(filename) || FALLBACK;
    const name = this.taken.has(base) ? this.numbered(base) : base;
    this.taken.add(name);
    return name;
  }

  private numbered(base: string): string {
    const stem = base.slice(0, MAX_STEM_LENGTH).trimEnd();
    for (let count = this.counts.get(stem) ?? 2; ; count++) {
      const name = `${stem} ${count}`;
      if (this.taken.has(name)) continue;
      this.counts.set(stem, count + 1);
      return name;
    }
  }
}

function clean(filename = ''): string {
  return filename
    .slice(0, 1_000)
    .replace(/\.[A-Za-z0-9]{1,5}$/, '')
    .replace(/[^A-Za-z0-9()[\]-]+/g, ' ')
    .trim()
    .slice(0, MAX_LENGTH)
    .trimEnd();
}

/** Returns the vendor's name for an image type; undefined when unsupported. */
export function imageFormat(mediaType: string): string | undefined {
  return IMAGE_FORMATS.get(mediaType);
}

/** Returns the vendor's name for a document type; undefined when unsupported. */
export function documentFormat(mediaType: string): string | undefined {
  return DOCUMENT_FORMATS.get(mediaType);
}

/** Returns the cache point block after a part to cache; none if the model does not support caching. */
export function cachePoint(
  cacheControl: CacheControl | undefined,
  { cachePoints, longCache }: Pick<ConverseTraits, 'cachePoints' | 'longCache'>,
): JsonObject[] {
  if (!cacheControl || cachePoints === 'none') return [];
  const isLong = cacheControl.ttl === '1h' && longCache;
  return [{ cachePoint: { type: 'default', ...(isLong && { ttl: '1h' }) } }];
}
