namespace Treepie.Storage;

/// <summary>What an environment found below itself, and so how it does its work.</summary>
public sealed record StoragePlatform
{
    /// <summary>Bytes of a page of the system's memory.</summary>
    public required int SystemPageBytes { get; init; }

    /// <summary>Name of the file system, as the system gives it; empty where it gives none.</summary>
    public string FileSystem { get; init; } = "";

    /// <summary>
    /// Whether the file system is known to write changed blocks elsewhere. There a full disk can hit what has its blocks already,
    /// a journal frame too: writing stops then, until the environment is opened again.
    /// </summary>
    public bool IsCopyOnWrite => FileSystem is "btrfs" or "zfs" or "bcachefs" or "apfs" or "nilfs";

    /// <summary>
    /// Whether a second opener of the directory was seen to be refused; false only where
    /// <see cref="StorageOptions.AllowMissingLocks"/> let it be opened.
    /// </summary>
    public required bool IsLockProven { get; init; }

    /// <summary>
    /// Whether files get blocks ahead of what is written; where they do not, they grow by zeros. Null: no file has grown since
    /// opening.
    /// </summary>
    public bool? GivesBlocksAhead { get; init; }

    /// <summary>
    /// Whether the first read of a page goes through a call that returns an error of the disk as a number (Linux from 5.14
    /// on), where a look at the map would end the process with SIGBUS. False on an older kernel: there the page is read by a
    /// plain call before, which returns the same error, but the system may put it out of memory between the two. Null where
    /// the data file is not mapped.
    /// </summary>
    public bool? IsMapGuarded { get; init; }
}
