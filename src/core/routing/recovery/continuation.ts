const SPACE = /\s/u;
const SPACES = /\s+/uy;
/**
 * Limits the comparisons and starting positions: a repetitive text could match from any position,
 * which would take quadratic time.
 */
const MOST_COMPARED = 5_000_000;
const MOST_PLACES = 1_000_000;
const LINE_BREAK = /[\n\r\u2028\u2029]/u;

/** How far the continuation repeats the text from one starting position. */
interface Repetition {
  textAt: number;
  /** Position in the uncompared input; -1 after a mismatch. */
  inputAt: number;
}

/**
 * Joins an interrupted answer with the continuation from another route. Holds the continuation back
 * until it has repeated the tail of the text, as instructed. The repetition may start earlier, even
 * at the beginning, and may differ in white space. Rejects anything else.
 */
export class Continuation {
  private input = '';
  /** Input that has not been compared yet. */
  private fresh = '';
  private repeated = 0;
  private compared = 0;
  /** Undefined before the first character; empty when nothing matches. */
  private repetitions: Repetition[] | undefined;
  private state: 'open' | 'joined' | 'unjoined';

  /**
   * @param text the answer so far
   * @param tail its end, which occurs nowhere else in it; see `cutTail`
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

  /** True when the continuation does not match the text. */
  get isUnjoined(): boolean {
    return this.state === 'unjoined';
  }

  /** The withheld input: all of it before the join, then the repeated part. */
  get said(): string {
    return this.state === 'joined' ? this.input.slice(0, this.repeated) : this.input;
  }

  /**
   * Adds the next piece of the continuation.
   *
   * @returns the new text in it
   */
  push(piece: string): string {
    if (this.state !== 'open') return this.state === 'joined' ? piece : '';
    if (piece === '') return '';
    this.input += piece;
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
      this.repeated = this.input.length - fresh.length;
      return fresh;
    }
    this.repetitions = this.repetitions.filter(({ inputAt }) => inputAt >= 0);
    if (this.repetitions.length === 0 || this.isTooMuch()) this.state = 'unjoined';
    else this.forgetCompared(this.repetitions);
    return '';
  }

  private isTooMuch(): boolean {
    return this.compared > MOST_COMPARED || (this.repetitions?.length ?? 0) > MOST_PLACES;
  }

  private forgetCompared(repetitions: readonly Repetition[]): void {
    const compared = repetitions.reduce((least, { inputAt }) => Math.min(least, inputAt), Infinity);
    this.fresh = this.fresh.slice(compared);
    for (const repetition of repetitions) repetition.inputAt -= compared;
  }

  /**
   * Returns all possible starting positions, once there is a visible character: models omit or add
   * white space.
   */
  private begin(): Repetition[] | undefined {
    const { text, fresh, tail } = this;
    const inputAt = fresh.length - fresh.trimStart().length;
    this.compared += inputAt;
    const first = fresh[inputAt];
    if (first === undefined) return undefined;
    const found: Repetition[] = [];
    const last = text.length - (tail.trimStart().length || tail.length);
    for (
      let textAt = text.indexOf(first);
      textAt !== -1 && textAt <= last && found.length <= MOST_PLACES;
    ) {
      found.push({ textAt, inputAt });
      textAt = text.indexOf(first, textAt + 1);
    }
    return found;
  }

  /**
   * Continues the comparison.
   *
   * @returns where the repetition ends; undefined while it has not or does not
   */
  private follow(repetition: Repetition): number | undefined {
    const { text, fresh: input } = this;
    while (repetition.textAt < text.length && repetition.inputAt < input.length) {
      const { textAt, inputAt } = repetition;
      const isSpace = SPACE.test(text[textAt]!) && SPACE.test(input[inputAt]!);
      if (isSpace) {
        const written = spacesAt(text, textAt);
        const spoken = spacesAt(input, inputAt);
        this.compared += written.length + spoken.length;
        const isTextOver = textAt + written.length === text.length;
        if (isTextOver && spoken.startsWith(written)) return inputAt + written.length;
        // The input may continue.
        if (inputAt + spoken.length === input.length) return undefined;
        if (!isSameSpace(written, spoken)) break;
        repetition.textAt += written.length;
        repetition.inputAt += spoken.length;
      } else {
        this.compared++;
        if (text[textAt] !== input[inputAt]) break;
        repetition.textAt++;
        repetition.inputAt++;
      }
    }
    if (repetition.textAt === text.length) return repetition.inputAt;
    if (repetition.inputAt < input.length) repetition.inputAt = -1;
    return undefined;
  }
}

function spacesAt(text: string, at: number): string {
  SPACES.lastIndex = at;
  return SPACES.exec(text)?.[0] ?? '';
}

/** Line breaks may move, but indentation must match: the rest would not fit otherwise. */
function isSameSpace(one: string, other: string): boolean {
  if (one === other || !LINE_BREAK.test(one) || !LINE_BREAK.test(other)) return true;
  return indentOf(one) === indentOf(other);
}

function indentOf(spaces: string): string {
  return spaces.split(LINE_BREAK).at(-1)!;
}
