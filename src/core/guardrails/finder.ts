/** A range of text in UTF-16 units; `end` is exclusive. */
export interface Span {
  start: number;
  end: number;
}

/** Finds one kind of content in linear time. */
export interface Finder {
  /** Returns the first match that starts at or after `from`; earlier text is context. */
  find(text: string, from: number): Span | undefined;
}

/** Confirms a match of a coarse pattern and returns the range that counts. */
export type Refine = (match: string, text: string, start: number) => Span | undefined;

/**
 * Finds a built-in pattern. Never use it for tenants' patterns: they could make the engine hang.
 */
export class PatternFinder implements Finder {
  private readonly pattern: RegExp;

  constructor(
    pattern: RegExp,
    private readonly refine: Refine = (match, _text, start) => ({
      start,
      end: start + match.length,
    }),
  ) {
    this.pattern = new RegExp(pattern.source, `${pattern.flags.replace('g', '')}g`);
  }

  find(text: string, from: number): Span | undefined {
    const { pattern } = this;
    pattern.lastIndex = from;
    for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
      const span = this.refine(match[0], text, match.index);
      if (span) return span;
    }
    return undefined;
  }
}
