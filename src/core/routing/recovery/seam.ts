/**
 * Joins the text of an answer that broke off with that of the route that goes on with it. What the
 * latter says is kept back until it has said again how the text so far ends, as it was told to; it may
 * begin earlier, even from the very beginning. Nothing else is believed to go on with the text.
 */
export class Seam {
  private heard = '';
  private repeated = 0;
  /** Places in the text so far from which what was said may be a repetition; undefined before any was. */
  private places: number[] | undefined;
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
    this.heard += piece;
    // Models leave white space at the beginning out, or add some.
    const visible = this.heard.trimStart();
    if (visible === '') return '';
    this.places = this.placesFor(visible);
    const whole = this.places.find((place) => visible.length >= this.text.length - place);
    if (whole === undefined) {
      if (this.places.length === 0) this.state = 'unjoined';
      return '';
    }
    this.state = 'joined';
    const fresh = visible.slice(this.text.length - whole);
    this.repeated = this.heard.length - fresh.length;
    return fresh;
  }

  private placesFor(visible: string): number[] {
    const { text, places } = this;
    if (places) return places.filter((place) => this.isRepeated(visible, place));
    const found: number[] = [];
    const last = text.length - (this.tail.trimStart().length || this.tail.length);
    for (let place = text.indexOf(visible[0]!); place !== -1 && place <= last;) {
      if (this.isRepeated(visible, place)) found.push(place);
      place = text.indexOf(visible[0]!, place + 1);
    }
    return found;
  }

  /** Whether what was said is the text from there on, as far as both go. */
  private isRepeated(visible: string, place: number): boolean {
    const length = this.text.length - place;
    return visible.length <= length
      ? this.text.startsWith(visible, place)
      : visible.startsWith(this.text.slice(place));
  }
}
