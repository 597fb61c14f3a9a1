import { useEffect, useMemo } from 'react';
import { isSurface, type CallSettings, type Surface } from '../../calls/conversation';
import { isObject, parseJson } from '../../calls/json';
import { useFilters } from '../../shell/use-filters';
import type { PlaygroundSettings } from './playground-store';

export const MAX_MODELS = 4;

const NAMES = [
  'surface',
  'models',
  'temperature',
  'top_p',
  'max_tokens',
  'seed',
  'stop',
  'effort',
  'tool_choice',
  'stream',
] as const;
type Name = (typeof NAMES)[number];
export type SettingsChange = Partial<Record<Name | 'replay', string>>;

/**
 * Holds the playground's options in the URL, and in the tab's storage for a return through the menu.
 *
 * @param storageKey key in the tab's storage
 * @param fallback model used if none is selected
 */
export function useSettings(
  storageKey: string,
  fallback: string,
): [PlaygroundSettings, (changes: SettingsChange) => void, { replay: string | undefined }] {
  const [filters, setFilters] = useFilters([...NAMES, 'model', 'replay']);
  const { replay, model, ...set } = filters;
  const isSet = Object.keys(filters).length > 0;
  const key = JSON.stringify(set);
  useEffect(() => {
    if (model !== undefined) setFilters({ model: '', models: model });
    else if (!isSet) setFilters(storedSettings(storageKey));
    else sessionStorage.setItem(storageKey, key);
  }, [model, isSet, key, storageKey, setFilters]);

  const settings = useMemo(() => {
    const { replay: _, model: only, ...set } = filters;
    return toSettings(set, only ?? fallback);
  }, [filters, fallback]);
  return [settings, setFilters, { replay }];
}

function toSettings(set: SettingsChange, fallback: string): PlaygroundSettings {
  const models = (set.models ?? fallback).split(',').slice(0, MAX_MODELS);
  return { surface: surfaceOf(set.surface), models, settings: callSettings(set) };
}

function callSettings(set: SettingsChange): CallSettings {
  const { temperature = '', top_p = '', max_tokens = '', seed = '' } = set;
  const { stop = '', effort = '', tool_choice = '', stream } = set;
  const texts = { temperature, top_p, max_tokens, seed, stop, effort, tool_choice };
  return { ...texts, stream: stream !== 'false' };
}

function surfaceOf(text: string | undefined): Surface {
  return isSurface(text) ? text : 'chat';
}

function storedSettings(storageKey: string): SettingsChange {
  const stored = parseJson(sessionStorage.getItem(storageKey) ?? 'null');
  if (!isObject(stored)) return {};
  return Object.fromEntries(
    NAMES.flatMap((name) => (typeof stored[name] === 'string' ? [[name, stored[name]]] : [])),
  );
}
