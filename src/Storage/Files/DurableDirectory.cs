using Treepie.Storage.Memory;

namespace Treepie.Storage.Files;

/// <summary>
/// Creates directories whose names survive a power failure: a name is durable only after its parent directory was synced.
/// </summary>
internal static class DurableDirectory
{
    private const int NotPermitted = 1;
    private const int NoAccess = 13;
    private const int NoSync = 22;

    /// <summary>
    /// Creates a directory and its missing parents, accessible only to their owner, and makes each name durable, as well as that
    /// of an empty directory that is there already; see <see cref="MakeNameDurable"/>.
    /// </summary>
    public static void Create(string path, SystemCalls? calls = null)
    {
        var holders = new Stack<string>();
        string? at = path;
        for (; at is not null && !Directory.Exists(at); at = System.IO.Path.GetDirectoryName(at))
        {
            if (System.IO.Path.GetDirectoryName(at) is { Length: > 0 } holder)
                holders.Push(holder);
        }

        if (at is not null && HoldsAtMost(at, entries: 0))
            MakeNameDurable(at, calls);
        try
        {
            OwnerOnly.CreateDirectory(path);
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            throw FileErrors.Translate(error, path, "The directory cannot be created");
        }

        while (holders.TryPop(out string? holder))
            Sync(holder, calls);
    }

    /// <summary>
    /// Makes the name of an existing directory durable, and those of parents that hold nothing else: they may have been created
    /// by a process that was killed before it did so. A parent that may not be read, or on whose file system directories cannot
    /// be synced, is left alone.
    /// </summary>
    public static void MakeNameDurable(string path, SystemCalls? calls = null)
    {
        if (OperatingSystem.IsWindows())
            return;

        while (System.IO.Path.GetDirectoryName(path) is { Length: > 0 } parent)
        {
            int error = (calls ?? SystemCalls.Default).SyncDirectory(parent);
            if (error is not (0 or NotPermitted or NoAccess or NoSync))
                throw FileErrors.FromNumber(error, parent, "The directory cannot be synced");
            if (!HoldsAtMost(parent, entries: 1))
                return;

            path = parent;
        }
    }

    /// <summary>Renames a directory within its parent; the new name is durable when the method returns.</summary>
    public static void Move(string from, string to, SystemCalls? calls = null)
    {
        Directory.Move(from, to);
        if (System.IO.Path.GetDirectoryName(to) is { Length: > 0 } parent)
            Sync(parent, calls);
    }

    /// <summary>Makes the creation, renaming and deletion of names in a directory durable.</summary>
    public static void Sync(string path, SystemCalls? calls = null)
    {
        if (OperatingSystem.IsWindows())
            return; // NTFS journals names itself

        int error = (calls ?? SystemCalls.Default).SyncDirectory(path);
        if (error != 0)
            throw FileErrors.FromNumber(error, path, "The directory cannot be synced");
    }

    /// <summary>Whether a directory holds no more entries than that. False if it may not be read.</summary>
    private static bool HoldsAtMost(string path, int entries)
    {
        try
        {
            return !Directory.EnumerateFileSystemEntries(path).Skip(entries).Any();
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            return false;
        }
    }
}
