/** What is known of a namespace: there, on its way out, or not there. */
export type NamespaceState = 'active' | 'terminating' | 'missing'

/**
 * Other logs with which this one shares its namespaces. One log owns them as objects; the others ask it, and hold objects
 * in them. A reader asks nothing. Without peers there is one log with all of it.
 */
export type NamespacePeers =
  | {
      role: 'owner'
      /** Deletes the objects of a namespace from every other log. True if none are left. */
      deleteContent(namespace: string): Promise<boolean>
    }
  | {
      role: 'copy'
      /** The state that the owner tells: of one that is missing, after it has been made if that is what it does. */
      use(namespace: string): Promise<NamespaceState>
    }
  | { role: 'reader' }
