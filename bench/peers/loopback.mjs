/**
 * Preloaded into servers that would listen on every address: makes them listen on loopback, print the
 * URL, and exit with the process that started them.
 */
import net from 'node:net';

const { listen } = net.Server.prototype;
net.Server.prototype.listen = function (port, ...rest) {
  this.once('listening', () => console.log(`listens on http://127.0.0.1:${this.address().port}`));
  const callback = rest.find((one) => typeof one === 'function');
  return listen.call(this, { port, host: '127.0.0.1', backlog: 2048 }, callback);
};
process.stdin.resume().once('close', () => process.exit(0));
