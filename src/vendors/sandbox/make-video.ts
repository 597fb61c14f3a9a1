/** A yellow square on blue, 320 by 180 pixels, in H.264. */
const SEQUENCE = Buffer.from('Z0LAC9wUGfnwEQAAAwABAAADAAIPFCuA', 'base64');
const PICTURE = Buffer.from('aM4JLIA=', 'base64');
const FRAMES: readonly Buffer[] = [
  Buffer.from(
    'ZYiEPxGKAAIT8cAAQBo4ABeI7ycnJycnJycnJycnJycnJycnJzd6666666666666666666666666///hBdgcAgCh' +
      'yDhAJCFCJmXA4BDiLnA4ghbh1LhUtbW1tbX/8PsFsHAEARTwgJClCEyLA4AhxNzwOQQlzXXXXXXXXXXXXTzPelpa' +
      'Wlpaeuuuuuuuuuuuunp666666euuuuuuuuuuuunp666666euuuuuuuuuuuunp666666euuuuuuuuuuuunp666666' +
      'euuuuuuuuuuuv+H/BgqhE2gKvgBMmg1IYp/V7gBVsozIqrwtXSr/9bbW1tbW1w/4fYKoQmkBC8AJGkGhDlN6vfgB' +
      'X5ZkR1XvXXXXXXXXXXXXS2tra2tra311111111111111111111111111111111111111111111114A==',
    'base64',
  ),
  Buffer.from(
    'ZYiCD8RigACE/HAAEAaOAAXiO8nJycnJycnJycnJycnJycnJyc3euuuuuuuuuuuuuuuuuuuuuuuuv//4QXYHAIAo' +
      'cg4QCQhQiZlwOAQ4i5wOIIW4dS4VLW1tbW1//D7BbBwBAEU8ICQpQhMiwOAIcTc8DkEJc11111111111108z3paW' +
      'lpaWnrrrrrrrrrrrrp6euuuuunrrrrrrrrrrrrp6euuuuunrrrrrrrrrrrrp6euuuuunrrrrrrrrrrrrp6euuuuu' +
      'nrrrrrrrrrrrr/h/wYKoRNoCr4ATJoNSGKf1e4AVbKMyKq8LV0q//W21tbW1tcP+H2CqEJpAQvACRpBoQ5Ter34A' +
      'V+WZEdV71111111111110tra2tra2t9dddddddddddddddddddddddddddddddddddddddddddddeA==',
    'base64',
  ),
];
const WIDTH = 320;
const HEIGHT = 180;
/** Time scale of the video; a frame lasts one second. */
const TICKS_PER_SECOND = 1_000;
const LENGTH_BYTES = 4;

export interface VideoOptions {
  /** Duration; one frame per second. */
  seconds: number;
  /** Display size in pixels, independent of the frames' size. */
  width: number;
  height: number;
  title: string;
}

/** Creates a silent MP4 video that any browser plays: the same picture for the whole duration. */
export function makeVideo({ seconds, width, height, title }: VideoOptions): Buffer {
  // Alternates two frames, because a decoder takes identical ones for a retransmission.
  const samples = Array.from({ length: seconds }, (_, index) => {
    const frame = FRAMES[index % FRAMES.length]!;
    return Buffer.concat([uint32(frame.length), frame]);
  });
  const type = box('ftyp', text('isom'), uint32(512), text('isomiso2avc1mp41'));
  const describe = (offset: number): Buffer =>
    box(
      'moov',
      movieHeader(seconds),
      track(seconds, width, height, samples, offset),
      titleOf(title),
    );
  // The offset of the frames does not affect the length of the boxes before them.
  const offset = type.length + describe(0).length + 8;
  return Buffer.concat([type, describe(offset), box('mdat', ...samples)]);
}

function movieHeader(seconds: number): Buffer {
  return fullBox(
    'mvhd',
    0,
    Buffer.alloc(8),
    uint32(TICKS_PER_SECOND),
    uint32(seconds * TICKS_PER_SECOND),
    uint32(0x00010000),
    uint16(0x0100),
    Buffer.alloc(10),
    MATRIX,
    Buffer.alloc(24),
    uint32(2),
  );
}

function track(
  seconds: number,
  width: number,
  height: number,
  samples: readonly Buffer[],
  offset: number,
): Buffer {
  const ticks = uint32(seconds * TICKS_PER_SECOND);
  const header = fullBox(
    'tkhd',
    3,
    Buffer.alloc(8),
    uint32(1),
    Buffer.alloc(4),
    ticks,
    Buffer.alloc(16),
    MATRIX,
    uint32(width * 65_536),
    uint32(height * 65_536),
  );
  const mediaHeader = fullBox(
    'mdhd',
    0,
    Buffer.alloc(8),
    uint32(TICKS_PER_SECOND),
    ticks,
    // Undetermined language.
    uint16(0x55c4),
    uint16(0),
  );
  const table = box(
    'stbl',
    fullBox('stsd', 0, uint32(1), sampleEntry()),
    fullBox('stts', 0, uint32(1), uint32(seconds), uint32(TICKS_PER_SECOND)),
    fullBox('stsc', 0, uint32(1), uint32(1), uint32(seconds), uint32(1)),
    fullBox('stsz', 0, uint32(0), uint32(seconds), ...samples.map(({ length }) => uint32(length))),
    fullBox('stco', 0, uint32(1), uint32(offset)),
  );
  const place = box('dinf', fullBox('dref', 0, uint32(1), fullBox('url ', 1)));
  const information = box('minf', fullBox('vmhd', 1, Buffer.alloc(8)), place, table);
  const handler = fullBox('hdlr', 0, uint32(0), text('vide'), Buffer.alloc(12), text('Sandbox\0'));
  return box('trak', header, box('mdia', mediaHeader, handler, information));
}

function sampleEntry(): Buffer {
  const sets = Buffer.concat([
    Buffer.from([0xe1]),
    uint16(SEQUENCE.length),
    SEQUENCE,
    Buffer.from([1]),
    uint16(PICTURE.length),
    PICTURE,
  ]);
  // Version, profile, compatibility and level as in the sequence; lengths are four bytes.
  const profile = [1, ...SEQUENCE.subarray(1, 4), 0xfc | (LENGTH_BYTES - 1)];
  return box(
    'avc1',
    Buffer.alloc(6),
    uint16(1),
    Buffer.alloc(16),
    uint16(WIDTH),
    uint16(HEIGHT),
    uint32(0x00480000),
    uint32(0x00480000),
    uint32(0),
    uint16(1),
    Buffer.alloc(32),
    uint16(24),
    uint16(0xffff),
    box('avcC', Buffer.from(profile), sets),
  );
}

/** The box in which players look for a title. */
function titleOf(title: string): Buffer {
  const data = box('data', uint32(1), uint32(0), Buffer.from(title));
  const handler = fullBox('hdlr', 0, uint32(0), text('mdirappl'), Buffer.alloc(9));
  return box('udta', fullBox('meta', 0, handler, box('ilst', box('\xa9nam', data))));
}

const MATRIX = Buffer.concat(
  [0x00010000, 0, 0, 0, 0x00010000, 0, 0, 0, 0x40000000].map((value) => uint32(value)),
);

function box(type: string, ...content: readonly Buffer[]): Buffer {
  const length = content.reduce((sum, part) => sum + part.length, 8);
  return Buffer.concat([uint32(length), text(type), ...content]);
}

function fullBox(type: string, flags: number, ...content: readonly Buffer[]): Buffer {
  return box(type, uint32(flags), ...content);
}

function text(value: string): Buffer {
  return Buffer.from(value, 'latin1');
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}
