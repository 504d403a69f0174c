/**
 * Others with whom this process shares the care of definitions. One log owns them: it alone takes their writes and gives
 * them their status. Other logs hold copies, each in its own order of revisions, and their objects. A reader only reads a
 * log for which another process cares. Without peers there is one log with all of it.
 */
export type DefinitionPeers =
  | {
      role: 'owner'
      /** Has every other log deleted the objects of a kind that is being deleted? Begins that where it has not begun. */
      areObjectsGone(resource: string): Promise<boolean>
    }
  | {
      role: 'copy'
      /** Writes to the log what the owner's definitions were at the time of the call, or later. */
      pull(): Promise<void>
    }
  | { role: 'reader' }
