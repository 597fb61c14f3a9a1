/** A stretch of text, in UTF-16 units; `end` is exclusive. */
export interface Span {
  start: number;
  end: number;
}

/** Looks for one kind of thing in a text, quickly whatever the text is. */
export interface Finder {
  /** The first match that starts at `from` or later; what stands before it still counts as context. */
  find(text: string, from: number): Span | undefined;
}

/** Tells real matches of a coarse pattern; returns the part that counts. */
export type Refine = (match: string, text: string, start: number) => Span | undefined;

/** Finds a pattern of our own. Never for a tenant's: the engine behind it can be made to hang. */
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
