/** The sample kind and its first objects, as `--sample` makes them. */
export const playlistDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'playlists.music.example.dev' },
  spec: {
    group: 'music.example.dev',
    scope: 'Namespaced',
    names: {
      plural: 'playlists',
      singular: 'playlist',
      kind: 'Playlist',
      listKind: 'PlaylistList',
      shortNames: ['pl'],
    },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        selectableFields: [{ jsonPath: '.spec.genre' }],
        additionalPrinterColumns: [
          { name: 'Title', type: 'string', jsonPath: '.spec.title' },
          { name: 'Genre', type: 'string', jsonPath: '.spec.genre' },
          { name: 'Plays', type: 'integer', jsonPath: '.status.plays' },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
        schema: {
          openAPIV3Schema: {
            description: 'A playlist: some tracks in an order.',
            type: 'object',
            required: ['spec'],
            properties: {
              spec: {
                type: 'object',
                required: ['title'],
                properties: {
                  title: { description: 'What people call it.', type: 'string', minLength: 1, maxLength: 200 },
                  genre: { description: 'A field selector can ask for it.', type: 'string' },
                  public: { description: 'Whether others may see it.', type: 'boolean', default: false },
                  tracks: {
                    description: 'In the order in which they are played.',
                    type: 'array',
                    maxItems: 1000,
                    items: {
                      type: 'object',
                      required: ['title'],
                      properties: {
                        title: { type: 'string' },
                        artist: { type: 'string' },
                        seconds: { type: 'integer', minimum: 0 },
                      },
                    },
                  },
                },
              },
              status: {
                type: 'object',
                properties: {
                  plays: { description: 'How often it has been played.', type: 'integer', minimum: 0 },
                  lastPlayed: { type: 'string', format: 'date-time' },
                },
              },
            },
          },
        },
      },
    ],
  },
}

export const playlistsPath = '/apis/music.example.dev/v1/namespaces/default/playlists'

export const playlists = [
  playlist('morning', {
    title: 'Slow morning',
    genre: 'ambient',
    tracks: [
      { title: 'Tea', artist: 'The Kettles', seconds: 312 },
      { title: 'First light', artist: 'North Window', seconds: 428 },
    ],
  }),
  playlist('road', {
    title: 'Long road',
    genre: 'rock',
    public: true,
    tracks: [{ title: 'Second gear', artist: 'Gravel', seconds: 221 }],
  }),
  playlist('late', {
    title: 'Late set',
    genre: 'jazz',
    tracks: [
      { title: 'Blue lamp', artist: 'Quartet of Three', seconds: 505 },
      { title: 'Last tram', artist: 'Quartet of Three', seconds: 397 },
    ],
  }),
]

function playlist(name: string, spec: object) {
  return { apiVersion: 'music.example.dev/v1', kind: 'Playlist', metadata: { name, labels: { sample: 'true' } }, spec }
}
