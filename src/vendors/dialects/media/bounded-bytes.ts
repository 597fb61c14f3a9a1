import { unreadable } from '../../unreadable.js';

/**
 * A download as it comes, up to a size. Leaving it closes the connection, also before the first read,
 * where a generator would never hear of it.
 */
export class BoundedBytes implements AsyncIterable<Buffer>, AsyncIterator<Buffer> {
  private readonly source: AsyncIterator<Buffer>;
  private length = 0;

  /** @param describe what becomes of an error of the source */
  constructor(
    source: AsyncIterable<Buffer>,
    private readonly maxBytes: number,
    private readonly describe: (error: unknown) => unknown = (error) => error,
  ) {
    this.source = source[Symbol.asyncIterator]();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** @throws UpstreamError `unreadable` beyond the limit, and where nothing comes at all */
  async next(): Promise<IteratorResult<Buffer>> {
    const result = await this.read();
    if (result.done === true) {
      if (this.length === 0) throw unreadable('an empty file');
      return result;
    }
    this.length += result.value.length;
    if (this.length > this.maxBytes) {
      await this.return();
      throw unreadable(`a file of more than ${this.maxBytes} bytes`);
    }
    return result;
  }

  async return(): Promise<IteratorResult<Buffer>> {
    await this.source.return?.();
    return { done: true, value: undefined };
  }

  private async read(): Promise<IteratorResult<Buffer>> {
    try {
      return await this.source.next();
    } catch (error) {
      throw this.describe(error);
    }
  }
}
