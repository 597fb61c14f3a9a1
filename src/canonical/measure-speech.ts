import { countCodePoints } from './count-code-points.js';
import { estimateTokens } from './estimate-tokens.js';
import { PromptMeter } from './prompt-size.js';
import { boundSpeechLength, estimateSpeechLength } from './speech-length.js';
import { NO_USAGE, type Usage } from './usage.js';

/**
 * What speaking a text uses: at most, and where no vendor says.
 *
 * @param speed 1 is the ordinary pace
 */
export function measureSpeech(
  input: string,
  instructions: string,
  speed: number,
): { ceiling: Usage; estimate: Usage } {
  const meter = new PromptMeter();
  meter.addText(input);
  meter.addText(instructions);
  const inputCharacters = countCodePoints(input);
  const known = { ...NO_USAGE, inputCharacters, inputBytes: Buffer.byteLength(input) };
  return {
    ceiling: {
      ...known,
      inputTokens: meter.size().tokens,
      audioMs: boundSpeechLength(input, speed),
    },
    estimate: {
      ...known,
      inputTokens: estimateTokens(inputCharacters + countCodePoints(instructions)),
      audioMs: estimateSpeechLength(input, speed),
    },
  };
}
