/** Takes server-sent events apart, as they come in over the wire. */
export class SseReader {
  private readonly decoder = new TextDecoder();
  private rest = '';

  /** @returns what the events that are whole by now carry, without those that carry nothing */
  push(bytes: Uint8Array): string[] {
    this.rest += this.decoder.decode(bytes, { stream: true });
    const blocks = this.rest.split(/\r?\n\r?\n/);
    this.rest = blocks.pop() ?? '';
    return blocks.map(dataOf).filter((data) => data !== '');
  }

  /** @returns the last event, where the stream ended without a blank line */
  end(): string[] {
    const data = dataOf(this.rest + this.decoder.decode());
    this.rest = '';
    return data === '' ? [] : [data];
  }
}

function dataOf(block: string): string {
  return block
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5).replace(/^ /, ''))
    .join('\n');
}
