namespace Treepie.Storage.Simulation;

/// <summary>The kinds of disk calls. Each kind is counted separately and can be made to fail.</summary>
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

    /// <summary>Loading a part of a mapped file into memory.</summary>
    Load,
}
