namespace Treepie.Storage.Backups;

/// <summary>What a frame holds.</summary>
internal enum PartFrameKind
{
    /// <summary>Nothing: no frame was read yet.</summary>
    None = 0,

    /// <summary>A store begins: see <see cref="StoreRecord"/>.</summary>
    Store = 1,

    /// <summary>
    /// Which pages its state has: 8 bytes first page, a multiple of 8, then a bit for each page from there on, lowest first.
    /// </summary>
    Live = 2,

    /// <summary>Pages that are in use and whose content is of no matter: runs of 8 first page, 4 pages.</summary>
    Reserved = 3,

    /// <summary>Stretches of pages in rising order: 8 first page, 4 pages, 4 zero, then the pages.</summary>
    Pages = 4,

    /// <summary>The store ends: 8 pages that were in this part.</summary>
    StoreEnd = 5,

    /// <summary>A commit, or a piece of one: see <see cref="LogRecord"/>.</summary>
    Commit = 6,

    /// <summary>The store that began could not be read to its end: nothing of it counts. Never the first store.</summary>
    StoreLost = 7,

    /// <summary>What whoever wrote the part says of all of it once it is written: bytes of his own, behind the stores.</summary>
    Manifest = 8,

    /// <summary>The part ends.</summary>
    End = 9,
}
