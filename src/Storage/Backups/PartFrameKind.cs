namespace Treepie.Storage.Backups;

/// <summary>The content of a frame.</summary>
internal enum PartFrameKind
{
    /// <summary>No frame has been read yet.</summary>
    None = 0,

    /// <summary>Start of a store: see <see cref="StoreRecord"/>.</summary>
    Store = 1,

    /// <summary>
    /// The pages of the state: 8 bytes first page, a multiple of 8, then one bit per page from there on, lowest first.
    /// </summary>
    Live = 2,

    /// <summary>Pages in use whose content does not matter: runs of 8 bytes first page, 4 bytes number of pages.</summary>
    Reserved = 3,

    /// <summary>
    /// Stretches of pages in ascending order: 8 bytes first page, 4 bytes number of pages, 4 bytes zero, then the pages.
    /// </summary>
    Pages = 4,

    /// <summary>End of a store: 8 bytes number of its pages in this part.</summary>
    StoreEnd = 5,

    /// <summary>A commit, or a piece of one: see <see cref="LogRecord"/>.</summary>
    Commit = 6,

    /// <summary>The current store could not be read to its end and is to be ignored. Never the first store.</summary>
    StoreLost = 7,

    /// <summary>
    /// The manifest: a description of everything before it, in a format set by the writer. Follows the stores.
    /// </summary>
    Manifest = 8,

    /// <summary>End of the part.</summary>
    End = 9,
}
