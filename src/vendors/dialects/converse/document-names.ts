const MAX_LENGTH = 200;
const FALLBACK = 'document';

/**
 * Names for a request's documents as the vendor wants them: of letters, digits, single spaces,
 * hyphens, parentheses and square brackets, at most 200 long, and no two alike.
 */
export class DocumentNames {
  private readonly taken = new Set<string>();

  /** @param filename the caller's own name of the file */
  next(filename: string | undefined): string {
    const base = clean(filename) || FALLBACK;
    let name = base;
    for (let count = 2; this.taken.has(name); count++) {
      const suffix = ` ${count}`;
      name = base.slice(0, MAX_LENGTH - suffix.length).trimEnd() + suffix;
    }
    this.taken.add(name);
    return name;
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
