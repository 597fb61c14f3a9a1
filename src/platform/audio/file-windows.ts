import { open, type FileHandle } from 'node:fs/promises';

/** Others have their turn between two windows, so one holds no more than takes some milliseconds to look at. */
const WINDOW_BYTES = 16 * 1024;

/** A file that is looked at from its beginning to its end, a few bytes here and there. */
export class FileWindows {
  private window: Buffer = Buffer.alloc(0);
  private start = 0;

  private constructor(
    private readonly file: FileHandle,
    readonly size: number,
  ) {}

  /** Opens a file for as long as it is read. */
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

  /** So many bytes from there on, up to 16 KB; fewer where the file ends. Good until the next call. */
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
