import { playlistsPath } from './sample/playlists.ts'

/** What to paste into a second terminal, for the kind of the sample or for one to come. */
export function linesToTry(url: string, { sample }: { sample: boolean }): string {
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const kubectl = `kubectl --kubeconfig=/dev/null --server=${url}`
  const object = {
    apiVersion: 'music.example.dev/v1',
    kind: 'Playlist',
    metadata: { generateName: 'mine-' },
    spec: { title: 'Mine', genre: 'jazz' },
  }
  const lines = sample
    ? {
        watch: `curl -N -H 'Accept: text/event-stream' '${url}${playlistsPath}?watch=true'`,
        write: `curl -H 'Content-Type: application/json' -d '${JSON.stringify(object)}' ${url}${playlistsPath}`,
        kubectl: `${kubectl} get playlists --watch`,
        browser: `${url}/`,
      }
    : {
        watch: `curl -N -H 'Accept: text/event-stream' '${url}${definitions}?watch=true'`,
        write: `${kubectl} apply -f your-definition.yaml`,
        kubectl: `${kubectl} get customresourcedefinitions --watch`,
        browser: `${url}/`,
      }
  return Object.entries(lines)
    .map(([name, line]) => `  ${`${name}:`.padEnd(9)} ${line}`)
    .join('\n')
}
