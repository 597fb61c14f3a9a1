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

/** Of a name that gets a number. */
const MAX_STEM_LENGTH = MAX_LENGTH - ' 100000'.length;

const FALLBACK = 'document';

/**
 * Names for a request's documents as the vendor wants them: of letters, digits, single spaces,
 * hyphens, parentheses and square brackets, at most 200 long, and no two alike.
 */
export class DocumentNames {
  private readonly taken = new Set<string>();
  /** The next number of each name that has had one: a request may have thousands of one name. */
  private readonly counts = new Map<string, number>();

  /** @param filename the caller's own name of the file */
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

/** The vendor's word for an image's media type, where it takes such images. */
export function imageFormat(mediaType: string): string | undefined {
  return IMAGE_FORMATS.get(mediaType);
}

/** The vendor's word for a document's media type, where it takes such documents. */
export function documentFormat(mediaType: string): string | undefined {
  return DOCUMENT_FORMATS.get(mediaType);
}

/** The block that follows a part which the caller wants cached; none where the model caches nothing. */
export function cachePoint(
  cacheControl: CacheControl | undefined,
  { cachePoints, longCache }: Pick<ConverseTraits, 'cachePoints' | 'longCache'>,
): JsonObject[] {
  if (!cacheControl || cachePoints === 'none') return [];
  const isLong = cacheControl.ttl === '1h' && longCache;
  return [{ cachePoint: { type: 'default', ...(isLong && { ttl: '1h' }) } }];
}
