#!/bin/sh
# Creates the secrets that compose.yml mounts, in docker/secrets, keeping those that exist. The files are readable by
# their owner only: account 1000, which reads them in the containers.
set -eu
umask 077
cd "$(dirname "$0")"
mkdir -p secrets/vendors
chmod 0700 secrets secrets/vendors

random() {
  od -An -N"$1" -tx1 /dev/urandom | tr -d ' \n'
}

keep() {
  [ -s "secrets/$1" ] || printf '%s\n' "$2" >"secrets/$1"
}

keep GATEWAY_SECRET "$(random 32)"
keep POSTGRES_PASSWORD "$(random 16)"
keep S3_SECRET_ACCESS_KEY "$(random 16)"
keep DATABASE_URL "postgres://gateway:$(cat secrets/POSTGRES_PASSWORD)@postgres:5432/gateway"
find secrets -type f -exec chmod 0600 {} +
echo "docker/secrets: $(ls secrets | tr '\n' ' ')"

if [ "$(id -u)" = 0 ]; then
  chown -R 1000:1000 secrets
# Docker Desktop shares files with any account in a container.
elif [ "$(id -u)" != 1000 ] && [ "$(uname -s)" = Linux ]; then
  echo 'The containers run as account 1000, which cannot read these files. Run this script as root:' >&2
  echo '  sudo sh docker/make-secrets.sh' >&2
  exit 1
fi
