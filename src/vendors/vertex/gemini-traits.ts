import type { ModelTraits, ThinkingControl } from '../dialects/generate-content/model-traits.js';

/** Traits of Gemini 3 and later, unknown models. */
const NEWEST: ModelTraits = {
  thinking: { by: 'level', lowest: 'LOW' },
  wantsSignedCalls: true,
  takesCallIds: true,
  takesMediaInResults: true,
  maxCandidates: 1,
  takesSampling: false,
  takesPenalties: false,
  formatsBesideTools: true,
};

const SECOND_GENERATION: ModelTraits = {
  thinking: undefined,
  wantsSignedCalls: false,
  takesCallIds: false,
  takesMediaInResults: false,
  maxCandidates: 8,
  takesSampling: true,
  takesPenalties: true,
  formatsBesideTools: false,
};

/**
 * Returns the traits of a model by its id. Aliases without a number, such as `gemini-flash-latest`, count
 * as the newest; models with other names (`gemma-…`) as the oldest.
 */
export function geminiTraits(model: string): ModelTraits {
  const name = model.toLowerCase();
  const version = /^gemini-(\d+)(?:\.(\d+))?(?=-|$)/.exec(name);
  if (!version) return name.startsWith('gemini-') ? NEWEST : SECOND_GENERATION;
  const [major, minor] = [Number(version[1]), Number(version[2] ?? 0)];
  if (major < 3) return { ...SECOND_GENERATION, thinking: budgetOf(name, major, minor) };
  const isThird = major === 3;
  return {
    ...NEWEST,
    thinking: levelOf(name, major, minor),
    takesSampling: isThird && minor < (isLite(name) ? 5 : 6),
    takesPenalties: isThird,
  };
}

function budgetOf(name: string, major: number, minor: number): ThinkingControl | undefined {
  if (major < 2 || minor < 5) return undefined;
  if (name.includes('-pro')) return { by: 'budget', min: 128, max: 32_768, canBeOff: false };
  const min = isLite(name) ? 512 : 1;
  return { by: 'budget', min, max: 24_576, canBeOff: true };
}

/** Only Flash models up to 3.6 and Flash-Lite models support the lowest level. */
function levelOf(name: string, major: number, minor: number): ThinkingControl {
  const isEarlyFlash = name.includes('-flash') && minor < 7;
  const knowsMinimal = major === 3 && (isLite(name) || isEarlyFlash);
  return { by: 'level', lowest: knowsMinimal ? 'MINIMAL' : 'LOW' };
}

function isLite(name: string): boolean {
  return name.includes('-flash-lite');
}
