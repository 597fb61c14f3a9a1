import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** TCP_LISTEN in `/proc/net/tcp`. */
const LISTENING = '0A';

/**
 * Reads a gateway's open files from `/proc`: connections by their peer, and everything else as
 * `others`. `callerPorts` are the callers' ends of their connections; `vendorSockets` are the inodes of
 * those to vendors, because a released port can soon belong to another connection.
 */
export function readConnections({ pid, port, inspectorUrl, vendorPorts }) {
  const inspectorPort = Number(new URL(inspectorUrl).port);
  const sockets = readSockets(pid);
  const counts = { callers: 0, vendors: 0, database: 0, others: 0 };
  const ends = { callerPorts: new Set(), vendorSockets: new Set() };
  for (const name of readOpenFiles(pid)) {
    const inode = /^socket:\[(\d+)\]$/.exec(name)?.[1];
    const socket = inode === undefined ? undefined : sockets.get(inode);
    if (socket === undefined || socket.isListening) {
      counts.others++;
    } else if (socket.localPort === port) {
      counts.callers++;
      ends.callerPorts.add(socket.remotePort);
    } else if (vendorPorts.includes(socket.remotePort)) {
      counts.vendors++;
      ends.vendorSockets.add(inode);
    } else if (socket.localPort !== inspectorPort) {
      // Nothing else is called over TCP; the inspector's own session does not count.
      counts.database++;
    }
  }
  return { counts, ...ends };
}

function readOpenFiles(pid) {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).flatMap((file) => {
    try {
      return [readlinkSync(`${folder}/${file}`)];
    } catch {
      // Closed in the meantime.
      return [];
    }
  });
}

/** Returns the TCP sockets of a process's network namespace by inode. */
function readSockets(pid) {
  const sockets = new Map();
  for (const table of ['tcp', 'tcp6']) {
    for (const line of readTable(`/proc/${pid}/net/${table}`)) {
      const [, local, remote, state, , , , , , inode] = line.trim().split(/\s+/);
      sockets.set(inode, {
        localPort: portOf(local),
        remotePort: portOf(remote),
        isListening: state === LISTENING,
      });
    }
  }
  return sockets;
}

function readTable(file) {
  try {
    return readFileSync(file, 'latin1').trimEnd().split('\n').slice(1);
  } catch {
    // A kernel without IPv6 has no second table.
    return [];
  }
}

function portOf(address) {
  return Number.parseInt(address.slice(address.lastIndexOf(':') + 1), 16);
}
