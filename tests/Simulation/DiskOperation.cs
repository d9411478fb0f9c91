namespace Treepie.Storage.Simulation;

/// <summary>The kinds of calls a disk answers; each kind is counted for itself, and can be made to fail.</summary>
internal enum DiskOperation
{
    Open,
    Create,
    Read,
    Write,
    Sync,
    Allocate,
    Truncate,
    Delete,
    Rename,
    SyncDirectory,

    /// <summary>Bringing a part of a mapped file into memory.</summary>
    Load,
}
