const SPACE = /\s/u;
const SPACES = /\s+/uy;
/**
 * Characters that are compared, and places from which what is said may go on: a text that repeats itself
 * could be said again from any place in it, which would take the square of its length. Beyond, it is given up.
 */
const MOST_COMPARED = 5_000_000;
const MOST_PLACES = 1_000_000;
const LINE_BREAK = /[\n\r\u2028\u2029]/u;

/** How far what was said has been found to repeat the text, from one place in it. */
interface Repetition {
  textAt: number;
  /** In what has not been compared yet; -1 where they differ. */
  heardAt: number;
}

/**
 * Joins the text of an answer that broke off with that of the route that goes on with it. What the
 * latter says is kept back until it has said again how the text so far ends, as it was told to; it may
 * begin earlier, even from the very beginning, and its white space may be another. Nothing else is
 * believed to go on with the text.
 */
export class Continuation {
  private heard = '';
  /** The end of it, which has not been compared yet. */
  private fresh = '';
  private repeated = 0;
  private compared = 0;
  /** Undefined before any character was said; none left: it was something else. */
  private repetitions: Repetition[] | undefined;
  private state: 'open' | 'joined' | 'unjoined';

  /**
   * @param text so far
   * @param tail how it ends, which stands nowhere else in it; see `cutTail`
   */
  constructor(
    private readonly text: string,
    private readonly tail: string,
  ) {
    this.state = text === '' ? 'joined' : 'open';
  }

  get isJoined(): boolean {
    return this.state === 'joined';
  }

  /** What was said does not go on with the text. */
  get isUnjoined(): boolean {
    return this.state === 'unjoined';
  }

  /** What was kept back: all of it while the seam is open, then what was said again. */
  get said(): string {
    return this.state === 'joined' ? this.heard.slice(0, this.repeated) : this.heard;
  }

  /** Takes the next piece of what the route says. @returns what of it is new */
  push(piece: string): string {
    if (this.state !== 'open') return this.state === 'joined' ? piece : '';
    if (piece === '') return '';
    this.heard += piece;
    this.fresh += piece;
    this.repetitions ??= this.begin();
    if (this.isTooMuch()) this.state = 'unjoined';
    if (!this.repetitions || this.state !== 'open') return '';
    for (const repetition of this.repetitions) {
      const end = this.follow(repetition);
      if (end === undefined && this.isTooMuch()) break;
      if (end === undefined) continue;
      this.state = 'joined';
      const fresh = this.fresh.slice(end);
      this.repeated = this.heard.length - fresh.length;
      return fresh;
    }
    this.repetitions = this.repetitions.filter(({ heardAt }) => heardAt >= 0);
    if (this.repetitions.length === 0 || this.isTooMuch()) this.state = 'unjoined';
    else this.forgetCompared(this.repetitions);
    return '';
  }

  private isTooMuch(): boolean {
    return this.compared > MOST_COMPARED || (this.repetitions?.length ?? 0) > MOST_PLACES;
  }

  private forgetCompared(repetitions: readonly Repetition[]): void {
    const compared = repetitions.reduce((least, { heardAt }) => Math.min(least, heardAt), Infinity);
    this.fresh = this.fresh.slice(compared);
    for (const repetition of repetitions) repetition.heardAt -= compared;
  }

  /** All places from which it may be, once a character was said: models leave white space out, or add some. */
  private begin(): Repetition[] | undefined {
    const { text, fresh, tail } = this;
    const heardAt = fresh.length - fresh.trimStart().length;
    this.compared += heardAt;
    const first = fresh[heardAt];
    if (first === undefined) return undefined;
    const found: Repetition[] = [];
    const last = text.length - (tail.trimStart().length || tail.length);
    for (
      let textAt = text.indexOf(first);
      textAt !== -1 && textAt <= last && found.length <= MOST_PLACES;
    ) {
      found.push({ textAt, heardAt });
      textAt = text.indexOf(first, textAt + 1);
    }
    return found;
  }

  /** Goes on comparing. @returns where in what was said the text is over; undefined: not yet, or never */
  private follow(repetition: Repetition): number | undefined {
    const { text, fresh: heard } = this;
    while (repetition.textAt < text.length && repetition.heardAt < heard.length) {
      const { textAt, heardAt } = repetition;
      const isSpace = SPACE.test(text[textAt]!) && SPACE.test(heard[heardAt]!);
      if (isSpace) {
        const written = spacesAt(text, textAt);
        const spoken = spacesAt(heard, heardAt);
        this.compared += written.length + spoken.length;
        const isTextOver = textAt + written.length === text.length;
        if (isTextOver && spoken.startsWith(written)) return heardAt + written.length;
        // There may be more of it.
        if (heardAt + spoken.length === heard.length) return undefined;
        if (!isSameSpace(written, spoken)) break;
        repetition.textAt += written.length;
        repetition.heardAt += spoken.length;
      } else {
        this.compared++;
        if (text[textAt] !== heard[heardAt]) break;
        repetition.textAt++;
        repetition.heardAt++;
      }
    }
    if (repetition.textAt === text.length) return repetition.heardAt;
    if (repetition.heardAt < heard.length) repetition.heardAt = -1;
    return undefined;
  }
}

function spacesAt(text: string, at: number): string {
  SPACES.lastIndex = at;
  return SPACES.exec(text)?.[0] ?? '';
}

/** A line may be broken elsewhere, but not indented otherwise: what follows would not fit. */
function isSameSpace(one: string, other: string): boolean {
  if (one === other || !LINE_BREAK.test(one) || !LINE_BREAK.test(other)) return true;
  return indentOf(one) === indentOf(other);
}

function indentOf(spaces: string): string {
  return spaces.split(LINE_BREAK).at(-1)!;
}
