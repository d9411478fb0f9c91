using Treepie.Storage;

namespace Treepie.Backups;

/// <summary>
/// The temporary directory of a restore, next to its target: it is renamed to the target in one step when the restore is
/// complete and verified. If the process is killed, the directory remains; the next restore to the same target deletes its
/// contents.
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

    /// <summary>The temporary directory.</summary>
    public string Path { get; }

    /// <summary>
    /// Creates the temporary directory for a restore to <paramref name="target"/>, which must not exist or be empty.
    /// </summary>
    /// <exception cref="BackupException">The target exists.</exception>
    /// <exception cref="EnvironmentLockedException">Another restore to the target is running.</exception>
    public static RestorePlace Begin(string target)
    {
        Refuse(target);
        string parent = System.IO.Path.GetDirectoryName(target)
            ?? throw new BackupException(
                BackupFault.TargetExists,
                $"'{target}' is the root of a file system: a database cannot be restored there. Give a directory below it.");
        // A catalogue ignores names that begin with ~, and deletes leftovers.
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
            foreach (string left in Directory.GetDirectories(path)) // left by a restore that was killed
                Directory.Delete(left, recursive: true);
            return new RestorePlace(target, path, heldLock);
        }
        catch
        {
            heldLock.Dispose();
            throw;
        }
    }

    /// <summary>Renames the directory to the target; the database in it must be closed and durable.</summary>
    public void Publish()
    {
        Refuse(_target);
        _lock?.Dispose();
        _lock = null;
        if (Directory.Exists(_target))
            Directory.Delete(_target); // empty; otherwise this throws
        PrivateFiles.MoveDirectory(Path, _target);
        _published = true;
    }

    /// <summary>Deletes the directory unless it was published.</summary>
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
            // the next restore to this target tries again; until then no catalogue opens it as a database
        }
    }

    private static void Refuse(string target)
    {
        if (File.Exists(target) || (Directory.Exists(target) && Directory.EnumerateFileSystemEntries(target).Any()))
            throw new BackupException(
                BackupFault.TargetExists,
                $"'{target}' exists already, and a backup is restored to a new directory only. Give another one, or move that "
                    + "away. Nothing was changed.");
    }
}
