/** A client of the gateway's JSON API that throws for error statuses. */
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
    if (!response.ok) throw new Error(`${method} ${path} returned ${response.status}: ${text}`);
    return response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text;
  };
  return {
    /** Sends a request and returns the response whatever its status. */
    send,
    get: (path) => ask('GET', path),
    post: (path, body, headers) => ask('POST', path, body, headers),
    put: (path, body) => ask('PUT', path, body),
    patch: (path, body) => ask('PATCH', path, body),
    delete: (path) => ask('DELETE', path),
    as: (other) => apiOf(url, other),
  };
}
