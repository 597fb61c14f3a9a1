/** A caller of the gateway's JSON API who takes no error for an answer. */
export function apiOf(url, key) {
  const send = (method, path, body, headers = {}) =>
    fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  const ask = async (method, path, body, headers) => {
    const response = await send(method, path, body, headers);
    const text = await response.text();
    if (!response.ok)
      throw new Error(`${method} ${path} was answered with ${response.status}: ${text}`);
    return response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text;
  };
  return {
    /** The answer, whatever it is. */
    send,
    get: (path) => ask('GET', path),
    post: (path, body, headers) => ask('POST', path, body, headers),
    put: (path, body) => ask('PUT', path, body),
    patch: (path, body) => ask('PATCH', path, body),
    delete: (path) => ask('DELETE', path),
    as: (other) => apiOf(url, other),
  };
}
