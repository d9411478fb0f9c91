using System.Globalization;
using Treepie.Storage;
using Treepie.Storage.Files;

namespace Treepie.Destinations;

/// <summary>
/// A local or mounted folder. An object is a file that is written under a temporary name, flushed to disk, and renamed. A killed
/// process leaves an unfinished file, which is not listed, and which the next upload to that folder removes.
/// </summary>
public sealed class FolderDestination : BackupDestination
{
    private const string Unfinished = DurableFile.Unfinished;
    private const int BufferBytes = 128 * 1024;
    private const int MaxObjects = 100_000;

    /// <summary>The minimum free space, whatever size is expected.</summary>
    private const long LeastRoomBytes = 1 << 20;

    /// <summary>The error numbers of writes to what is mounted for reading: EROFS, and ERROR_WRITE_PROTECT on Windows.</summary>
    private const int ReadOnlyFileSystem = 30, WriteProtected = unchecked((int)0x80070013);

    private readonly string _root;
    private readonly string _shownAs;

    /// <summary>Creates a destination for a folder, which is created by the first upload.</summary>
    /// <param name="path">The path of the folder.</param>
    /// <param name="shownAs">The address shown in messages, to hide the path. Null: the path.</param>
    public FolderDestination(string path, string? shownAs = null)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(path);
        _root = Path.TrimEndingDirectorySeparator(Path.GetFullPath(path));
        _shownAs = shownAs ?? _root;
    }

    /// <inheritdoc/>
    public override string Address => _shownAs;

    /// <inheritdoc/>
    public override bool IsLocal => true;

    /// <inheritdoc/>
    public override async Task ProbeAsync(long expectedBytes, CancellationToken cancellationToken = default)
    {
        string path = Path.Combine(_root, $".probe-{Guid.NewGuid():N}{Unfinished}");
        try
        {
            PrivateFiles.CreateDirectory(_root);
            FileStream file = PrivateFiles.CreateFile(path, FileMode.CreateNew, options: FileOptions.DeleteOnClose);
            await using (file.ConfigureAwait(false))
                await file.WriteAsync(new byte[4096], cancellationToken).ConfigureAwait(false);
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException or StorageException)
        {
            throw Explain(error, "Nothing can be written to", _root);
        }

        long free = new DriveInfo(_root).AvailableFreeSpace;
        if (free < Math.Max(expectedBytes, LeastRoomBytes))
        {
            throw new DestinationException(
                DestinationFault.NoRoom,
                string.Create(
                    CultureInfo.InvariantCulture, $"There is no room in '{_shownAs}': {free / 1e6:N1} MB are free, and about "
                            + $"{Math.Max(expectedBytes, LeastRoomBytes) / 1e6:N1} MB are needed. Make room, or choose another "
                            + $"place."));
        }
    }

    /// <inheritdoc/>
    public override Task<BackupUpload> CreateAsync(string name, CancellationToken cancellationToken = default)
    {
        string path = PathOf(name);
        try
        {
            PrivateFiles.CreateDirectory(Path.GetDirectoryName(path)!); // a file path in a folder has a directory
            if (File.Exists(path))
                throw new DestinationException(
                    DestinationFault.NameTaken,
                    $"'{Shown(path)}' exists already, and a backup does not replace another. Move it away, or choose "
                        + $"another folder.");
            return Task.FromResult<BackupUpload>(new Upload(this, path));
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException or StorageException)
        {
            throw Explain(error, "A backup cannot be written as", path);
        }
    }

    /// <inheritdoc/>
    public override Task<IReadOnlyList<BackupObject>> ListAsync(string prefix, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(prefix);
        if (!Directory.Exists(_root))
            throw new DestinationException(
                DestinationFault.Missing, $"There is no folder '{_shownAs}'. Make it, or mount what belongs there.");

        try
        {
            IReadOnlyList<BackupObject> found = [.. new DirectoryInfo(_root).EnumerateFiles("*", SearchOption.AllDirectories)
                .Select(file => (File: file, Name: Path.GetRelativePath(_root, file.FullName).Replace('\\', '/')))
                .Where(
                    entry => entry.Name.StartsWith(prefix, StringComparison.Ordinal)
                        && !entry.Name.EndsWith(Unfinished, StringComparison.Ordinal)
                        && entry.File.Exists) // it may have been deleted meanwhile; this also caches its length and time
                .Take(MaxObjects)
                .Select(static entry => new BackupObject(entry.Name, entry.File.Length, entry.File.LastWriteTimeUtc))
                .OrderBy(static entry => entry.Name, StringComparer.Ordinal)];
            return Task.FromResult(found);
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            throw Explain(error, "There is no listing of", _root);
        }
    }

    /// <inheritdoc/>
    public override Task<Stream> OpenAsync(string name, CancellationToken cancellationToken = default)
    {
        string path = PathOf(name);
        try
        {
            return Task.FromResult<Stream>(
                new FileStream(
                    path, FileMode.Open, FileAccess.Read, FileShare.Read | FileShare.Delete, BufferBytes,
                    FileOptions.SequentialScan | FileOptions.Asynchronous));
        }
        catch (Exception error) when (error is FileNotFoundException or DirectoryNotFoundException)
        {
            throw new DestinationException(DestinationFault.NotFound, $"There is no backup '{Shown(path)}'.", error);
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            throw Explain(error, "There is no reading", path);
        }
    }

    /// <inheritdoc/>
    public override Task DeleteAsync(string name, CancellationToken cancellationToken = default)
    {
        string path = PathOf(name), folder = Path.GetDirectoryName(path)!; // a file path has a directory
        try
        {
            if (!Directory.Exists(folder))
                return Task.CompletedTask;
            File.Delete(path);
            if (folder != _root && !Directory.EnumerateFileSystemEntries(folder).Any())
                Directory.Delete(folder);
            return Task.CompletedTask;
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            throw Explain(error, "There is no deleting", path);
        }
    }

    /// <inheritdoc/>
    public override Task CleanAsync(string prefix, CancellationToken cancellationToken = default)
    {
        if (!Directory.Exists(_root))
            return Task.CompletedTask;

        foreach (string path in Directory.EnumerateFiles(_root, "*" + Unfinished, SearchOption.AllDirectories))
        {
            if (Path.GetRelativePath(_root, path).Replace('\\', '/').StartsWith(prefix, StringComparison.Ordinal))
                DurableFile.TryRemoveAbandoned(path);
        }

        return Task.CompletedTask;
    }

    private DestinationException Explain(Exception error, string what, string path) =>
        Explain(error, Shown(error.Message), what, Shown(path));

    private static DestinationException Explain(Exception error, string said, string what, string path)
    {
        DestinationFault fault = FaultOf(error);
        string help = fault switch
        {
            DestinationFault.NoRoom => $"there is no room ({said}). Make room, or choose another folder.",
            DestinationFault.Forbidden when IsReadOnly(error) => $"{said} Mount it for writing, or choose another folder.",
            DestinationFault.Forbidden => $"{said} Give this process the right to, or choose another folder.",
            _ => said,
        };
        return new DestinationException(fault, $"{what} '{path}': {help}", error);
    }

    /// <summary>Returns the kind of an error of the system, also of one that the storage has explained.</summary>
    internal static DestinationFault FaultOf(Exception error) => error switch
    {
        UnauthorizedAccessException => DestinationFault.Forbidden,
        DiskFullException => DestinationFault.NoRoom,
        IOException io when DiskFullException.IsCausedBy(io) => DestinationFault.NoRoom,
        _ when IsReadOnly(error) => DestinationFault.Forbidden,
        StorageException { InnerException: { } inner } => FaultOf(inner),
        _ => DestinationFault.Failed,
    };

    private static bool IsReadOnly(Exception error) =>
        (error as IOException ?? error.InnerException as IOException)?.HResult is ReadOnlyFileSystem or WriteProtected;

    private string Shown(string text) => text.Replace(_root, _shownAs, StringComparison.Ordinal);

    private string PathOf(string name)
    {
        CheckName(name);
        return Path.Combine(_root, name.Replace('/', Path.DirectorySeparatorChar));
    }

    /// <summary>An unfinished file.</summary>
    private sealed class Upload : BackupUpload
    {
        private readonly FolderDestination _place;
        private readonly string _path;
        private readonly DurableFile _file;

        public Upload(FolderDestination place, string path)
        {
            _place = place;
            _path = path;
            _file = DurableFile.Create(path, overwrite: false);
        }

        public override async ValueTask WriteAsync(ReadOnlyMemory<byte> bytes, CancellationToken cancellationToken = default)
        {
            try
            {
                await _file.Content.WriteAsync(bytes, cancellationToken).ConfigureAwait(false);
            }
            catch (IOException error)
            {
                throw _place.Explain(error, "A backup cannot be written as", _path);
            }
        }

        public override async Task CommitAsync(CancellationToken cancellationToken = default)
        {
            try
            {
                cancellationToken.ThrowIfCancellationRequested();
                await _file.CommitAsync().ConfigureAwait(false);
            }
            catch (Exception error) when (error is IOException or UnauthorizedAccessException or StorageException)
            {
                throw _place.Explain(error, "A backup cannot be written as", _path);
            }
        }

        protected override ValueTask DisposeCoreAsync() => _file.DisposeAsync();
    }
}
