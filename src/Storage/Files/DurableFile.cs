using System.Buffers;

namespace Treepie.Storage.Files;

/// <summary>
/// Writes a file atomically and durably: it is written under a temporary name, synced and renamed, and then the directory is
/// synced, because otherwise a new name can be lost in a power failure. A file that is disposed without calling
/// <see cref="CommitAsync"/> does not come into existence. Not thread-safe.
/// </summary>
/// <remarks>
/// A killed process leaves a file whose name ends with <see cref="Unfinished"/>. <see cref="RemoveAbandoned"/> and
/// <see cref="TryRemoveAbandoned"/> delete it, unless another writer has it open.
/// </remarks>
public sealed class DurableFile : IAsyncDisposable, IDisposable
{
    /// <summary>The suffix of the names of unfinished files.</summary>
    public const string Unfinished = ".unfinished";

    private static readonly SearchValues<char> _digits = SearchValues.Create("0123456789abcdef");

    private readonly IDurableFileCalls _calls;
    private readonly string _path;
    private readonly string _unfinished;
    private readonly bool _overwrite;
    private bool _isMoved;

    private DurableFile(string path, bool overwrite, IDurableFileCalls calls)
    {
        _calls = calls;
        _path = Path.GetFullPath(path);
        _overwrite = overwrite;
        _unfinished = $"{_path}.{Guid.NewGuid():N}{Unfinished}";
        Content = calls.Create(_unfinished);
    }

    /// <summary>The stream for the content; unbuffered.</summary>
    public Stream Content { get; }

    /// <summary>Starts writing a file.</summary>
    /// <param name="path">The final path of the file.</param>
    /// <param name="overwrite">Whether to replace an existing file.</param>
    /// <exception cref="IOException">The file cannot be created.</exception>
    /// <exception cref="UnauthorizedAccessException">The process lacks the permission to create it.</exception>
    public static DurableFile Create(string path, bool overwrite)
    {
        ArgumentException.ThrowIfNullOrEmpty(path);
        return Create(path, overwrite, new DurableFileCalls());
    }

    /// <inheritdoc cref="Create(string, bool)"/>
    internal static DurableFile Create(string path, bool overwrite, IDurableFileCalls calls) => new(path, overwrite, calls);

    /// <summary>Writes a whole file.</summary>
    /// <exception cref="IOException">The file cannot be written; an existing file is unchanged.</exception>
    /// <exception cref="UnauthorizedAccessException">The process lacks the permission to write it.</exception>
    /// <exception cref="StorageException">The directory cannot be synced: the file exists, but may be lost in a power
    /// failure.</exception>
    public static void Write(string path, ReadOnlySpan<byte> content)
    {
        using DurableFile file = Create(path, overwrite: true);
        file.Content.Write(content);
        file.Commit();
    }

    /// <summary>Writes a whole file with the specified function.</summary>
    /// <inheritdoc cref="Write"/>
    public static async Task<T> WriteAsync<T>(string path, Func<Stream, Task<T>> write)
    {
        ArgumentNullException.ThrowIfNull(write);
        DurableFile file = Create(path, overwrite: true);
        await using (file.ConfigureAwait(false))
        {
            T result = await write(file.Content).ConfigureAwait(false);
            await file.CommitAsync().ConfigureAwait(false);
            return result;
        }
    }

    /// <summary>
    /// Deletes the unfinished files that killed writers of a file have left beside it; those of active writers are kept.
    /// </summary>
    public static void RemoveAbandoned(string path)
    {
        ArgumentException.ThrowIfNullOrEmpty(path);
        string full = Path.GetFullPath(path), name = Path.GetFileName(full);
        if (Path.GetDirectoryName(full) is not { } directory || !Directory.Exists(directory))
            return;
        foreach (string left in Directory.EnumerateFiles(directory))
            if (IsUnfinished(Path.GetFileName(left), name))
                TryRemoveAbandoned(left);
    }

    /// <summary>Deletes an unfinished file unless it is open; returns whether it was deleted.</summary>
    public static bool TryRemoveAbandoned(string unfinishedPath)
    {
        ArgumentException.ThrowIfNullOrEmpty(unfinishedPath);
        try
        {
            using (new FileStream(
                unfinishedPath, FileMode.Open, FileAccess.ReadWrite, FileShare.None, 1, FileOptions.DeleteOnClose))
                return true;
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            return false; // in use, or owned by another user
        }
    }

    /// <summary>
    /// Gives the file its final name; when the method completes, the file and its name survive a power failure.
    /// </summary>
    /// <exception cref="IOException">The file cannot be written or renamed; an existing file is unchanged.</exception>
    /// <exception cref="StorageException">The directory cannot be synced: the file exists, but may be lost in a power
    /// failure.</exception>
    public async Task CommitAsync()
    {
        await Content.FlushAsync().ConfigureAwait(false);
        Publish();
    }

    /// <inheritdoc cref="CommitAsync"/>
    public void Commit()
    {
        Content.Flush();
        Publish();
    }

    /// <summary>Deletes the file unless it is committed; never throws because of that.</summary>
    public void Dispose()
    {
        try
        {
            Content.Dispose();
            if (!_isMoved)
                _calls.Delete(_unfinished);
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            // No one opens it by this name, and the next writer deletes it.
        }
    }

    /// <inheritdoc cref="Dispose"/>
    public ValueTask DisposeAsync()
    {
        Dispose();
        return ValueTask.CompletedTask;
    }

    private void Publish()
    {
        _calls.Sync(Content);
        Content.Dispose();
        _calls.Move(_unfinished, _path, _overwrite);
        _isMoved = true;
        _calls.SyncDirectory(Path.GetDirectoryName(_path)!); // a file has a directory
    }

    /// <summary>Whether a name is that of an unfinished file: the final name, the writer's mark and the suffix.</summary>
    private static bool IsUnfinished(string name, string final)
    {
        int marked = name.Length - final.Length - Unfinished.Length;
        return marked > 1 && name[final.Length] == '.'
            && name.StartsWith(final, StringComparison.Ordinal) && name.EndsWith(Unfinished, StringComparison.Ordinal)
            && name.AsSpan(final.Length + 1, marked - 1).IndexOfAnyExcept(_digits) < 0;
    }
}
