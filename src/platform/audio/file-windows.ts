import { open, type FileHandle } from 'node:fs/promises';

/** Other work runs between two reads, so one window takes at most some milliseconds to parse. */
const WINDOW_BYTES = 16 * 1024;

/** Reads parts of a file from its beginning to its end, a window at a time. */
export class FileWindows {
  private window: Buffer = Buffer.alloc(0);
  private start = 0;

  private constructor(
    private readonly file: FileHandle,
    readonly size: number,
  ) {}

  /** Opens a file while `read` runs. */
  static async read<Result>(
    path: string,
    read: (file: FileWindows) => Promise<Result>,
  ): Promise<Result> {
    const file = await open(path, 'r');
    try {
      const { size } = await file.stat();
      return await read(new FileWindows(file, size));
    } finally {
      await file.close();
    }
  }

  /** Returns up to 16 KB at a position; fewer at the file's end. Valid until the next call. */
  async at(position: number, length: number): Promise<Buffer> {
    const isThere = position >= this.start && position + length <= this.end;
    if (!isThere) {
      const window = Buffer.allocUnsafe(WINDOW_BYTES);
      const { bytesRead } = await this.file.read(window, 0, WINDOW_BYTES, position);
      this.window = window.subarray(0, bytesRead);
      this.start = position;
    }
    const offset = position - this.start;
    return this.window.subarray(offset, offset + length);
  }

  private get end(): number {
    return this.start + this.window.length;
  }
}
