export const MODULES_BOUND_MB: number;
export function isNeverLoaded(path: string): boolean;
export function prune(folder: string): number;
export function measure(root?: string): { name: string; bytes: number }[];
