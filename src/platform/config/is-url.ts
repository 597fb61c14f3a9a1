/** Whether a text is a whole URL with one of the schemes, which are given without their colon. */
export function isUrl(text: string, schemes: readonly string[]): boolean {
  const scheme = /^([a-z]+):\/\//i.exec(text)?.[1]?.toLowerCase();
  return scheme !== undefined && schemes.includes(scheme) && URL.canParse(text);
}

export function withoutTrailingSlash(url: string): string {
  return url.replace(/\/+$/, '');
}
