/** Parses server-sent events from a byte stream. */
export class SseReader {
  private readonly decoder = new TextDecoder();
  private buffer = '';

  /** Returns the data of all complete events, without empty ones. */
  push(bytes: Uint8Array): string[] {
    this.buffer += this.decoder.decode(bytes, { stream: true });
    const blocks = this.buffer.split(/\r?\n\r?\n/);
    this.buffer = blocks.pop() ?? '';
    return blocks.map(dataOf).filter((data) => data !== '');
  }

  /** Returns the last event if the stream ended without a blank line. */
  end(): string[] {
    const data = dataOf(this.buffer + this.decoder.decode());
    this.buffer = '';
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
