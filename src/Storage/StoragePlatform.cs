namespace Treepie.Storage;

/// <summary>The properties of the system and the file system that an environment detected.</summary>
public sealed record StoragePlatform
{
    /// <summary>The size of a memory page of the system in bytes.</summary>
    public required int SystemPageBytes { get; init; }

    /// <summary>The name of the file system; empty if the system does not provide it.</summary>
    public string FileSystem { get; init; } = "";

    /// <summary>
    /// Whether the file system is known to be copy-on-write. On such a file system, a full disk can affect even preallocated
    /// blocks, such as those of a journal frame: writing then stops until the environment is opened again.
    /// </summary>
    public bool IsCopyOnWrite => IsCopyOnWriteName(FileSystem);

    /// <summary>
    /// Whether a second opener of the directory was verified to be rejected; false only if
    /// <see cref="StorageOptions.AllowMissingLocks"/> was set.
    /// </summary>
    public required bool IsLockProven { get; init; }

    /// <summary>
    /// Whether file blocks are preallocated; otherwise files are extended with zeros. Null: no file has grown since opening.
    /// </summary>
    public bool? GivesBlocksAhead { get; init; }

    /// <summary>
    /// Whether the first read of a page uses a system call that returns disk errors as error codes (Linux 5.14 and later), where
    /// an access to the map would end the process with SIGBUS. False on an older kernel: there the page is first read with an
    /// ordinary call that returns the same errors, but the system may evict it from memory between the two. Null if the data file
    /// is not mapped.
    /// </summary>
    public bool? IsMapGuarded { get; init; }

    internal static bool IsCopyOnWriteName(string fileSystem) =>
        fileSystem is "btrfs" or "zfs" or "bcachefs" or "apfs" or "nilfs2";
}
