using Treepie.Storage;

namespace Treepie.Backups;

/// <summary>
/// Where a database is restored before anybody can see it: a folder beside its own, which takes its name in one step when all is
/// there and compared. A restore that was killed leaves that folder; the next one to the same place deletes it and begins anew.
/// </summary>
internal sealed class RestorePlace : IDisposable
{
    private const string LockFile = "restore.lock";

    private readonly string _target;
    private FileStream? _lock;
    private bool _published;

    private RestorePlace(string target, string path, FileStream heldLock)
    {
        _target = target;
        Path = path;
        _lock = heldLock;
    }

    /// <summary>The folder for now.</summary>
    public string Path { get; }

    /// <summary>Makes the folder for a database that is to be in <paramref name="target"/>, which is absent or empty.</summary>
    /// <exception cref="BackupException">Something is there.</exception>
    /// <exception cref="EnvironmentLockedException">Another restore to it is at work.</exception>
    public static RestorePlace Begin(string target)
    {
        Refuse(target);
        string parent = System.IO.Path.GetDirectoryName(target)
            ?? throw new BackupException(
                BackupFault.TargetExists,
                $"'{target}' is the root of a file system: a database cannot be restored there. Give a directory below it.");
        // The ~ keeps a catalogue from taking it for a database: it deletes what begins so.
        string path = System.IO.Path.Combine(parent, $"~restoring-{System.IO.Path.GetFileName(target)}");
        PrivateFiles.CreateDirectory(path);
        FileStream heldLock;
        try
        {
            heldLock = PrivateFiles.CreateFile(
                System.IO.Path.Combine(path, LockFile), FileMode.OpenOrCreate, FileAccess.ReadWrite,
                options: FileOptions.DeleteOnClose);
        }
        catch (IOException error)
        {
            throw new EnvironmentLockedException(
                $"'{target}' is being restored by somebody else, who holds '{path}'. Wait for that, or give another directory.",
                error);
        }

        try
        {
            foreach (string left in Directory.GetDirectories(path)) // of a restore that was killed
                Directory.Delete(left, recursive: true);
            return new RestorePlace(target, path, heldLock);
        }
        catch
        {
            heldLock.Dispose();
            throw;
        }
    }

    /// <summary>Gives the folder its name; the database in it is closed and durable.</summary>
    public void Publish()
    {
        Refuse(_target);
        _lock?.Dispose();
        _lock = null;
        if (Directory.Exists(_target))
            Directory.Delete(_target); // empty, or this fails
        Directory.Move(Path, _target);
        _published = true;
        PrivateFiles.SyncDirectory(System.IO.Path.GetDirectoryName(_target)!); // Begin has seen to it that there is one
    }

    /// <summary>Deletes the folder unless it has its name.</summary>
    public void Dispose()
    {
        _lock?.Dispose();
        _lock = null;
        if (_published)
            return;

        try
        {
            Directory.Delete(Path, recursive: true);
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            // The next restore to this place tries again, and nobody takes it for a database until then.
        }
    }

    private static void Refuse(string target)
    {
        if (File.Exists(target) || (Directory.Exists(target) && Directory.EnumerateFileSystemEntries(target).Any()))
            throw new BackupException(
                BackupFault.TargetExists,
                $"'{target}' is there already, and a backup is restored to a new place only. Give another one, or move that "
                    + $"away. Nothing was changed.");
    }
}
