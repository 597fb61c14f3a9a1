import { countCodePoints } from '../../canonical/prompt-size.js';
import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import { JsonTexts } from './prompt-texts.js';
import { MAX_MATCH_LENGTH, type Scan } from './text-scanner.service.js';

/** New characters per scan; each scan repeats the last 1,000. */
const SCAN_EVERY = 250;
/** Characters before a window that decide whether a word begins in it. */
const CONTEXT = 2;

/**
 * A text that a reader sees as one piece: a choice's answer, its reasoning, or a call's arguments.
 */
interface Channel {
  readonly isJson: boolean;
  readonly pieces: string[];
  /** The end of the text, long enough for the next scan. */
  tail: string;
  /** Length so far, in UTF-16 units like all lengths here. */
  length: number;
  scannedTo: number;
  /** Start of a match that needs more text to be decided. */
  undecidedFrom: number;
  /** The choice's length when the channel's last piece arrived. */
  lastAt: number;
}

interface Choice {
  length: number;
  codePoints: number;
  readonly channels: Map<string, Channel>;
  /** Channels with unscanned text. */
  readonly unscanned: Set<Channel>;
}

interface HeldEvent {
  event: CanonicalEvent;
  choice: Choice;
  /** Undefined for events without text. */
  channel: Channel | undefined;
  /** End of the event's text in its channel. */
  end: number;
}

/** The end of a channel, plus as much scanned text as a match may extend into. */
export interface ScanWindow {
  readonly text: string;
  /** Earliest start of a match in the text; earlier text is context. */
  readonly from: number;
  /** Characters of the choice so far. */
  readonly characters: number;
  readonly channel: Channel;
  /** Position of the text in the channel. */
  readonly start: number;
}

/** Holds an answer's events back until guardrails have cleared them. */
export class OutputBuffer {
  private held: HeldEvent[] = [];
  private readonly choices = new Map<number, Choice>();
  /** The choice with the latest text; the others are unchanged. */
  private latest: Choice | undefined;
  private readonly names: string[] = [];

  add(event: CanonicalEvent): void {
    if (!('choice' in event)) return;
    const choice = this.choiceOf(event.choice);
    if (event.type === 'tool_call') this.names.push(event.name);
    if (!('text' in event)) {
      this.held.push({ event, choice, channel: undefined, end: 0 });
      return;
    }
    const key = event.type === 'tool_arguments' ? `${event.type}/${event.index}` : event.type;
    const channel = channelOf(choice, key);
    channel.pieces.push(event.text);
    channel.tail += event.text;
    channel.length += event.text.length;
    choice.length += event.text.length;
    choice.codePoints += countCodePoints(event.text);
    channel.lastAt = choice.length;
    if (event.text !== '') choice.unscanned.add(channel);
    this.latest = choice;
    this.held.push({ event, choice, channel, end: channel.length });
  }

  /**
   * Returns the windows to scan before more can be released. Scan all of them after each addition.
   */
  windowsToScan(): ScanWindow[] {
    const { latest: choice } = this;
    const windows: ScanWindow[] = [];
    for (const channel of choice?.unscanned ?? []) {
      const unscanned = channel.length - channel.scannedTo;
      const isDue = channel.length > MAX_MATCH_LENGTH && unscanned >= SCAN_EVERY;
      if (isDue || hasStopped(channel, choice!)) windows.push(windowOf(channel, choice!));
    }
    return windows;
  }

  /**
   * @param undecidedFrom position in the window's text
   */
  noteScan({ channel, start }: ScanWindow, undecidedFrom: number): void {
    this.latest?.unscanned.delete(channel);
    channel.scannedTo = channel.length;
    channel.undecidedFrom = start + undecidedFrom;
    channel.tail = channel.tail.slice(-(MAX_MATCH_LENGTH + CONTEXT));
  }

  /** Takes the events, in order, in which no match of up to 1,000 characters can begin anymore. */
  takeSafe(): CanonicalEvent[] {
    const count = this.held.findIndex((held) => !isSafe(held));
    return this.held.splice(0, count === -1 ? this.held.length : count).map(({ event }) => event);
  }

  /** Takes everything. */
  takeAll(): CanonicalEvent[] {
    const taken = this.held.map(({ event }) => event);
    this.held = [];
    return taken;
  }

  /** Returns all text from the beginning, released or not. */
  whole(): Scan {
    const texts = [...this.names];
    let characters = 0;
    for (const choice of this.choices.values()) {
      characters = Math.max(characters, choice.codePoints);
      for (const { pieces, isJson } of choice.channels.values()) {
        const text = pieces.join('');
        texts.push(text);
        if (isJson) for (const inner of new JsonTexts().of(text)) texts.push(inner);
      }
    }
    return { texts, characters };
  }

  private choiceOf(index: number): Choice {
    let choice = this.choices.get(index);
    if (!choice) {
      choice = { length: 0, codePoints: 0, channels: new Map(), unscanned: new Set() };
      this.choices.set(index, choice);
    }
    return choice;
  }
}

function channelOf(choice: Choice, key: string): Channel {
  let channel = choice.channels.get(key);
  if (!channel) {
    channel = {
      isJson: key.startsWith('tool_arguments'),
      pieces: [],
      tail: '',
      length: 0,
      scannedTo: 0,
      undecidedFrom: Infinity,
      lastAt: 0,
    };
    choice.channels.set(key, channel);
  }
  return channel;
}

function windowOf(channel: Channel, choice: Choice): ScanWindow {
  const from = Math.max(0, channel.scannedTo - MAX_MATCH_LENGTH);
  const start = Math.max(0, from - CONTEXT);
  return {
    text: channel.tail.slice(channel.tail.length - (channel.length - start)),
    from: from - start,
    characters: choice.codePoints,
    channel,
    start,
  };
}

/** Returns whether other text has arrived since, so that the channel's text does not continue. */
function hasStopped(channel: Channel, choice: Choice): boolean {
  return choice.length - channel.lastAt >= MAX_MATCH_LENGTH;
}

function isSafe({ event, choice, channel, end }: HeldEvent): boolean {
  // The end is released after everything is scanned.
  if (event.type === 'finish') return false;
  if (!channel) return true;
  if (end > channel.undecidedFrom) return false;
  if (channel.scannedTo - end >= MAX_MATCH_LENGTH) return true;
  return channel.scannedTo === channel.length && hasStopped(channel, choice);
}
